// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holtdb/holt/content/segment"
)

// outside keeps binaries in memory.
type outside struct {
	kept [][]byte
	long bool // ids are
	fail error
}

func (o *outside) Write(r io.Reader) (string, error) {
	b, err := io.ReadAll(r)
	if err = errors.Join(err, o.fail); err != nil {
		return "", err
	}
	o.kept = append(o.kept, b)
	id := fmt.Sprintf("number %d", len(o.kept)-1)
	if o.long {
		id += strings.Repeat(" ", 5000)
	}
	return id, nil
}

// TestOutside is about which binaries go outside.
func TestOutside(t *testing.T) {
	for _, c := range []struct{ threshold, least int }{
		{0, 16_512}, {-1, 0}, {1, 1}, {100, 100}, {16_511, 16_511}, {16_512, 16_512}, {20_000, 16_512},
	} {
		for _, n := range []int{0, c.least - 1, c.least, c.least + 1, segment.MaxSize, segment.MaxSize + 1} {
			if n < 0 {
				continue
			}
			o := &outside{long: n%2 == 1}
			p := newPen(t, newStore(), segment.Options{Outside: o, Threshold: c.threshold})
			data := randomBytes(n)
			id := p.id(p.Binary(iotest.HalfReader(bytes.NewReader(data))))
			if n < c.least {
				checkBytes(t, p.openValue(id, segment.RecordValue), data)
				if len(o.kept) != 0 {
					t.Errorf("threshold %d, %d bytes: outside", c.threshold, n)
				}
				continue
			}
			v := p.openValue(id, segment.RecordBlobID)
			text, err := v.BlobID()
			must(t, err)
			got, err := text.Text(1 << 20)
			if err != nil || !strings.HasPrefix(got, "number 0") || len(o.kept) != 1 || !bytes.Equal(o.kept[0], data) {
				t.Errorf("threshold %d, %d bytes: id %.20q, %v, %d outside", c.threshold, n, got, err, len(o.kept))
			}
		}
	}
}

// TestBrokenOff demands that a reader's error is never taken for its end.
func TestBrokenOff(t *testing.T) {
	for _, broken := range []error{errors.New("broken"), io.ErrUnexpectedEOF, fmt.Errorf("wrapped: %w", io.EOF)} {
		for _, n := range []int{0, 1, 16_511, 16_512, 50_000, segment.MaxSize, segment.MaxSize + 1} {
			for _, o := range []*outside{nil, {}} {
				var opts segment.Options
				if o != nil {
					opts.Outside = o
				}
				p := newPen(t, newStore(), opts)
				_, err := p.Binary(io.MultiReader(bytes.NewReader(randomBytes(n)), iotest.ErrReader(broken)))
				if !errors.Is(err, broken) {
					t.Errorf("%d bytes, and then %v: %v", n, broken, err)
				}
			}
		}
	}
	o := &outside{fail: errors.New("full")}
	p := newPen(t, newStore(), segment.Options{Outside: o})
	if _, err := p.Binary(bytes.NewReader(randomBytes(20_000))); !errors.Is(err, o.fail) {
		t.Errorf("error %v, want %v", err, o.fail)
	}
}
