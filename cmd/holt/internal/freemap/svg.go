// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freemap

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Measures of the drawing, in pixels.
const (
	cellPixels = 10
	titleRoom  = 24
)

// WriteSVG draws the same as WriteText. What is used is dark.
func (m *Map) WriteSVG(w io.Writer, title string) error {
	var b strings.Builder
	rows := (len(m.Free) + columns - 1) / columns
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		columns*cellPixels, titleRoom+rows*cellPixels)
	fmt.Fprintf(&b, `<text x="0" y="16">%s</text>`+"\n", escape(title))
	for cell := 0; cell < len(m.Free); {
		n := m.run(cell)
		m.drawRun(&b, cell, n)
		cell += n
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// run is how many cells of one row look alike from that one on.
func (m *Map) run(cell int) int {
	n := 1
	for (cell+n)%columns != 0 && cell+n < len(m.Free) && m.tenths(cell+n) == m.tenths(cell) {
		n++
	}
	return n
}

func (m *Map) drawRun(b *strings.Builder, cell, n int) {
	from := int64(cell) * m.CellSize
	to := min(from+int64(n)*m.CellSize, m.Length)
	shade := 230 - 17*m.tenths(cell)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="rgb(%d,%d,240)"><title>%d+%d: %d %% used</title></rect>`+"\n",
		cell%columns*cellPixels, titleRoom+cell/columns*cellPixels, n*cellPixels, cellPixels-1, shade, shade,
		from, to-from, 10*m.tenths(cell))
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
