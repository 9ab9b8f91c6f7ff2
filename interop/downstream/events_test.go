// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadEvents(t *testing.T) {
	for _, test := range []struct {
		name   string
		events string
		want   report
	}{
		{
			name: "subtests count with their parent",
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"skip","Package":"p","Test":"TestA/y"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"q","Test":"TestB"}
{"Action":"pass","Package":"q"}
{"Action":"skip","Package":"without tests"}
`,
			want: report{packages: 2, passed: 1, skipped: 1},
		},
		{
			name: "failed test",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"a\n"}
{"Action":"output","Package":"p","Test":"TestA/x","Output":"b\n"}
{"Action":"fail","Package":"p","Test":"TestA/x"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`,
			want: report{packages: 1, failed: 1, failures: []failure{{"p TestA", "a\nb\n"}}},
		},
		{
			name: "package that does not compile",
			events: `{"Action":"build-output","ImportPath":"p [p.test]","Output":"no such method\n"}
{"Action":"build-fail","ImportPath":"p [p.test]"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`,
			want: report{failures: []failure{{"p [p.test]", "no such method\n"}, {"p", "FAIL\tp [build failed]\n"}}},
		},
		{
			name: "crash during a test",
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"fatal error\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\n"}
{"Action":"fail","Package":"p"}
`,
			want: report{packages: 1, passed: 1, failures: []failure{{"p TestB", "fatal error\n"}, {"p", "FAIL\tp\n"}}},
		},
		{
			name: "crash between tests",
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"panic\n"}
{"Action":"fail","Package":"p"}
`,
			want: report{packages: 1, passed: 1, failures: []failure{{"p", "panic\n"}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log strings.Builder
			got, err := readEvents(strings.NewReader(test.events), &log)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got, cmp.AllowUnexported(report{}, failure{})); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			if log.String() != test.events {
				t.Errorf("the log is not the stream: %q", log.String())
			}
		})
	}
}

func TestReadEventsFailure(t *testing.T) {
	broken := iotest.ErrReader(io.ErrUnexpectedEOF)
	if _, err := readEvents(broken, io.Discard); err == nil {
		t.Error("a broken stream is taken for its end")
	}
}

func TestTail(t *testing.T) {
	var out tail
	for range 10_000 {
		out.add("line\n")
	}
	out.add("last\n")
	got := out.String()
	if len(got) > maxOutput+len("(…)\n") || !strings.HasPrefix(got, "(…)\nline\n") || !strings.HasSuffix(got, "line\nlast\n") {
		t.Errorf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
	}
}

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		report report
		want   bool
	}{
		{report{passed: 2, skipped: 1}, true},
		{report{skipped: 1}, false}, // nothing was tested
		{report{passed: 1, failures: []failure{{name: "p"}}}, false},
	} {
		if got := (result{report: &test.report}).ok(); got != test.want {
			t.Errorf("%+v: ok is %v", test.report, got)
		}
	}
	if (result{err: io.EOF}).ok() {
		t.Error("a suite that could not run is ok")
	}
}
