// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

func newStackInfo() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Print what a file is, and how its space is used",
		Long: `Prints the format of the file, the length of its payload, whether a crash left something to recover, and,
if an allocator manages the payload, which one it is and how much is used and free.`,
		Example: "  holt stack info my.stack",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			info, err := newStackInfoOf(args[0])
			if info == nil {
				return err
			}
			if asJSON {
				return errors.Join(err, printJSON(cmd.OutOrStdout(), info))
			}
			info.print(cmd.OutOrStdout())
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// stackInfo is what is known of a file.
type stackInfo struct {
	File      string         `json:"file"`
	Size      int64          `json:"size"`
	Version   string         `json:"version"`
	Release   int            `json:"release"`
	Payload   int64          `json:"payload"`
	Recover   string         `json:"recover,omitempty"` // what there is to recover
	Allocator *allocatorInfo `json:"allocator,omitempty"`
}

// allocatorInfo is what is known of an allocator.
type allocatorInfo struct {
	Name     string     `json:"name"`
	Reserved regionJSON `json:"reserved"`
	spaceJSON
}

// spaceJSON is how space is used, in bytes.
type spaceJSON struct {
	Used          int64   `json:"used"`
	Free          int64   `json:"free"`
	FreeBlocks    int     `json:"freeBlocks"`
	Largest       int64   `json:"largest"`
	Fragmentation float64 `json:"fragmentation"`
}

func newSpaceJSON(s alloc.Stats) spaceJSON {
	return spaceJSON{s.Used, s.Free, s.FreeBlocks, s.Largest, s.Fragmentation()}
}

// newStackInfoOf collects what there is to know. An error about the allocator comes with what is known of the file.
func newStackInfoOf(path string) (*stackInfo, error) {
	st, err := inspectStack(path)
	if err != nil {
		return nil, err
	}
	info := &stackInfo{
		File: path, Size: st.Size, Version: st.Version, Release: st.Release, Payload: st.Payload, Recover: leftover(st),
	}
	if st.Journal != nil || st.Unfinished {
		return info, nil
	}
	err = viewStack(path, func(s *stack.Stack) error {
		err := withAllocator(info.setAllocator)(s)
		if isNoAllocator(err) {
			return nil // just bytes
		}
		return err
	})
	return info, err
}

func (info *stackInfo) setAllocator(a alloc.Allocator) error {
	stats, err := a.Stats()
	if err != nil {
		return err
	}
	r := a.Reserved()
	info.Allocator = &allocatorInfo{alloc.Name(a), regionJSON{r.Off, r.Len}, newSpaceJSON(stats)}
	return nil
}

func (info *stackInfo) print(out io.Writer) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-11s%s\n", name+":", fmt.Sprintf(format, args...))
	}
	line("File", "%s, %s", info.File, text.Plural(info.Size, "byte"))
	line("Format", "%s, release %d", info.Version, info.Release)
	line("Payload", "%s", text.Plural(info.Payload, "byte"))
	line("State", "%s", cmp.Or(info.Recover, "at rest"))
	a := info.Allocator
	if a == nil {
		return
	}
	line("Allocator", "%s", a.Name)
	line("Reserved", "%d+%d", a.Reserved.Off, a.Reserved.Len)
	line("Used", "%s", text.Plural(a.Used, "byte"))
	line("Free", "%s in %s, the largest of %d", text.Plural(a.Free, "byte"), text.Plural(a.FreeBlocks, "block"), a.Largest)
}
