// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package file

// PunchHole is not offered: the calls there are need aligned ranges, or sparse files made in advance.
func (f *osFile) PunchHole(int64, int64) error { return f.pathError("punch", ErrUnsupported) }
