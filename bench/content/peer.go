// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// peer is a process that does what it is told by lines, and answers with lines.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(cmd *exec.Cmd) (*peer, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	return &peer{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// outcome is what a peer answers, and what is seen of it from outside.
type outcome struct {
	NS         int64 `json:"ns"`
	Nodes      int64 `json:"nodes"`
	Properties int64 `json:"properties"`
	Sum        int64 `json:"sum"`
	Alloc      int64 `json:"alloc"` // bytes of heap

	processor time.Duration
	memory    int64 // bytes
	size      int64 // bytes of what was written
}

// String is the outcome as benchstat reads it.
func (o outcome) String() string {
	s := fmt.Sprintf("%d ns/op %d cpu-ns/op", o.NS, o.processor.Nanoseconds())
	if o.Properties > 0 {
		s += fmt.Sprintf(" %.0f items/s", o.rate(float64(o.NS)))
	}
	if o.size > 0 {
		s += fmt.Sprintf(" %d written-B", o.size)
	}
	return s
}

// rate is how many nodes and properties a second it is if it takes so many nanoseconds.
func (o outcome) rate(ns float64) float64 { return float64(o.Nodes+o.Properties) / ns * 1e9 }

func (p *peer) do(words ...any) (out outcome, err error) {
	before := p.processor()
	line := strings.TrimSpace(fmt.Sprintln(words...))
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		return out, err
	}
	answer, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(answer, &out)
	}
	if err != nil {
		return out, fmt.Errorf("%s: %s: %w", p.cmd.Path, line, err)
	}
	out.processor, out.memory = p.processor()-before, p.memory()
	return out, nil
}

// processor is the time that all threads of the process have had, in ticks of a hundredth of a second; zero if the system
// does not tell.
func (p *peer) processor() time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	s, _ := strconv.Atoi(fields[system])
	return time.Duration(u+s) * (time.Second / 100)
}

// memory is the most bytes that the process had so far, less those that it has of files; zero if the system does not tell.
func (p *peer) memory() int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	kilobytes := map[string]int64{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
			kilobytes[name] = n
		}
	}
	// The peak is noted now and then only, what there is at the moment may be more.
	return max(kilobytes["VmHWM"]-kilobytes["RssFile"]-kilobytes["RssShmem"], kilobytes["RssAnon"]) << 10
}

func (p *peer) stop() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }
