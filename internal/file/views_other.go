// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !openbsd

package file

// views has nothing to do where mappings and writes share one cache.
type views struct{}

func (*views) add(*mapping)             {}
func (*views) remove(*mapping)          {}
func (*views) refresh(int64, int) error { return nil }
