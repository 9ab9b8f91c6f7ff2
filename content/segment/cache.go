// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
	"sync"
)

// A Cache remembers what was written in a generation, so that the same is not written twice: strings, templates, and
// which nodes were copied into it. It may be shared by the writers of that generation; those that use it at the same
// time need a [Store] that finds the segments which all of them have open.
type Cache struct {
	generation Generation

	mu        sync.Mutex
	strings   texts
	templates texts // by content
	copies    table // nodes by stable id; templates by where they were copied from
}

// CacheSizes bound a [Cache], in bytes, roughly. Zero stands for the default, less for nothing.
type CacheSizes struct {
	Strings   int // 16 MiB; strings of 16,512 bytes and more are not remembered
	Templates int // 4 MiB
	Copies    int // 32 MiB
}

// NewCache returns an empty one; sizes may be nil.
func NewCache(g Generation, sizes *CacheSizes) *Cache {
	if sizes == nil {
		sizes = &CacheSizes{}
	}
	c := &Cache{generation: g}
	c.strings.init(sizes.Strings, 16<<20)
	c.templates.init(sizes.Templates, 4<<20)
	c.copies.init(sizes.Copies, 32<<20)
	return c
}

func (c *Cache) check(g Generation) error {
	if c.generation != g {
		return fmt.Errorf("segment: a cache of generation %s for a writer of %s", c.generation, g)
	}
	return nil
}

func (c *Cache) text(t *texts, k textKey) (RecordID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.get(k)
}

func (c *Cache) putText(t *texts, k textKey, id RecordID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.put(k, id)
}

func (c *Cache) copied(key RecordID) (RecordID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id, ok := c.copies.young[key]; ok {
		return id, true
	}
	id, ok := c.copies.old[key]
	if ok {
		c.copies.put(key, id)
	}
	return id, ok
}

func (c *Cache) putCopied(key, id RecordID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copies.put(key, id)
}

// table has two halves. When the young one is full it becomes the old one, which is forgotten; what is found there
// becomes young again.
type table struct {
	young, old map[RecordID]RecordID
	size, half int // bytes of young, and how many it may have
}

// entryCost is what an entry takes beside the bytes of a string.
const entryCost = 80

func (t *table) init(size, normal int) {
	if size == 0 {
		size = normal
	}
	t.half = size / 2
	t.young, t.old = map[RecordID]RecordID{}, map[RecordID]RecordID{}
}

func (t *table) put(key, id RecordID) {
	if entryCost > t.half {
		return
	}
	if t.size+entryCost > t.half {
		t.young, t.old, t.size = t.old, t.young, 0
		clear(t.young)
	}
	t.young[key] = id
	t.size += entryCost
}
