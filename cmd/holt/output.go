// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
)

// pageSeparator stands between two pages of output.
const pageSeparator = "==============================================="

// jsonFlag adds --json. Commands that list things print one object a line, others one object.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON, for programs")
}

// printJSON prints v in one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// exact is a key or a value in JSON: as text for people, and in hex for programs unless it was to be redacted. JSON
// itself has no place for arbitrary bytes.
type exact struct {
	Text string `json:"text"`
	Hex  string `json:"hex,omitempty"`
}

func exactly(b []byte, f text.Format) exact {
	e := exact{Text: f.Text(b)}
	if f == text.Bytes {
		e.Text = text.Auto.Text(b)
	}
	if f != text.Redacted {
		e.Hex = hex.EncodeToString(b)
	}
	return e
}

// flush hands on what has been printed so far, for commands whose output comes with pauses. The error comes up again at the
// end of run.
func flush(cmd *cobra.Command) error {
	if w, ok := cmd.OutOrStdout().(*bufio.Writer); ok {
		return w.Flush()
	}
	return nil
}
