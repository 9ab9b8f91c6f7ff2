// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// A process is Oak at work. One has one store open at a time.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a process that ends with the test, if it was not killed.
func start(t *testing.T) *process {
	t.Helper()
	p := &process{cmd: exec.Command("java", "-Xmx512m", "-Xss8m", "-XX:TieredStopAtLevel=1", "-cp", driver(t), "Driver")}
	var said bytes.Buffer
	p.cmd.Stderr = &said
	out, err := p.cmd.StdoutPipe()
	must(t, err)
	p.out = bufio.NewReader(out)
	p.in, err = p.cmd.StdinPipe()
	must(t, err)
	must(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.in.Close() // how the process learns that it is to end
		_ = p.cmd.Wait() // it may have been killed
		if t.Failed() {
			t.Logf("Oak said:\n%s", &said)
		}
	})
	return p
}

// kill ends the process in the middle of whatever it does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	must(t, p.cmd.Process.Kill())
	_, _ = io.Copy(io.Discard, p.out) // until it is gone
}

// send sends a command.
func (p *process) send(t *testing.T, format string, args ...any) {
	t.Helper()
	_, err := fmt.Fprintf(p.in, format+"\n", args...)
	must(t, err)
}

// answer waits for the answer to a command.
func (p *process) answer() (result string, err error) {
	answer, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	verdict, result, _ := strings.Cut(strings.TrimSuffix(answer, "\n"), " ")
	if verdict != "ok" {
		return "", errors.New(result)
	}
	return result, nil
}

// do sends a command that must not fail, and returns its result.
func (p *process) do(t *testing.T, format string, args ...any) string {
	t.Helper()
	p.send(t, format, args...)
	result, err := p.answer()
	if err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
	return result
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
