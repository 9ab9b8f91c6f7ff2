// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"time"
)

// ErrTimeout is returned by [Lock] when the lock did not come free in time.
var ErrTimeout = errors.New("file: timed out waiting for the lock")

// lockRetry is how long Lock sleeps between two attempts: there is no portable way to wait for another process's lock
// that can also be given up.
const lockRetry = 50 * time.Millisecond

// Lock takes the advisory lock of f, trying every 50 ms until it comes free. It gives up with [ErrTimeout] when the
// next attempt would come after timeout, so that a timeout below 50 ms means a single attempt; zero waits for ever.
// When ctx ends first, its error is returned. Errors other than [ErrLocked] end the wait.
func Lock(ctx context.Context, f File, exclusive bool, timeout time.Duration) error {
	start := time.Now()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.TryLock(exclusive); !errors.Is(err, ErrLocked) {
			return err
		}
		if timeout != 0 && time.Since(start) > timeout-lockRetry {
			return ErrTimeout
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
