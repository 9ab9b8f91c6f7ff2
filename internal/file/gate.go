// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"sync"
	"time"
)

// Gate makes calls of SyncData wait until they are let through. It is meant for tests of what goes on meanwhile.
type Gate struct {
	mu      sync.Mutex
	changed sync.Cond
	permits int  // guarded by mu
	waiting int  // guarded by mu
	shut    bool // guarded by mu
}

// NewGate returns a file system with a gate, which stands open.
func NewGate(under FS) (FS, *Gate) {
	g := &Gate{}
	g.changed.L = &g.mu
	return WithSync(under, func(f File) error {
		g.pass()
		return f.SyncData()
	}), g
}

func (g *Gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	g.changed.Broadcast()
	for g.shut && g.permits <= 0 {
		g.changed.Wait()
	}
	g.waiting--
	if g.shut {
		g.permits--
	}
}

// Shut lets n more syncs through, and then none.
func (g *Gate) Shut(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.permits, g.shut = n, true
	g.changed.Broadcast()
}

// Allow has a gate that is shut let n syncs more through, or fewer if n is negative.
func (g *Gate) Allow(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.permits += n
	g.changed.Broadcast()
}

// Open lets all through from now on.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	g.changed.Broadcast()
}

// patience is how long something may take that comes at once unless something is wrong.
const patience = 20 * time.Second

// Await waits until a sync waits that has not been let through. It panics if none comes.
func (g *Gate) Await() {
	g.mu.Lock()
	defer g.mu.Unlock()
	late := false
	timer := time.AfterFunc(patience, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		late = true
		g.changed.Broadcast()
	})
	defer timer.Stop()
	for g.waiting == 0 || g.permits > 0 {
		if late {
			panic("no sync comes")
		}
		g.changed.Wait()
	}
}
