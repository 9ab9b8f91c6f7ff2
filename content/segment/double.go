// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"math"
	"strconv"
	"strings"
)

// FormatDouble is the text of a DOUBLE, as Java has it: 1.0E10, 0.1, NaN, -Infinity.
func FormatDouble(f float64) string {
	a := math.Abs(f)
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case a == 0 || a >= 1e-3 && a < 1e7:
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	s := strconv.FormatFloat(f, 'E', -1, 64)
	if !strings.Contains(s, ".") {
		s = strconv.FormatFloat(f, 'E', 1, 64) // there are two digits at least, so they should be the right ones
	}
	digits, exponent, _ := strings.Cut(s, "E")
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return digits + "E" + sign + strings.TrimLeft(exponent[1:], "0")
}
