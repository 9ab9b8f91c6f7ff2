// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package dropin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	boltPath    = "go.etcd.io/bbolt"
	boltVersion = "v1.5.0"
	holtPath    = "github.com/holtdb/holt"
)

// Checkout is a writable copy of a module, set up to compile with one engine.
type Checkout struct {
	Dir    string
	engine Engine
	repo   string // root of this repository
}

// CheckOut copies m into dir, which must not exist, and points the copy at the engine. The calling process must run
// in a directory of the interop module: that is how the repository is found.
func CheckOut(ctx context.Context, m Module, e Engine, dir string) (*Checkout, error) {
	repo, err := repository(ctx)
	if err != nil {
		return nil, err
	}
	cached, err := m.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, os.DirFS(cached)); err != nil {
		return nil, fmt.Errorf("copy %s: %w", m, err)
	}
	c := &Checkout{Dir: dir, engine: e, repo: repo}
	if err := c.editGoMod(ctx); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", m, err)
	}
	return c, nil
}

func repository(ctx context.Context) (string, error) {
	out, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", holtPath))
	if err != nil {
		return "", fmt.Errorf("find the repository from here: %w", err)
	}
	return strings.TrimSpace(out), nil
}

// editGoMod drops replacements by neighbouring directories, which a published module does not have, and selects the
// engine. Holt takes two lines: the replacement inside compat/bbolt counts only where that is the main module.
func (c *Checkout) editGoMod(ctx context.Context) error {
	edits := []string{"mod", "edit"}
	replaced, err := c.replacements(ctx)
	if err != nil {
		return err
	}
	for module, by := range replaced {
		if strings.HasPrefix(by, ".") {
			edits = append(edits, "-dropreplace="+module)
		}
	}
	switch c.engine {
	case Holt:
		edits = append(edits, "-replace="+boltPath+"="+c.compat(), "-replace="+holtPath+"="+c.repo)
	case Real:
		edits = append(edits, "-require="+boltPath+"@"+boltVersion)
	}
	_, err = output(c.Command(ctx, edits...))
	return err
}

// replacements returns the modules that go.mod replaces, and by what.
func (c *Checkout) replacements(ctx context.Context) (map[string]string, error) {
	out, err := output(c.Command(ctx, "mod", "edit", "-json"))
	if err != nil {
		return nil, err
	}
	var mod struct {
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(out), &mod); err != nil {
		return nil, err
	}
	replaced := make(map[string]string)
	for _, r := range mod.Replace {
		replaced[r.Old.Path] = r.New.Path
	}
	return replaced, nil
}

func (c *Checkout) compat() string { return filepath.Join(c.repo, "compat", "bbolt") }

// Command prepares a go command that runs in the copy and may complete its go.mod and go.sum.
func (c *Checkout) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	return cmd
}

// Build compiles the main package at the root of the copy into the file bin. Paths are trimmed, so that the build cache
// serves the next copy, which is somewhere else.
func (c *Checkout) Build(ctx context.Context, bin string) error {
	if _, err := output(c.Command(ctx, "build", "-trimpath", "-o", bin, ".")); err != nil {
		return fmt.Errorf("build %s: %w", filepath.Base(bin), err)
	}
	return nil
}

// output runs cmd and returns its standard output; what it wrote to standard error becomes part of the error.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, exit.Stderr)
	}
	return string(out), err
}
