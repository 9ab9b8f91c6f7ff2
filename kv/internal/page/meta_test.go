// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/page"
)

// skipBigEndian skips a test whose bytes are those of a machine like the others.
func skipBigEndian(t *testing.T) {
	t.Helper()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("files have the byte order of the machine, and the expected bytes are those of a little-endian one")
	}
}

func TestInitial(t *testing.T) {
	skipBigEndian(t)
	const size = 4096
	buf := bytes.Repeat([]byte{0xff}, 4*size) // all of it has to be overwritten
	page.Initial(buf, size)
	for id, want := range []struct {
		flags    uint16
		checksum uint64
	}{
		{page.Meta, 0x07516e114689fdee},
		{page.Meta, 0x264c351a5179480f},
		{page.Freelist, 0},
		{page.Leaf, 0},
	} {
		p := page.Page(buf[id*size : (id+1)*size])
		if p.ID() != uint64(id) || p.Flags() != want.flags || p.Count() != 0 || p.Overflow() != 0 {
			t.Errorf("page %d has the header %x", id, p[:page.HeaderSize])
		}
		rest := p[page.HeaderSize:]
		if want.flags == page.Meta {
			m := page.MetaOf(p)
			if err := m.Validate(); err != nil {
				t.Errorf("meta %d: %v", id, err)
			}
			if m.Checksum() != want.checksum {
				t.Errorf("meta %d has the checksum %#x, want %#x", id, m.Checksum(), want.checksum)
			}
			wantRecord := page.MetaRecord{PageSize: size, Root: 3, Freelist: 2, HWM: 4, TxID: uint64(id)}
			if got := m.Record(); got != wantRecord {
				t.Errorf("meta %d is %+v, want %+v", id, got, wantRecord)
			}
			rest = rest[page.MetaSize:]
		}
		if len(bytes.Trim(rest, "\x00")) > 0 {
			t.Errorf("page %d has more than it should", id)
		}
	}
}

// TestMetaBytes compares a meta page with the one that the specification of the format shows.
func TestMetaBytes(t *testing.T) {
	skipBigEndian(t)
	want, err := hex.DecodeString(strings.Join(strings.Fields(`
		0000000000000000 0400 0000 00000000
		edda0ced 02000000 00100000 00000000
		0400000000000000 0000000000000000
		0500000000000000 0600000000000000
		0200000000000000 6e331b2c7a6df9ee`), ""))
	if err != nil {
		t.Fatal(err)
	}
	p := page.Page(bytes.Repeat([]byte{0xff}, 4096))
	page.PutMeta(p, page.MetaRecord{PageSize: 4096, Root: 4, Freelist: 5, HWM: 6, TxID: 2})
	if !bytes.Equal(p[:80], want) {
		t.Errorf("have %x\nwant %x", p[:80], want)
	}
	if len(bytes.Trim(p[80:], "\x00")) > 0 {
		t.Error("the rest is not zero")
	}
}

func TestMetaValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(m *page.MetaView)
		want   error
	}{
		{"sound", func(*page.MetaView) {}, nil},
		{"magic", func(m *page.MetaView) { m.SetMagic(1) }, page.ErrMagic},
		{"magic, sealed", func(m *page.MetaView) { m.SetMagic(1); m.Seal() }, page.ErrMagic},
		{"version", func(m *page.MetaView) { m.SetVersion(1) }, page.ErrVersion},
		{"version, sealed", func(m *page.MetaView) { m.SetVersion(3); m.Seal() }, page.ErrVersion},
		{"magic before version", func(m *page.MetaView) { m.SetMagic(1); m.SetVersion(1) }, page.ErrMagic},
		{"checksum", func(m *page.MetaView) { m.SetRoot(9) }, page.ErrChecksum},
		{"root, sealed", func(m *page.MetaView) { m.SetRoot(9); m.Seal() }, nil},
		{"version before checksum", func(m *page.MetaView) { m.SetVersion(1); m.SetTxID(9) }, page.ErrVersion},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := page.Page(make([]byte, 1024))
			page.PutMeta(p, page.MetaRecord{PageSize: 1024, Root: 3, Freelist: 2, HWM: 4, TxID: 7})
			m := page.MetaOf(p)
			test.damage(m)
			if err := m.Validate(); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// TestMetaEveryByte changes every byte of a record: it must not be valid any more.
func TestMetaEveryByte(t *testing.T) {
	p := page.Page(make([]byte, 1024))
	page.PutMeta(p, page.MetaRecord{PageSize: 1024, Root: 3, Sequence: 8, Freelist: 2, HWM: 4, TxID: 7})
	m := page.MetaOf(p)
	for i := range m {
		for bit := range 8 {
			m[i] ^= 1 << bit
			if m.Validate() == nil {
				t.Errorf("valid with bit %d of byte %d changed", bit, i)
			}
			m[i] ^= 1 << bit
		}
	}
}

// TestMetaRoundTrip writes and reads records, and compares checksums with those of the standard library.
func TestMetaRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := page.MetaRecord{
			PageSize: rapid.Uint32().Draw(t, "page size"),
			Root:     rapid.Uint64().Draw(t, "root"),
			Sequence: rapid.Uint64().Draw(t, "sequence"),
			Freelist: rapid.Uint64().Draw(t, "free list"),
			HWM:      rapid.Uint64().Draw(t, "HWM"),
			TxID:     rapid.Uint64().Draw(t, "txid"),
		}
		p := page.Page(bytes.Repeat([]byte{0xaa}, 1024))
		page.PutMeta(p, want)
		m := page.MetaOf(p)
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if got := m.Record(); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if p.ID() != want.TxID%2 || p.Flags() != page.Meta || p.Count() != 0 || p.Overflow() != 0 || m.Flags() != 0 {
			t.Fatalf("header %x, flags %x", p[:page.HeaderSize], m.Flags())
		}
		h := fnv.New64a()
		_, _ = h.Write(m[:56])
		if m.Checksum() != h.Sum64() || m.Sum() != h.Sum64() {
			t.Fatalf("checksum %#x, want %#x", m.Checksum(), h.Sum64())
		}
	})
}
