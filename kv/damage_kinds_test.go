// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// damages runs a test for each of the files to be damaged, in parallel.
func damages(t *testing.T, each func(t *testing.T, sound []byte)) {
	for name, sound := range damageable(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, sound)
		})
	}
}

// with runs endure on a damaged copy of a file, or glance on most of them.
func with(t *testing.T, sound []byte, what string, damage func(f []byte)) {
	t.Helper()
	if brief() && fnv1a(what)%8 != 1 {
		return
	}
	damaged := bytes.Clone(sound)
	damage(damaged)
	if !bytes.Equal(damaged, sound) {
		sampled(4)(t, what, damaged)
	}
}

// pageOf is the page of a damageable file, with the pages up to the end of the file.
func pageOf(f []byte, id int) page.Page { return page.Page(f[id*damagedPageSize:]) }

func TestDamageNone(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		endure(t, "no damage", sound)
		if o := consult(sound, damagedPageSize); o.err != nil || len(o.flaws) > 0 {
			t.Error(o.err, o.flaws)
		}
	})
}

// TestDamageBytes changes every byte of a file: those of headers and element tables, which say where things are, most
// thoroughly; and few of the pages that are free.
func TestDamageBytes(t *testing.T) {
	masks := []byte{0x01, 0xff, 0x80, 0x02, 0x40, 0x10, 0x04, 0x7f}
	damages(t, func(t *testing.T, sound []byte) {
		says := consult(sound, damagedPageSize)
		damaged := bytes.Clone(sound)
		for at := range sound {
			id := at / damagedPageSize
			treat := glance
			switch structural := at%damagedPageSize < page.HeaderSize+page.ElemSize*pageOf(sound, id).Count(); {
			case brief() && at%40 != 0:
				continue
			case long(), says.used[uint64(id)] > 0 && structural, id < 2 && at%damagedPageSize < page.HeaderSize+page.MetaSize:
				treat = sampled(4)
			case says.used[uint64(id)] == 0 && at%29 != 0, says.freelist == page.NoFreelist && at%9 != 0:
				continue
			}
			for i := range times(1, len(masks)) {
				mask := masks[(at/7+i)%len(masks)]
				damaged[at] ^= mask
				treat(t, fmt.Sprintf("byte %d (page %d, offset %d) changed by %#x", at, id, at%damagedPageSize, mask), damaged)
				damaged[at] ^= mask
			}
		}
	})
}

// TestDamagePages puts pages in the place of others, with their own ids, which must be noticed, or with the right ones.
func TestDamagePages(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		n := len(sound) / damagedPageSize
		for from := range n {
			for to := range n {
				if !long() && (from*7+to)%5 != 0 {
					continue
				}
				with(t, sound, fmt.Sprintf("page %d copied to %d", from, to), func(f []byte) {
					copy(pageOf(f, to)[:damagedPageSize], pageOf(f, from))
				})
				with(t, sound, fmt.Sprintf("page %d copied to %d with its id", from, to), func(f []byte) {
					copy(pageOf(f, to)[:damagedPageSize], pageOf(f, from))
					pageOf(f, to).SetID(uint64(to))
				})
				with(t, sound, fmt.Sprintf("pages %d and %d swapped", from, to), func(f []byte) {
					a, b := pageOf(f, from)[:damagedPageSize], pageOf(f, to)[:damagedPageSize]
					was := bytes.Clone(a)
					copy(a, b)
					copy(b, was)
				})
			}
			with(t, sound, fmt.Sprintf("page %d zeroed", from), func(f []byte) { clear(pageOf(f, from)[:damagedPageSize]) })
		}
	})
}

// TestDamagePointers redirects every reference to a page: to others of the tree and so in circles, to free pages, to the
// metas, to the free list, and to where there are no pages.
func TestDamagePointers(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		n := uint64(len(sound) / damagedPageSize)
		for _, at := range references(sound) {
			for to := range n + 3 {
				redirect(t, sound, at, to)
			}
			for _, to := range []uint64{math.MaxUint64, 1 << 63, 1<<63 | 3, 1 << 32, 1<<54 + 3, math.MaxInt64} {
				redirect(t, sound, at, to)
			}
		}
	})
}

func redirect(t *testing.T, sound []byte, at int, to uint64) {
	t.Helper()
	with(t, sound, fmt.Sprintf("page %d, reference at %d leads to %d", at/damagedPageSize, at%damagedPageSize, to),
		func(f []byte) { binary.NativeEndian.PutUint64(f[at:], to) })
}

// references finds all places in the trees of a sound file that refer to a page: children of branches, and roots of
// buckets, inline ones too.
func references(sound []byte) (all []int) {
	for id := range consult(sound, damagedPageSize).used {
		base := int(id) * damagedPageSize
		p := page.Page(sound[base : base+damagedPageSize])
		if p.ID() != id {
			continue // it continues another
		}
		for i := range p.Count() {
			switch p.Flags() {
			case page.Branch:
				all = append(all, base+page.HeaderSize+page.ElemSize*i+8)
			case page.Leaf:
				if flags, off, ksize, _, _ := p.LeafSpan(i); flags&page.BucketFlag != 0 {
					all = append(all, base+int(off)+int(ksize))
				}
			}
		}
	}
	return all
}

