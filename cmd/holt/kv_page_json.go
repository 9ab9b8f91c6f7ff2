// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv/surgery"
)

// pageInJSON is a page for programs. Of the last three, those of its type are set.
type pageInJSON struct {
	ID       uint64        `json:"id"`
	Type     string        `json:"type"`
	Size     int64         `json:"size"`
	Overflow uint32        `json:"overflow"`
	Meta     *metaInJSON   `json:"meta,omitempty"`
	Items    *[]itemInJSON `json:"items,omitempty"`
	Free     *[]uint64     `json:"free,omitempty"`
}

type metaInJSON struct {
	Version  uint32 `json:"version"`
	PageSize uint32 `json:"pageSize"`
	Flags    uint32 `json:"flags"`
	Root     uint64 `json:"root"`
	Freelist uint64 `json:"freelist"`
	HWM      uint64 `json:"hwm"`
	TxID     uint64 `json:"txid"`
	Checksum string `json:"checksum"`
	Valid    bool   `json:"valid"`
	Error    string `json:"error,omitempty"` // why it is not valid
}

type itemInJSON struct {
	Key      exact   `json:"key"`
	Value    *exact  `json:"value,omitempty"`
	Child    *uint64 `json:"child,omitempty"`
	Root     *uint64 `json:"root,omitempty"` // of a bucket; 0 when it is inline
	Sequence *uint64 `json:"sequence,omitempty"`
}

func (p *pagePrinter) writeJSON(out io.Writer, pg *surgery.Page) (err error) {
	j := pageInJSON{ID: pg.ID(), Type: pg.Type(), Size: pg.Size(), Overflow: pg.Overflow()}
	switch {
	case pg.IsMeta():
		j.Meta, err = metaJSON(pg)
	case pg.IsFreelist():
		j.Free, err = freelistJSON(pg)
	default:
		j.Items, err = p.itemsJSON(pg)
	}
	if err != nil {
		return err
	}
	return printJSON(out, j)
}

func metaJSON(pg *surgery.Page) (*metaInJSON, error) {
	m, err := pg.Meta()
	if err != nil {
		return nil, err
	}
	j := &metaInJSON{
		Version: m.Version, PageSize: m.PageSize, Flags: m.Flags, Root: m.Root, Freelist: m.Freelist,
		HWM: m.HWM, TxID: m.TxID, Checksum: fmt.Sprintf("%016x", m.Checksum), Valid: m.Err == nil,
	}
	if m.Err != nil {
		j.Error = m.Err.Error()
	}
	return j, nil
}

func freelistJSON(pg *surgery.Page) (*[]uint64, error) {
	ids := []uint64{}
	for id, err := range pg.FreelistIDs() {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return &ids, nil
}

func (p *pagePrinter) itemsJSON(pg *surgery.Page) (*[]itemInJSON, error) {
	items := make([]itemInJSON, pg.Count())
	for i := range items {
		it, err := pg.Item(i)
		if err != nil {
			return nil, err
		}
		items[i].Key = exactly(it.Key, text.Auto)
		switch {
		case pg.IsBranch():
			items[i].Child = &it.Child
		case it.IsBucket:
			items[i].Root, items[i].Sequence = &it.Root, &it.Sequence
		default:
			value := exactly(it.Value, p.format)
			items[i].Value = &value
		}
	}
	return &items, nil
}
