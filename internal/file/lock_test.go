// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// lockTest runs test with two handles of one file, the first of them locked, under a clock that moves when all wait.
func lockTest(t *testing.T, test func(t *testing.T, holder, waiter file.File)) {
	synctest.Test(t, func(t *testing.T) {
		fx := fixture{file.NewMemory(), ""}
		holder, waiter := fx.create(t, "f"), fx.create(t, "f")
		must(t, holder.TryLock(true))
		test(t, holder, waiter)
	})
}

func TestLockTimeout(t *testing.T) {
	for _, tc := range []struct{ timeout, waits time.Duration }{
		{1, 0},
		{49 * time.Millisecond, 0},
		{50 * time.Millisecond, 50 * time.Millisecond},
		{99 * time.Millisecond, 50 * time.Millisecond},
		{time.Second, time.Second},
	} {
		lockTest(t, func(t *testing.T, _, waiter file.File) {
			start := time.Now()
			err := file.Lock(t.Context(), waiter, false, tc.timeout)
			wantErr(t, err, file.ErrTimeout)
			if waited := time.Since(start); waited != tc.waits {
				t.Errorf("timeout %v: waited %v, want %v", tc.timeout, waited, tc.waits)
			}
		})
	}
}

func TestLockWaitsForEver(t *testing.T) {
	lockTest(t, func(t *testing.T, holder, waiter file.File) {
		time.AfterFunc(10*time.Minute, func() { must(t, holder.Unlock()) })
		must(t, file.Lock(t.Context(), waiter, true, 0))
		wantErr(t, holder.TryLock(false), file.ErrLocked)
	})
}

func TestLockContext(t *testing.T) {
	lockTest(t, func(t *testing.T, holder, waiter file.File) {
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
		defer cancel()
		wantErr(t, file.Lock(ctx, waiter, true, 0), context.DeadlineExceeded)
		must(t, holder.Unlock())
		wantErr(t, file.Lock(ctx, waiter, true, 0), context.DeadlineExceeded)
	})
}

func TestLockOtherError(t *testing.T) {
	disk := file.NewFault(file.NewMemory())
	f, err := disk.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	disk.FailAt(1)
	err = file.Lock(t.Context(), f, true, 0)
	if !errors.Is(err, file.ErrInjected) || disk.Calls() != 1 {
		t.Errorf("error %v after %d calls, want the injected one after the first", err, disk.Calls())
	}
}
