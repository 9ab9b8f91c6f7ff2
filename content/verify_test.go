// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"testing"

	"github.com/holtdb/holt/content/segment"
)

func TestParses(t *testing.T) {
	for typ, texts := range map[segment.Type]map[string]bool{
		segment.TypeLong: {
			"0": true, "-9223372036854775808": true, "9223372036854775807": true,
			"9223372036854775808": false, "": false, "1.0": false, " 1": false,
		},
		segment.TypeDouble: {
			"0.0": true, "-0.0": true, "1.0E10": true, "4.9E-324": true, "NaN": true, "Infinity": true, "-Infinity": true,
			"1e400": true, "": false, "inf": false, "1.0E": false, "--1": false,
		},
		segment.TypeDecimal: {"123.4500": true, "1.50E+3": true, "-1": true, "NaN": false, "": false, ".": false},
		segment.TypeBoolean: {"true": true, "false": true, "TRUE": true, "yes": false, "": false},
	} {
		if !isParsed(typ) {
			t.Errorf("%s is not parsed", typ)
		}
		for text, want := range texts {
			if parses(typ, []byte(text)) != want {
				t.Errorf("%s %q: %v", typ, text, !want)
			}
		}
	}
	if isParsed(segment.TypeString) {
		t.Error("any text is a string")
	}
}