// TestDamageFields gives wild values to the fields of headers, elements and inline buckets.
func TestDamageFields(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		noFreelist := consult(sound, damagedPageSize).freelist == page.NoFreelist
		for at, size := range fields(sound) {
			if !long() && at%4 != 0 && noFreelist {
				continue
			}
			values := []uint64{0, 1, 2, 3, 15, 16, 17, 40, 0x7f, 0xff, damagedPageSize - 1, damagedPageSize, 0x7fff, 0xffff}
			if size == 4 {
				values = append(values, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff)
			}
			for _, v := range values {
				with(t, sound, fmt.Sprintf("page %d, field at %d is %#x", at/damagedPageSize, at%damagedPageSize, v), func(f []byte) {
					if size == 2 {
						binary.NativeEndian.PutUint16(f[at:], uint16(v))
					} else {
						binary.NativeEndian.PutUint32(f[at:], uint32(v))
					}
				})
			}
		}
	})
}

// fields are the places of numbers of two and four bytes: those of headers, and of the first, last and middle element.
func fields(sound []byte) map[int]int {
	all := map[int]int{}
	add := func(p page.Page, base int) {
		all[base+8], all[base+10], all[base+12] = 2, 2, 4
		n := p.Count()
		for _, i := range []int{0, n / 2, n - 1} {
			if at := page.HeaderSize + page.ElemSize*i; i < n && n > 0 && p.Flags() != page.Freelist {
				all[base+at], all[base+at+4] = 4, 4
				if p.Flags() == page.Leaf {
					all[base+at+8], all[base+at+12] = 4, 4
				}
			}
		}
	}
	for id := range consult(sound, damagedPageSize).used {
		base := int(id) * damagedPageSize
		p := page.Page(sound[base : base+damagedPageSize])
		if p.ID() != id {
			continue
		}
		add(p, base)
		for i := range p.Count() {
			if p.Flags() != page.Leaf {
				break
			}
			_, off, ksize, _, _ := p.LeafSpan(i)
			flags, _, value, ok := p.LeafElem(i)
			if !ok || flags&page.BucketFlag == 0 {
				continue
			}
			if root, _, inline, _ := page.BucketValue(value); root == 0 {
				add(inline, base+int(off)+int(ksize)+page.BucketHeader)
			}
		}
	}
	return all
}

// TestDamageMetas gives wild values to the fields of one meta or of both, with checksums that are right.
func TestDamageMetas(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		n := uint64(len(sound) / damagedPageSize)
		wild := []uint64{math.MaxUint64, math.MaxInt64, 1 << 63, 1 << 54, 1 << 53, 1 << 32, math.MaxUint32}
		for v := range n + 3 {
			wild = append(wild, v)
		}
		for field, set := range map[string]func(*page.MetaView, uint64){
			"root":      (*page.MetaView).SetRoot,
			"free list": (*page.MetaView).SetFreelist,
			"HWM":       (*page.MetaView).SetHWM,
			"txid":      (*page.MetaView).SetTxID,
			"page size": func(m *page.MetaView, v uint64) { m.SetPageSize(uint32(v)) },
		} {
			for _, v := range wild {
				if field == "txid" && v == math.MaxUint64 {
					continue // see TestDamageLastTransaction
				}
				for _, which := range [][]int{{0}, {1}, {0, 1}} {
					with(t, sound, fmt.Sprintf("%s of metas %d is %#x", field, which, v), func(f []byte) {
						for _, id := range which {
							m := page.MetaOf(pageOf(f, id))
							set(m, v)
							m.Seal()
						}
					})
				}
			}
		}
	})
}

// TestDamageLength cuts the file off, at pages and elsewhere.
func TestDamageLength(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		for size := 1; size < len(sound); size++ {
			if r := size % damagedPageSize; r == 0 || r == 1 || r == damagedPageSize-1 || size%97 == 0 {
				endure(t, fmt.Sprintf("cut off at %d", size), sound[:size])
			}
		}
	})
}

// TestDamageLengthOnDisk does the same with a file of the operating system, where touching what is mapped beyond the end
// kills the program.
func TestDamageLengthOnDisk(t *testing.T) {
	sound := damageable(t)["default"]
	path := filepath.Join(t.TempDir(), "cut.db")
	for size := 1; size < len(sound); size += 511 {
		for _, readOnly := range []bool{true, false} {
			must(t, os.WriteFile(path, sound[:size], 0o600))
			db, err := kv.Open(path, 0o600, &kv.Options{ReadOnly: readOnly, NoSync: true})
			if err != nil {
				continue
			}
			p := &patient{T: t, what: fmt.Sprintf("cut off at %d", size), file: sound[:size], db: db}
			for _, read := range readings {
				_ = db.View(func(tx *kv.Tx) error { return read(tx) })
			}
			_ = db.View(checked)
			if !readOnly {
				p.write()
			}
			must(t, db.Close())
		}
	}
}

// TestDamageRandom does several things to a file at once.
func TestDamageRandom(t *testing.T) {
	damages(t, func(t *testing.T, sound []byte) {
		var places []int
		for at := range fields(sound) {
			places = append(places, at)
		}
		places = append(places, references(sound)...)
		slices.Sort(places)
		for seed := range uint64(times(500, 100_000)) {
			r := rand.New(rand.NewPCG(seed, 1))
			with(t, sound, fmt.Sprintf("seed %d", seed), func(f []byte) {
				for range 1 + r.IntN(6) {
					at := places[r.IntN(len(places))]
					if r.IntN(2) == 0 {
						f[at+r.IntN(2)] ^= 1 << r.IntN(8)
					} else {
						f[at] = byte(r.IntN(40))
					}
				}
			})
		}
	})
}
