// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"sync"
	"testing"
)

// TestConcurrentReaders has several goroutines find the same references for the first time.
func TestConcurrentReaders(t *testing.T) {
	store, root := smallStore(t)
	var want reading
	must(t, want.store(store, root))
	clear(store.parsed)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var r reading
			if err := r.store(store, root); err != nil || r.digest != want.digest {
				t.Errorf("read %v, want %v: %v", r.digest, want.digest, err)
			}
		})
	}
	wg.Wait()
}
