// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"

	"github.com/holtdb/holt/kv/internal/page"
)

// PageInfo describes a page of the file.
type PageInfo struct {
	ID            int
	Type          string // branch, leaf, meta, freelist, or free, whatever a free page holds
	Count         int    // elements
	OverflowCount int    // pages that continue it
}

// Page describes page id, nil beyond the last. A page that continues another holds arbitrary bytes in place of a
// description. If the free pages are not known yet, Page looks for them, as the first write transaction does. Errors:
// [ErrTxClosed], [ErrFreePagesNotLoaded], the [*CorruptError] of that search, [ErrDatabaseNotOpen] if Close ends it.
func (tx *Tx) Page(id int) (*PageInfo, error) {
	n := uint64(id)
	switch {
	case !tx.open():
		return nil, ErrTxClosed
	case n >= tx.meta.HWM:
		return nil, nil
	case tx.db.readOnly && !tx.db.freelist.isLoaded():
		return nil, ErrFreePagesNotLoaded
	}
	if err := tx.db.loadFreelist(context.Background()); err != nil { // that of a file without its last pages too
		return nil, err
	}
	p := page.Page(tx.data[n*uint64(tx.pageSize):])
	info := &PageInfo{ID: id, Type: page.TypeName(p.Flags()), Count: p.Count(), OverflowCount: int(p.Overflow())}
	if tx.db.freelist.listed(n) {
		info.Type = "free"
	}
	return info, nil
}
