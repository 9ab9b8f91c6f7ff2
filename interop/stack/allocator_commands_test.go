// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holtdb/holt/stack/alloc"
)

// allocatorCommands are those that a stack alone does not know.
var allocatorCommands = map[string]func(a alloc.Allocator, w *words) (any, error){
	"alloc":        func(a alloc.Allocator, w *words) (any, error) { return place(a.Alloc(w.number())) },
	"alloc_uninit": func(a alloc.Allocator, w *words) (any, error) { return place(a.AllocUninit(w.number())) },
	"alloc_bulk":   func(a alloc.Allocator, w *words) (any, error) { return places(a.AllocBulk(w.numbers())) },
	"realloc":      func(a alloc.Allocator, w *words) (any, error) { return place(a.Realloc(w.region(), w.number())) },
	"realloc_uninit": func(a alloc.Allocator, w *words) (any, error) {
		return place(a.ReallocUninit(w.region(), w.number()))
	},
	"resize_region": func(a alloc.Allocator, w *words) (any, error) {
		return place(a.Resize(w.region(), w.number(), w.number()))
	},
	"free":           func(a alloc.Allocator, w *words) (any, error) { return nil, a.Free(w.region()) },
	"free_bulk":      func(a alloc.Allocator, w *words) (any, error) { return nil, a.FreeBulk(w.regions()) },
	"read":           func(a alloc.Allocator, w *words) (any, error) { return a.View(w.region()).Bytes() },
	"write":          func(a alloc.Allocator, w *words) (any, error) { return nil, writeWords(a.View(w.region()), w) },
	"write_reserved": func(a alloc.Allocator, w *words) (any, error) { return nil, writeWords(a.View(a.Reserved()), w) },
	"recover":        func(a alloc.Allocator, _ *words) (any, error) { return 0, check(a) },
}

func writeWords(v alloc.View, w *words) error {
	at := w.number()
	_, err := v.WriteAt(w.bytes(), at)
	return err
}

// check is everything that is wrong.
func check(a alloc.Allocator) error {
	var found []error
	for err := range a.Check() {
		found = append(found, err)
	}
	return errors.Join(found...)
}

func (w *words) region() alloc.Region { return alloc.Region{Off: w.number(), Len: w.number()} }

func (w *words) regions() (all []alloc.Region) {
	for len(w.list) > 0 {
		all = append(all, w.region())
	}
	return all
}

// place words a region as the driver does.
func place(r alloc.Region, err error) (any, error) { return places([]alloc.Region{r}, err) }

func places(rs []alloc.Region, err error) (any, error) {
	var b strings.Builder
	for _, r := range rs {
		fmt.Fprintf(&b, "%d %d ", r.Off, r.Len)
	}
	return strings.TrimSpace(b.String()), err
}
