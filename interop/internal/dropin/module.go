// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package dropin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// Module is a published module at one version.
type Module struct {
	Path    string
	Version string
}

func (m Module) String() string { return m.Path + "@" + m.Version }

// Fetch downloads m unless the module cache has it, and returns its directory there.
func (m Module) Fetch(ctx context.Context) (string, error) { return m.download(ctx) }

// Cached reports whether the module cache has m, without using the network.
func (m Module) Cached(ctx context.Context) bool {
	_, err := m.download(ctx, "GOPROXY=off")
	return err == nil
}

func (m Module) download(ctx context.Context, env ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.String())
	cmd.Dir = os.TempDir() // outside any module, whose go.sum would otherwise be consulted
	cmd.Env = append(os.Environ(), env...)
	out, runErr := cmd.Output() // a module that cannot be had is described on stdout too
	var got struct{ Dir, Error string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", fmt.Errorf("download %s: %w", m, runErr)
	}
	if got.Error != "" {
		return "", fmt.Errorf("download %s: %s", m, got.Error)
	}
	return got.Dir, nil
}
