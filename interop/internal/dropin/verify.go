// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package dropin

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// VerifyPackages checks that the tests of the packages would be compiled with the engine of the checkout.
func (c *Checkout) VerifyPackages(ctx context.Context, patterns ...string) error {
	format := fmt.Sprintf("{{with .Module}}{{if eq .Path %q %q}}{{$.ImportPath}} {{$.Dir}}{{end}}{{end}}", boltPath, holtPath)
	out, err := output(c.Command(ctx, append([]string{"list", "-deps", "-test", "-f", format}, patterns...)...))
	if err != nil {
		return err
	}
	dirs := make(map[string]string) // by import path
	for line := range strings.Lines(out) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			dirs[path] = dir
		}
	}
	return c.verifyDirs(dirs)
}

func (c *Checkout) verifyDirs(dirs map[string]string) error {
	bolt, kv := dirs[boltPath], dirs[holtPath+"/kv"]
	var ok bool
	switch c.engine {
	case Holt:
		ok = bolt == c.compat() && kv == filepath.Join(c.repo, "kv")
	case Real:
		ok = strings.HasSuffix(bolt, filepath.FromSlash(boltPath)+"@"+boltVersion) && kv == ""
	}
	if !ok {
		return fmt.Errorf("the engine is not %s: %s comes from %q, %s/kv from %q", c.engine, boltPath, bolt, holtPath, kv)
	}
	return nil
}

// VerifyBinary checks that an executable contains the engine of the checkout and no other.
func (c *Checkout) VerifyBinary(bin string) error {
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		return err
	}
	bolt, holt := dependency(info, boltPath), dependency(info, holtPath)
	var ok bool
	switch c.engine {
	case Holt:
		ok = replacedBy(bolt, c.compat()) && replacedBy(holt, c.repo)
	case Real:
		ok = bolt != nil && bolt.Replace == nil && bolt.Version == boltVersion && holt == nil
	}
	if !ok {
		return fmt.Errorf("the engine in %s is not %s:\n%s", bin, c.engine, info)
	}
	return nil
}

func dependency(info *debug.BuildInfo, path string) *debug.Module {
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path })
	if i < 0 {
		return nil
	}
	return info.Deps[i]
}

func replacedBy(m *debug.Module, dir string) bool {
	return m != nil && m.Replace != nil && m.Replace.Path == dir
}
