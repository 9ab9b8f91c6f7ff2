// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/holtdb/holt/content"
)

// child is our side. With a directory and a path it reads one node; otherwise it does what lines on standard input say,
// as the other sides do: open DIR, traverse WORKERS, check DIR, digest DIR, write DIR FOLDERS.
func child(args []string) error {
	if len(args) == 2 {
		return one(os.Stdout, args[0], args[1])
	}
	var c commands
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		out, err := c.measure(strings.Fields(in.Text()))
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
			return err
		}
	}
	return in.Err()
}

type commands struct{ store *content.Store }

func (c *commands) measure(words []string) (out outcome, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err = c.run(words, &out)
	out.NS = time.Since(start).Nanoseconds()
	runtime.ReadMemStats(&after)
	out.Alloc = int64(after.TotalAlloc - before.TotalAlloc)
	return out, err
}

func (c *commands) run(words []string, out *outcome) (err error) {
	ctx := context.Background()
	switch words[0] {
	case "open":
		c.store, err = content.Open(words[1], nil)
		return err
	case "traverse":
		workers, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		var t traversal
		err = t.run(ctx, c.store, workers)
		out.Nodes, out.Properties, out.Sum = t.nodes.Load(), t.properties.Load(), int64(t.sum.Load())
		return err
	case "check":
		report, err := check(ctx, words[1])
		out.Nodes = report.Nodes
		return err
	case "digest":
		return digest(ctx, words[1])
	case "write":
		folders, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		return write(words[1], folders)
	}
	return fmt.Errorf("no such command: %s", words[0])
}

// check opens the store too, as froe's does.
func check(ctx context.Context, dir string) (content.CheckReport, error) {
	s, err := content.Open(dir, nil)
	if err != nil {
		return content.CheckReport{}, err
	}
	report, err := s.Check(ctx, content.CheckOptions{Found: func(err error) error { return err }})
	return report, errors.Join(err, s.Close())
}

// digest prints all there is, by name.
func digest(ctx context.Context, dir string) error {
	s, err := content.Open(dir, nil)
	if err != nil {
		return err
	}
	head, _ := s.Head()
	return errors.Join(s.Dump(ctx, io.Discard, head, "/"), s.Close())
}

// one prints one node.
func one(out io.Writer, dir, path string) (err error) {
	s, err := content.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	head, _ := s.Head()
	n, err := s.Find(head, path)
	if err != nil {
		return err
	}
	p := n.Properties()
	for p.Next() {
		fmt.Fprintf(out, "%s =", p.Name)
		for i := range p.Count() {
			v, err := p.Value(i)
			if err != nil {
				return err
			}
			fmt.Fprint(out, " ")
			if err := s.WriteText(out, v); err != nil {
				return err
			}
		}
		fmt.Fprintln(out)
	}
	return p.Err()
}
