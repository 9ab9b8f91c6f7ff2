// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A process is Oak at work. One has one store open at a time: opening another closes it.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer // its log; complete once it is gone
}

// start starts a process for the test.
func start(t *testing.T) *process {
	t.Helper()
	p, err := launch(driver(t))
	must(t, err)
	t.Cleanup(p.end)
	return p
}

// warm is the process that most tests use: Oak takes a while until it is quick.
var warm *process

func warmed(t *testing.T) *process {
	t.Helper()
	path := driver(t)
	if warm == nil {
		var err error
		warm, err = launch(path)
		must(t, err)
	}
	return warm
}

func TestMain(m *testing.M) {
	status := m.Run()
	if warm != nil {
		warm.end()
		if status != 0 {
			fmt.Fprintf(os.Stderr, "Oak said:\n%s", &warm.said)
		}
	}
	os.Exit(status)
}

func launch(path string) (*process, error) {
	p := &process{cmd: exec.Command(
		"java", "-Xmx512m", "-Xss8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "Driver")}
	p.cmd.Stderr = &p.said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

func (p *process) end() {
	_ = p.in.Close() // how the process learns that it is to end
	_ = p.cmd.Wait() // it may have been killed
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
