// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/bench/internal/report"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.md")
	for _, step := range []struct{ title, text, want string }{
		{"A", "one", "# A\n\none\n"},
		{"B", "two\n## part\n", "# A\n\none\n\n# B\n\ntwo\n## part\n"},
		{"A", "three", "# A\n\nthree\n\n# B\n\ntwo\n## part\n"},
		{"B", "four", "# A\n\nthree\n\n# B\n\nfour\n"},
	} {
		if err := report.Write(path, step.title, step.text); err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != step.want {
			t.Errorf("after %q in %s:\n%s\nwant:\n%s%v", step.text, step.title, have, step.want, err)
		}
	}
}

func TestMedian(t *testing.T) {
	if m := (report.Series{4, 1, 3, 2}).Median(); m != 2.5 {
		t.Errorf("%v", m)
	}
	if m := (report.Series{3, 1, 2}).Median(); m != 2 {
		t.Errorf("%v", m)
	}
}
