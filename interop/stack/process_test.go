// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
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
	var s session
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil //nolint:nilerror // whoever told us what to do is gone
		}
		if _, err := fmt.Fprintln(out, s.run(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
}

// A session is what our side has open: a stack, and an allocator if that owns it.
type session struct {
	stack     *stack.Stack
	allocator alloc.Allocator
}

func (s *session) run(line string) string {
	name, rest, _ := strings.Cut(line, " ")
	var err error
	switch {
	case name == "open":
		s.allocator = nil
		s.stack, err = stack.Open(rest, nil)
	case name == "open_allocator":
		err = s.openAllocator(&words{list: strings.Fields(rest)})
	case s.stack == nil:
		err = errors.New("nothing open")
	case name == "close":
		err = s.stack.Close()
	case s.allocator != nil && allocatorCommands[name] != nil:
		w := &words{list: strings.Fields(rest)}
		result, err := allocatorCommands[name](s.allocator, w)
		return answer(result, errors.Join(w.err, err))
	default:
		return run(s.stack, line)
	}
	return answer(nil, err)
}

func (s *session) openAllocator(w *words) (err error) {
	f, size, path := formatNamed(w.next()), w.number(), w.next()
	if s.stack, err = stack.Open(path, nil); err != nil {
		return err
	}
	if s.allocator, err = f.open(s.stack, size); err != nil {
		return errors.Join(err, s.stack.Close())
	}
	return nil
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
