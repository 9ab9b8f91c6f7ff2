// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// recovered is the file that a side makes of another, nil if it refuses it.
func recovered(t *testing.T, p *process, file []byte) []byte {
	t.Helper()
	path := filepath.Join(scratch(t), "stack")
	writeFile(t, path, file)
	if p.try(t, "open "+path) != "ok" {
		return nil
	}
	p.do(t, "close")
	return readFile(t, path)
}

// TestPhases opens the files that changes of every kind leave in every phase.
func TestPhases(t *testing.T) {
	eachSeed(t, *histories/2, func(t *testing.T, seed uint64) {
		g := newGenerator(seed)
		var all []image
		for _, j := range g.journals() {
			all = append(all, j.images()...)
		}
		p := g.data(100)
		all = append(all, exchangeImages(p, 10, 60, 30)...)
		all = append(all, exchangeImages(p, 60, 10, 30)...)
		sides := []*process{holt.start(t), crate.start(t)}
		for _, image := range all {
			for _, p := range sides {
				if !bytes.Equal(recovered(t, p, image.file), restingFile(image.payload)) {
					t.Errorf("%s, %s: not recovered to what it should be", p.name, image.name)
				}
			}
		}
	})
}

// TestMangled opens files whose journals are damaged in many ways. Both sides must agree on whether a journal counts,
// and on what it says.
func TestMangled(t *testing.T) {
	eachSeed(t, *histories, func(t *testing.T, seed uint64) {
		g := newGenerator(seed)
		sides := []*process{holt.start(t), crate.start(t)}
		for range 5 {
			for _, j := range g.journals() {
				r, body := g.mangle(j)
				verifyAgreed(t, sides[0], sides[1], r, body)
			}
		}
	})
}

// verifyAgreed demands the same payload from both sides. Where not even the payload is whole, which no crash leaves,
// each may go its own way: we keep what is there, bstack adds zeros or refuses the file.
func verifyAgreed(t *testing.T, ours, theirs *process, r record, body []byte) {
	t.Helper()
	got := recovered(t, ours, fileOf(r, body))
	want := restingFile(body)
	if r.length <= uint64(len(body)) {
		want = recovered(t, theirs, fileOf(r, body))
		clear(want[headerSize-8 : headerSize]) // bstack leaves a mode that it does not know, if there is no target
	}
	if !bytes.Equal(got, want) {
		t.Errorf("record %+v, %d bytes behind the header: %s, want %s", r, len(body), outline(got), outline(want))
	}
}

// mangle damages the record of an armed journal, or what is staged.
func (g generator) mangle(j journal) (record, []byte) {
	r, body := j.armed, j.inPlace(0)
	near := []uint64{1, 1<<64 - 1, 8, 1<<64 - 8, 100, 1<<64 - 100, 1 << 63}
	for range 1 + g.IntN(2) {
		switch g.IntN(6) {
		case 0:
			r.length += near[g.IntN(len(near))]
		case 1:
			r.target += near[g.IntN(len(near))]
		case 2:
			r.mode = -uint64(g.IntN(10))
		case 3:
			body = body[:len(body)-g.IntN(min(40, len(body)))]
		case 4:
			body = append(body, g.data(g.Int64N(40))...)
		default: // a number in what is staged
			if staged := body[min(len(j.before), len(body)):]; len(staged) > 0 {
				staged[g.IntN(len(staged))] ^= 1 << g.IntN(8)
			}
		}
	}
	return r, body
}

func outline(file []byte) string {
	if file == nil {
		return "refused"
	}
	return fmt.Sprintf("%d bytes, header %x", len(file), file[:min(len(file), headerSize)])
}
