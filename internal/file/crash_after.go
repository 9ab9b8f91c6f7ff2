// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// AfterCut returns a file system as it may be found when the power comes back, of the many that seed chooses from.
// The power of c need not be cut; c does not change, and both can be used from then on.
func (c *Crash) AfterCut(seed uint64) *Crash {
	r := rand.New(rand.NewPCG(seed, 0))
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.after(c.fates(r))
}

// fates draws how the logged changes fare. Three laws take turns, since each alone would hardly ever produce what the
// others do: every change by itself, every change by itself with luck that is good or bad for all of them, and all
// changes up to one.
func (c *Crash) fates(r *rand.Rand) func(i int) []change {
	luck, last := 0.5, len(c.log)
	switch r.IntN(3) {
	case 1:
		luck = r.Float64()
	case 2:
		luck, last = 1, r.IntN(len(c.log)+1)
	}
	return func(i int) []change {
		ch := c.log[i]
		tear := ch.kind == written && (i == last || luck < 1 && r.IntN(4) == 0)
		switch {
		case tear:
			return ch.torn(r, c.sector)
		case i < last && r.Float64() < luck:
			return []change{ch}
		}
		return nil
	}
}

// AfterCutKeeping is AfterCut with the choice left to the caller: of the changes [Crash.Unsynced] lists, those survive
// whose index keep reports true for, whole. See [KeepAll] and [KeepNone].
func (c *Crash) AfterCutKeeping(keep func(i int) bool) *Crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.after(func(i int) []change {
		if keep(i) {
			return c.log[i : i+1]
		}
		return nil
	})
}

// KeepAll is the best that can happen, for [Crash.AfterCutKeeping].
func KeepAll(int) bool { return true }

// KeepNone is the worst that can happen.
func KeepNone(int) bool { return false }

// after builds the file system that is left when of the i-th logged change only the given pieces survive.
func (c *Crash) after(fate func(i int) []change) *Crash {
	found := maps.Clone(c.durable)
	left := map[*inode]*contents{}
	of := func(ino *inode) *contents {
		if left[ino] == nil {
			left[ino] = ino.durable.clone()
		}
		return left[ino]
	}
	for i := range c.log {
		for _, ch := range fate(i) {
			ch.apply(found, of)
		}
	}
	twins := twins{of: func(old, twin *inode) {
		twin.durable = of(old)
		twin.seen = twin.durable
		if !c.memory {
			twin.seen = twin.durable.clone()
		}
	}}
	return c.like(twins.names(found), twins.names(found), nil)
}

// Clone returns a copy of c, un-synced changes and all, with its power on and its counts at zero. Open files stay with
// c, and their locks.
func (c *Crash) Clone() *Crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	twins := twins{of: func(old, twin *inode) {
		twin.seen = old.seen.clone()
		twin.durable = twin.seen
		if !c.memory {
			twin.durable = old.durable.clone()
		}
	}}
	log := slices.Clone(c.log)
	for i := range log {
		log[i].ino = twins.inode(log[i].ino)
	}
	return c.like(twins.names(c.seen), twins.names(c.durable), log)
}

// like returns a file system with the settings of c.
func (c *Crash) like(seen, durable names, log []change) *Crash {
	if c.memory {
		durable = seen
	}
	return &Crash{seen: seen, durable: durable, log: log, sector: c.sector, memory: c.memory}
}

// twins makes copies of inodes, one of each. of fills in the contents of a copy.
type twins struct {
	of   func(old, twin *inode)
	made map[*inode]*inode
}

func (t *twins) inode(old *inode) *inode {
	if old == nil || t.made[old] != nil {
		return t.made[old]
	}
	twin := newInode(old.mode)
	twin.modTime = old.modTime
	t.of(old, twin)
	if t.made == nil {
		t.made = map[*inode]*inode{}
	}
	t.made[old] = twin
	return twin
}

func (t *twins) names(old names) names {
	copied := make(names, len(old))
	for name, ino := range old {
		copied[name] = t.inode(ino)
	}
	return copied
}

// Unsynced describes the changes that a power cut now might lose, oldest first. A write that makes its file longer
// counts twice, as new length and as new bytes.
func (c *Crash) Unsynced() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	nameOf := map[*inode]string{}
	for name, ino := range c.seen {
		nameOf[ino] = name
	}
	list := make([]string, len(c.log))
	for i, ch := range c.log {
		name, ok := nameOf[ch.ino]
		if !ok {
			name = "(removed)"
		}
		list[i] = ch.describe(name)
	}
	return list
}
