// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package annot prints the bytes of a file in pieces that say what they are: where each begins and ends, its bytes in
// hexadecimal, its name and its value.
package annot

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Bytes in a line.
const (
	wide   = 32      // of text
	chunk  = 4 << 10 // of JSON
	column = 16      // whose hexadecimal form is padded to, so that comments stand below each other
)

// Piece is a part of a file.
type Piece struct {
	Off, Len int64
	Name     string
	Value    string // empty if the bytes say it all
}

// Printer prints pieces.
type Printer struct {
	File io.ReaderAt
	Size int64 // of the file
	Out  io.Writer
	JSON bool
	Full bool // print all bytes of long pieces, not only the first ones

	section string
	titled  bool // the section's title has been printed
}

// Section begins a section: its title is printed when there is a piece in it.
func (p *Printer) Section(title string) { p.section, p.titled = title, false }

// Print prints a piece, in several lines if all of its bytes are to be shown.
func (p *Printer) Print(piece Piece) error {
	most := int64(wide)
	if p.JSON {
		most = chunk
	}
	if !p.Full || piece.Len <= most {
		return p.line(piece)
	}
	for off := int64(0); off < piece.Len; off += most {
		part := Piece{Off: piece.Off + off, Len: min(most, piece.Len-off), Name: piece.Name}
		if off == 0 {
			part.Value = piece.Value
		}
		if err := p.line(part); err != nil {
			return err
		}
	}
	return nil
}

// line prints a piece, abridged if it is long.
func (p *Printer) line(piece Piece) error {
	shown := piece.Len
	if !p.Full {
		shown = min(shown, wide)
	}
	b := make([]byte, shown)
	if _, err := p.File.ReadAt(b, piece.Off); err != nil {
		return err
	}
	if p.JSON {
		return p.printJSON(piece, b)
	}
	if !p.titled {
		fmt.Fprintf(p.Out, "# %s\n", p.section)
		p.titled = true
	}
	digits := len(fmt.Sprint(p.Size))
	comment := strings.TrimSpace(piece.Name + " " + piece.Value)
	_, err := fmt.Fprintf(p.Out, "%0*d-%0*d: x %-*s  # %s\n", digits, piece.Off, digits, piece.Off+piece.Len,
		2*column, hexText(b, piece.Len), comment)
	return err
}

// hexText is the first bytes of n, abridged.
func hexText(b []byte, n int64) string {
	switch {
	case n == int64(len(b)):
		return hex.EncodeToString(b)
	case len(bytes.Trim(b, "\x00")) == 0:
		return fmt.Sprintf("00… (%d bytes)", n)
	}
	return fmt.Sprintf("%x… (%d bytes)", b[:column/2], n)
}

func (p *Printer) printJSON(piece Piece, b []byte) error {
	enc := json.NewEncoder(p.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Section string `json:"section"`
		From    int64  `json:"from"`
		To      int64  `json:"to"`
		Hex     string `json:"hex"` // of the first bytes, if there are more
		Name    string `json:"name"`
		Value   string `json:"value,omitempty"`
	}{p.section, piece.Off, piece.Off + piece.Len, hex.EncodeToString(b), piece.Name, piece.Value})
}
