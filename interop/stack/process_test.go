// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack"
)

// A side is a program that does to a stack file what it is told.
type side struct {
	name    string
	command func(t *testing.T) *exec.Cmd
}

var (
	holt  = side{"holt", self}
	crate = side{"bstack " + version, func(t *testing.T) *exec.Cmd { return exec.Command(driver(t), "0.4") }}
	old   = side{"bstack " + oldVersion, func(t *testing.T) *exec.Cmd { return exec.Command(driver(t), "0.2") }}
)

const serveVar = "HOLT_INTEROP_STACK_SERVE"

// self starts this test binary as a driver of our engine.
func self(t *testing.T) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serveVar+"=1")
	return cmd
}

func TestMain(m *testing.M) {
	if os.Getenv(serveVar) == "" {
		os.Exit(m.Run())
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve runs commands on our engine.
func serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	var s *stack.Stack
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil //nolint:nilerror // whoever told us what to do is gone
		}
		line = strings.TrimSuffix(line, "\n")
		name, path, _ := strings.Cut(line, " ")
		answer := "ok"
		switch {
		case name == "open":
			if s, err = stack.Open(path, nil); err != nil {
				answer = "err " + err.Error()
			}
		case name == "close":
			if err := s.Close(); err != nil {
				answer = "err " + err.Error()
			}
		case s == nil:
			answer = "err nothing open"
		default:
			answer = run(s, line)
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
}

// A process is a side at work.
type process struct {
	side
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a process that ends with the test, if it was not killed.
func (s side) start(t *testing.T) *process {
	t.Helper()
	p := &process{side: s, cmd: s.command(t)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.in.Close() // how the process learns that it is to end
		_ = p.cmd.Wait() // it may have been killed
	})
	return p
}

// ask sends a command and waits for the answer. The error says that the process is gone.
func (p *process) ask(line string) (answer string, err error) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return "", err
	}
	answer, err = p.out.ReadString('\n')
	return strings.TrimSuffix(answer, "\n"), err
}

// try sends a command and returns the answer, err if it was refused for whatever reason.
func (p *process) try(t *testing.T, line string) string {
	t.Helper()
	answer, err := p.ask(line)
	if err != nil {
		t.Fatalf("%s, %s: %v", p.name, short(line), err)
	}
	return kind(answer)
}

// do sends a command that must not be refused.
func (p *process) do(t *testing.T, line string) string {
	t.Helper()
	answer, err := p.ask(line)
	if err != nil || kind(answer) == "err" {
		t.Fatalf("%s, %s: %s %v", p.name, short(line), answer, err)
	}
	return answer
}

// kind drops what an error says: each side has words of its own.
func kind(answer string) string {
	if strings.HasPrefix(answer, "err") {
		return "err"
	}
	return answer
}

// short is a line for messages.
func short(line string) string {
	if len(line) > 200 {
		return line[:200] + "..."
	}
	return line
}
