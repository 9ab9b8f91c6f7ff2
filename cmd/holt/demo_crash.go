// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/chain"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// crashCommand is the command of this program that the demo runs to kill it.
const crashCommand = "demo-crash"

// When the program is killed: after a while, if it has done something by then.
const (
	crashAfter = 400 * time.Millisecond
	crashLeast = 10 // operations
)

func newDemoCrash() *cobra.Command {
	return &cobra.Command{
		Use:     crashCommand + " FILE",
		Short:   "Change a file until somebody kills the program",
		Long:    "Allocates, fills, links and frees regions until it is killed, and prints the number of each operation that is durable.",
		Example: "  holt demo-crash my.stack",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeStack(args[0], withAllocator(func(a alloc.Allocator) error {
				links, err := chain.Open(a)
				for err == nil && cmd.Context().Err() == nil {
					if err = links.Add(); err == nil {
						fmt.Fprintln(cmd.OutOrStdout(), links.Last())
						err = flush(cmd)
					}
				}
				return errors.Join(err, cmd.Context().Err())
			}))
		},
	}
}

// crash has another process change the file, and kills it.
func (f *stackDemo) crash(ctx context.Context) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	writer := exec.CommandContext(ctx, exe, crashCommand, f.path)
	writer.Stderr = f.cmd.ErrOrStderr()
	f.acknowledged, err = runAndKill(writer)
	if err := errors.Join(err, ctx.Err()); err != nil {
		return "", err
	}
	left, err := stack.Inspect(f.path, nil)
	if err != nil {
		return "", err
	}
	result := fmt.Sprintf("a process was killed after %d operations", f.acknowledged)
	if what := leftover(left); what != "" {
		f.printf("           left behind: %s", what)
	}
	return result, nil
}

// runAndKill starts a program that prints numbers, kills it, and returns the last number that it printed.
func runAndKill(cmd *exec.Cmd) (last uint64, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	begun, killed := time.Now(), false
	lines := bufio.NewScanner(out)
	for lines.Scan() { // also what it printed before it was dead
		if last, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
			break
		}
		if !killed && last >= crashLeast && time.Since(begun) >= crashAfter {
			killed = true
			err = cmd.Process.Kill()
		}
	}
	err = errors.Join(err, lines.Err())
	ended := cmd.Wait()
	if err == nil && !killed {
		err = fmt.Errorf("the process ended by itself: %w", ended)
	}
	return last, err
}
