// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holtdb/holt/interop/internal/dropin"
)

func printTable(w io.Writer, engine dropin.Engine, results []result) {
	fmt.Fprintf(w, "engine: %s\n", engine)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SUITE\tMODULE\tPACKAGES\tPASSED\tFAILED\tSKIPPED\tTIME\tRESULT")
	for _, r := range results {
		verdict := "ok"
		if !r.ok() {
			verdict = "FAIL"
		}
		var sum report
		if r.report != nil {
			sum = *r.report
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", r.suite.name, r.suite.module, sum.packages, sum.passed, sum.failed, sum.skipped,
			r.elapsed.Round(time.Second/10), verdict)
	}
	_ = tw.Flush()
}

func printFailures(w io.Writer, results []result) {
	for _, r := range results {
		if r.err != nil {
			fmt.Fprintf(w, "%s: %v\n\n", r.suite.name, r.err)
			continue
		}
		for _, f := range r.report.failures {
			fmt.Fprintf(w, "%s: %s failed\n%s\n", r.suite.name, f.name, indent(f.output))
		}
	}
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + line)
	}
	return b.String()
}
