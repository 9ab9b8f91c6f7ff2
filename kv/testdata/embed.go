// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package testdata holds files of other programs, for demonstrations; README.md describes them.
package testdata

import _ "embed"

// EtcdSmall is a database that etcd wrote, compressed with gzip.
//
//go:embed etcd-small.db.gz
var EtcdSmall []byte
