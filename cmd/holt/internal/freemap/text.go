// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freemap

import (
	"fmt"
	"io"
)

// cellText is a cell as text, by the tenths of it that are used.
const cellText = ".123456789#"

// WriteText draws a line for each row, behind the offset of its first byte.
func (m *Map) WriteText(w io.Writer) error {
	digits := len(fmt.Sprint(m.Length))
	for first := 0; first < len(m.Free); first += columns {
		row := make([]byte, 0, columns)
		for cell := first; cell < min(first+columns, len(m.Free)); cell++ {
			row = append(row, cellText[m.tenths(cell)])
		}
		if _, err := fmt.Fprintf(w, "%*d %s\n", digits, int64(first)*m.CellSize, row); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "A character is %d bytes: # used, . free, 1 to 9 tenths used\n", m.CellSize)
	return err
}
