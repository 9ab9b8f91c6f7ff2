// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Command holt looks into, checks, repairs and fills the files of Holt's storage engines.
//
// `holt demo` shows what it can do; `holt kv` works on key/value databases, those of bbolt included, `holt stack` on stacks
// and the allocators in them, those of bstack included, and `holt content` looks into content stores, those of Apache
// Jackrabbit Oak included. Results go to standard output, messages and progress to standard error. The exit status is 0
// when the work is done, 1 when it failed or damage was found, and 2 when the command was not used as it must be.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program. Output is buffered; an error in writing it counts as a failure of the command. The first
// interrupt, or request to end, cancels the context, so that half-made files can be removed; the second kills the process
// as usual.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	out := bufio.NewWriter(stdout)
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)

	began := trackBegin(root)
	cmd, err := execute(ctx, root)
	if ferr := out.Flush(); err == nil && ferr != nil {
		err = fmt.Errorf("writing the output: %w", ferr)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return report(stderr, cmd, err, !*began)
}

// execute runs the command. A panic is a defect of this program or of an engine, however damaged the file at hand; the
// user gets a sentence all the same, and the next command of a script its turn.
func execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	defer func() {
		if r := recover(); r != nil {
			cmd, err = root, fmt.Errorf("internal error, please report it: %v", r)
		}
	}()
	return root.ExecuteContextC(ctx)
}

// usageError is a mistake in the arguments that only the command itself could notice.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// report tells the user about err and chooses the exit status. What failed before the command began was a mistake in
// its arguments.
func report(stderr io.Writer, cmd *cobra.Command, err error, notBegun bool) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(stderr, "Error:", err)
	if usage := (usageError{}); !notBegun && !errors.As(err, &usage) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "%s\n", cmd.UsageString())
	return exitUsage
}

// trackBegin makes every command of the tree note that it began to run: its flags and arguments were in order.
func trackBegin(root *cobra.Command) *bool {
	began := new(bool)
	eachCommand(root, func(cmd *cobra.Command) {
		if runE := cmd.RunE; runE != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				*began = true
				return runE(cmd, args)
			}
		}
	})
	return began
}

// eachCommand calls fn with cmd and everything below it.
func eachCommand(cmd *cobra.Command, fn func(*cobra.Command)) {
	fn(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, fn)
	}
}
