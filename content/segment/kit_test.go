// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import "os"

// long says whether tests may take minutes: HOLT_LONG=1.
func long() bool { return os.Getenv("HOLT_LONG") == "1" }
