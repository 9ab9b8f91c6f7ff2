// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package annot_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/holtdb/holt/cmd/holt/internal/annot"
)

func TestPrinter(t *testing.T) {
	file := strings.NewReader("head" + strings.Repeat("\x00", 40) + strings.Repeat("a", 40))
	pieces := []annot.Piece{{0, 4, "magic", "1"}, {4, 40, "rest", ""}, {44, 40, "rest", ""}, {44, 4, "data", "<4>"}}
	for _, c := range []struct {
		p    annot.Printer
		want string
	}{
		{annot.Printer{}, `# one
00-04: x 68656164                          # magic 1
04-44: x 00… (40 bytes)                    # rest
44-84: x 6161616161616161… (40 bytes)      # rest
44-48: x 61616161                          # data <4>
`},
		{annot.Printer{Full: true}, `# one
00-04: x 68656164                          # magic 1
04-36: x 0000000000000000000000000000000000000000000000000000000000000000  # rest
36-44: x 0000000000000000                  # rest
44-76: x 6161616161616161616161616161616161616161616161616161616161616161  # rest
76-84: x 6161616161616161                  # rest
44-48: x 61616161                          # data <4>
`},
		{annot.Printer{JSON: true}, `{"section":"one","from":0,"to":4,"hex":"68656164","name":"magic","value":"1"}
{"section":"one","from":4,"to":44,"hex":"` + strings.Repeat("00", 32) + `","name":"rest"}
{"section":"one","from":44,"to":84,"hex":"` + strings.Repeat("61", 32) + `","name":"rest"}
{"section":"one","from":44,"to":48,"hex":"61616161","name":"data","value":"<4>"}
`},
	} {
		var out bytes.Buffer
		p := c.p
		p.File, p.Size, p.Out = file, file.Size(), &out
		p.Section("empty")
		p.Section("one")
		for _, piece := range pieces {
			if err := p.Print(piece); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != c.want {
			t.Errorf("printed\n%swant\n%s", out.String(), c.want)
		}
	}
}

func TestPrinterPastTheEnd(t *testing.T) {
	p := annot.Printer{File: strings.NewReader("short"), Size: 5, Out: io.Discard}
	if err := p.Print(annot.Piece{Off: 3, Len: 4, Name: "x"}); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}
