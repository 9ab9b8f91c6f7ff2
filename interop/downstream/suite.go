// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/holtdb/holt/interop/internal/dropin"
)

// A suite is the part of a module's tests that exercises the store.
type suite struct {
	name     string
	module   dropin.Module
	packages []string
	rootArgs []string // for the test binaries if they run as root, without which some tests are skipped
}

var suites = []suite{
	{
		name:     "raft-boltdb",
		module:   dropin.Module{Path: "github.com/hashicorp/raft-boltdb/v2", Version: "v2.3.1"},
		packages: []string{"."},
	},
	{
		name:     "etcd",
		module:   dropin.Module{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.3"},
		packages: []string{"./storage/backend", "./storage/schema", "./storage/mvcc", "./lease/..."},
	},
	{
		name:     "etcdserver",
		module:   dropin.Module{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.3"},
		packages: []string{"./etcdserver/..."},
	},
	{
		name:     "bleve",
		module:   dropin.Module{Path: "github.com/blevesearch/bleve/v2", Version: "v2.6.3"},
		packages: []string{"./index/upsidedown/store/boltdb", "./index/scorch"},
	},
	{
		name:     "containerd",
		module:   dropin.Module{Path: "github.com/containerd/containerd/v2", Version: "v2.4.2"},
		packages: []string{"./core/metadata/...", "./core/mount/manager/...", "./core/snapshots/storage/..."},
		rootArgs: []string{"-test.root"},
	},
	{
		name: "filestorage",
		module: dropin.Module{
			Path:    "github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage",
			Version: "v0.165.1",
		},
		packages: []string{"./..."},
	},
	{
		name:     "buildkit", // last: it takes minutes to compile
		module:   dropin.Module{Path: "github.com/moby/buildkit", Version: "v0.34.2"},
		packages: []string{"./solver/bboltcachestorage"},
	},
}

// selectSuites returns the suites with the given comma-separated names, or all if there are none.
func selectSuites(names string) ([]suite, error) {
	if names == "" {
		return suites, nil
	}
	var chosen []suite
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no suite %q; -list prints them", name)
		}
		chosen = append(chosen, suites[i])
	}
	return chosen, nil
}

func printSuites(w io.Writer, suites []suite) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range suites {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", s.name, s.module, strings.Join(s.packages, " "))
	}
	_ = tw.Flush()
}
