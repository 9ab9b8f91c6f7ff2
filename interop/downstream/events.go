// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// A report counts the top-level tests in a stream of go test events.
type report struct {
	packages int // with at least one test
	passed   int
	failed   int
	skipped  int
	failures []failure
}

// A failure is a top-level test, or a package that failed outside its tests: it did not compile, crashed or timed out.
type failure struct {
	name   string
	output string
}

// An event is one line of go test -json, which "go doc test2json" describes.
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string // of events about a build, instead of Package
}

// top returns what an output belongs to: the package and its top-level test, if any.
func (e event) top() topLevel {
	name, _, _ := strings.Cut(e.Test, "/")
	return topLevel{e.Package + e.ImportPath, name}
}

type topLevel struct{ pkg, test string }

func (t topLevel) String() string {
	if t.test == "" {
		return t.pkg
	}
	return t.pkg + " " + t.test
}

// readEvents reads the events of one go test command, copying them to log.
func readEvents(r io.Reader, log io.Writer) (*report, error) {
	c := collector{
		report:   &report{},
		output:   make(map[topLevel]*tail),
		failedIn: make(map[string]bool),
		tested:   make(map[string]bool),
	}
	lines := bufio.NewReader(io.TeeReader(r, log))
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}
		if err == io.EOF {
			c.report.packages = len(c.tested)
			return c.report, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// A collector turns events into a report. It keeps the end of each test's output until the test has passed.
type collector struct {
	report   *report
	output   map[topLevel]*tail
	failedIn map[string]bool // packages with a failed test
	tested   map[string]bool // packages with a test
}

func (c *collector) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		e = event{Action: "output", Output: string(line)} // the go command itself complains in plain text
	}
	c.event(e)
}

func (c *collector) event(e event) {
	top := e.top()
	switch {
	case e.Action == "output" || e.Action == "build-output":
		c.print(top, e.Output)
	case e.Action == "build-fail":
		c.fail(top)
	case e.Test == "" && e.Action == "fail":
		if !c.failedIn[e.Package] {
			c.failUnfinished(e.Package)
		}
	case e.Test == "" || e.Test != top.test: // a package that did not fail; a subtest, counted with its parent
	case e.Action == "pass":
		c.tested[e.Package] = true
		c.report.passed++
		delete(c.output, top)
	case e.Action == "skip":
		c.tested[e.Package] = true
		c.report.skipped++
		delete(c.output, top)
	case e.Action == "fail":
		c.tested[e.Package] = true
		c.failedIn[e.Package] = true
		c.report.failed++
		c.fail(top)
	}
}

func (c *collector) print(top topLevel, text string) {
	if c.output[top] == nil {
		c.output[top] = &tail{}
	}
	c.output[top].add(text)
}

func (c *collector) fail(top topLevel) {
	f := failure{name: top.String()}
	if out := c.output[top]; out != nil {
		f.output = out.String()
	}
	c.report.failures = append(c.report.failures, f)
	delete(c.output, top)
}

// failUnfinished reports a package that crashed, with the output of the tests that were running.
func (c *collector) failUnfinished(pkg string) {
	for top := range c.output {
		if top.pkg == pkg && top.test != "" {
			c.fail(top)
		}
	}
	c.fail(topLevel{pkg: pkg})
}

// maxOutput is how much of a failed test's output is shown: etcd's tests log megabytes. With -keep, the log has it all.
const maxOutput = 8 << 10

// A tail is the end of a text.
type tail struct {
	text []byte
	cut  bool
}

func (t *tail) add(s string) {
	t.text = append(t.text, s...)
	if len(t.text) > 2*maxOutput { // not at every addition, or the cost would be quadratic
		t.trim()
	}
}

func (t *tail) trim() {
	if excess := len(t.text) - maxOutput; excess > 0 {
		t.text = append(t.text[:0], t.text[excess:]...)
		t.cut = true
	}
}

// String returns whole lines.
func (t *tail) String() string {
	t.trim()
	text := string(t.text)
	if !t.cut {
		return text
	}
	_, whole, _ := strings.Cut(text, "\n")
	return "(…)\n" + whole
}
