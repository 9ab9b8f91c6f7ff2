// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"strings"
)

// A history is one run of a database: the options it is opened with and what
// is done to it.
type history struct {
	opts  options
	steps []step
}

// A step is one transaction or one action on the database as a whole.
type step interface {
	fmt.Stringer
	play(p *player)
}

// An op is one call, or a short run of calls, inside a transaction.
type op interface {
	fmt.Stringer
	apply(p *player, tx transaction)
}

// String lists a history for reading; rapid prints it when a test fails.
func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "open %+v\n", h.opts)
	for _, s := range h.steps {
		fmt.Fprintln(&b, s)
	}
	return b.String()
}

// GoString makes %#v readable too.
func (h history) GoString() string { return "\n" + h.String() }

// listing prints a block of ops below a heading.
func listing(heading string, ops []op) string {
	var b strings.Builder
	b.WriteString(heading)
	for _, o := range ops {
		fmt.Fprintf(&b, "\n    %v", o)
	}
	return b.String()
}
