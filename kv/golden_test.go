// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
)

var updatePages = flag.Bool("update-pages", false, "write the page tables in testdata/golden")

// goldenPageSize is the page size of all golden files.
const goldenPageSize = 4096

// goldenVectors are workloads and what bbolt 1.5.0 makes of them, to the byte.
var goldenVectors = []struct {
	name   string
	anyFor bool // the same with either type of free list
	run    func(*testing.T, *kv.DB)
	size   int
	sum    string
}{
	{
		"W0", true, func(*testing.T, *kv.DB) {}, 16384,
		"f80ea184425737cdc7de57b1c8d4797e8a57ccee797991395e3800cd4ed0ac1e",
	},
	{
		"W1", true, goldenOnePair, 32768,
		"a1340d2b44c1c783647494d8f2b7a7c7be72baeea708e59876f3e62e855f4608",
	},
	{
		"W2", true, goldenOneBatch, 262144,
		"b498ca4e7a3eedd933f3aa389b49b9b3d9f25c245d645b5fcb9eb1439351b8ac",
	},
	{
		"W3", false, goldenAscending, 2097152,
		"5de8a5ffeab805169b2d26ad4b8f090d044feab43b4edaccc5ee3c851291521f",
	},
	{
		"W4", false, goldenScattered, 2097152,
		"4dfec109d87be2e034902b292da880e436aba4bde0ee8120b9d060ad542c2adc",
	},
	{
		"W5", false, goldenHalfDeleted, 2097152,
		"01474da0f39939ac14d01aa112be8c9ca86b72b34b5352a35269319526e757d3",
	},
	{
		"W6", false, goldenLargeValues, 1048576,
		"88057cf9bc1c3da3ffb7e905f013f9d6577c0228c47cb324bd84833abb5a4c66",
	},
	{
		"W7", false, goldenAllDeleted, 262144,
		"052ed7fba6e8a5b65648880ded161ad7d017139cf2de0e32a74a0e2695d70271",
	},
}

func goldenOnePair(t *testing.T, db *kv.DB) {
	goldenUpdates(t, db, 1, 1, func(b *kv.Bucket, _ int) error {
		return b.Put([]byte("k1"), []byte("v1"))
	})
}

func goldenOneBatch(t *testing.T, db *kv.DB) {
	goldenUpdates(t, db, 1, 1000, func(b *kv.Bucket, i int) error {
		return b.Put(goldenKey(i), make([]byte, 32))
	})
}

func goldenAscending(t *testing.T, db *kv.DB) {
	goldenUpdates(t, db, 100, 100, func(b *kv.Bucket, i int) error {
		return b.Put(goldenKey(i), make([]byte, 32))
	})
}

func goldenScattered(t *testing.T, db *kv.DB) {
	goldenUpdates(t, db, 100, 100, func(b *kv.Bucket, i int) error {
		n := i * 7919 % 10007
		return b.Put(goldenKey(n), fmt.Appendf(nil, "%032d", n))
	})
}

func goldenHalfDeleted(t *testing.T, db *kv.DB) {
	goldenScattered(t, db)
	goldenUpdates(t, db, 100, 100, func(b *kv.Bucket, i int) error {
		n := i * 104729 % 10007
		if n%2 != 0 {
			return nil
		}
		return b.Delete(goldenKey(n))
	})
}

func goldenLargeValues(t *testing.T, db *kv.DB) {
	goldenUpdates(t, db, 20, 5, func(b *kv.Bucket, i int) error {
		return b.Put(goldenKey(i*37%101), make([]byte, 500*(i%5+1)*(i/5%7+1)))
	})
}

func goldenAllDeleted(t *testing.T, db *kv.DB) {
	goldenOneBatch(t, db)
	goldenUpdates(t, db, 1000, 1, func(b *kv.Bucket, i int) error {
		return b.Delete(goldenKey(7 * i % 1000))
	})
}

func goldenKey(i int) []byte { return fmt.Appendf(nil, "%08d", i) }

// goldenUpdates runs txs transactions of steps steps each, all in bucket "b", numbering the steps from 0 throughout.
func goldenUpdates(t *testing.T, db *kv.DB, txs, steps int, step func(b *kv.Bucket, i int) error) {
	t.Helper()
	for first := 0; first < txs*steps; first += steps {
		err := db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			for i := first; i < first+steps; i++ {
				if err := step(b, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("update from step %d: %v", first, err)
		}
	}
}

// goldenFile runs a workload on a new file and returns the bytes of the file.
func goldenFile(t *testing.T, o kv.Options, run func(*testing.T, *kv.DB)) []byte {
	t.Helper()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("files have the byte order of the machine, and the expected bytes are those of a little-endian one")
	}
	o.NoSync, o.BoltPlacement = true, true
	path := filepath.Join(t.TempDir(), "golden.db")
	db, err := kv.Open(path, 0o600, &o)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestGolden(t *testing.T) {
	for _, v := range goldenVectors {
		for _, list := range []kv.FreelistType{kv.FreelistArrayType, kv.FreelistMapType} {
			if list != kv.FreelistArrayType && !v.anyFor {
				continue
			}
			t.Run(v.name+"/"+string(list), func(t *testing.T) {
				file := goldenFile(t, kv.Options{PageSize: goldenPageSize, FreelistType: list}, v.run)
				if len(file) != v.size {
					t.Errorf("the file is %d bytes long, want %d", len(file), v.size)
				}
				comparePages(t, file, v.sum, filepath.Join("testdata", "golden", v.name+".pages"))
			})
		}
	}
}

// comparePages compares the SHA-256 of a file, and if it differs names the first page that is not as in the table. The
// meta pages come last, for they differ as soon as another page is elsewhere.
func comparePages(t *testing.T, file []byte, sum, table string) {
	t.Helper()
	have := pageTable(file)
	if got := fmt.Sprintf("%x", sha256.Sum256(file)); got == sum {
		if *updatePages {
			if err := os.WriteFile(table, []byte(strings.Join(have, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	t.Error("the file is not the expected one")
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	pages := max(len(have), len(want))
	for i := range pages {
		i = (i + 2) % pages
		if h, w := lineAt(have, i), lineAt(want, i); h != w {
			t.Errorf("first page that differs:\nhave %s\nwant %s", h, w)
			return
		}
	}
	t.Error("the pages are as expected: the difference is in the unused end of the file")
}

// lineAt returns line i, or what stands for one that is missing.
func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return fmt.Sprintf("page %d is unused", i)
}

// pageTable describes each page up to the last that has a byte other than zero.
func pageTable(file []byte) []string {
	var lines []string
	used := bytes.TrimRight(file, "\x00")
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for i := 0; i*goldenPageSize < len(used); i++ {
		page := file[i*goldenPageSize:][:goldenPageSize]
		lines = append(lines, fmt.Sprintf("page %d: %s, sum %08x", i, pageHeader(page), crc32.Checksum(page, castagnoli)))
	}
	return lines
}

// pageHeader describes the header of a page, if it is one, for overflow pages have none.
func pageHeader(page []byte) string {
	id := binary.LittleEndian.Uint64(page)
	flags := binary.LittleEndian.Uint16(page[8:])
	types := map[uint16]string{1: "branch", 2: "leaf", 4: "meta", 16: "freelist"}
	if types[flags] == "" {
		return "no header"
	}
	if types[flags] == "meta" {
		return fmt.Sprintf("id %d, meta, root %d, freelist %d, high water mark %d, txid %d", id,
			binary.LittleEndian.Uint64(page[32:]), binary.LittleEndian.Uint64(page[48:]),
			binary.LittleEndian.Uint64(page[56:]), binary.LittleEndian.Uint64(page[64:]))
	}
	count, overflow := binary.LittleEndian.Uint16(page[10:]), binary.LittleEndian.Uint32(page[12:])
	return fmt.Sprintf("id %d, %s, count %d, overflow %d", id, types[flags], count, overflow)
}

// TestNewFile builds the four pages of a new file from their description.
func TestNewFile(t *testing.T) {
	for _, size := range []int{1024, 4096, 16384, 65536} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			want := make([]byte, 4*size)
			for id := range uint64(2) {
				putMeta(want[int(id)*size:], size, meta{root: 3, freelist: 2, hwm: 4, txid: id})
			}
			putHeader(want[2*size:], 2, 0x10, 0)
			putHeader(want[3*size:], 3, 0x02, 0)
			have := goldenFile(t, kv.Options{PageSize: size}, func(*testing.T, *kv.DB) {})
			diffBytes(t, have, want)
			if size == 4096 {
				checksum(t, have, 0x07516e114689fdee)
				checksum(t, have[size:], 0x264c351a5179480f)
			}
		})
	}
}

// meta holds what varies between meta pages.
type meta struct{ root, freelist, hwm, txid uint64 }

func putHeader(page []byte, id uint64, flags, count uint16) {
	binary.LittleEndian.PutUint64(page, id)
	binary.LittleEndian.PutUint16(page[8:], flags)
	binary.LittleEndian.PutUint16(page[10:], count)
}

func putMeta(page []byte, size int, m meta) {
	putHeader(page, m.txid%2, 0x04, 0)
	binary.LittleEndian.PutUint32(page[16:], 0xED0CDAED)
	binary.LittleEndian.PutUint32(page[20:], 2)
	binary.LittleEndian.PutUint32(page[24:], uint32(size))
	binary.LittleEndian.PutUint64(page[32:], m.root)
	binary.LittleEndian.PutUint64(page[48:], m.freelist)
	binary.LittleEndian.PutUint64(page[56:], m.hwm)
	binary.LittleEndian.PutUint64(page[64:], m.txid)
	sum := fnv.New64a()
	sum.Write(page[16:72])
	binary.LittleEndian.PutUint64(page[72:], sum.Sum64())
}

func checksum(t *testing.T, metaPage []byte, want uint64) {
	t.Helper()
	if got := binary.LittleEndian.Uint64(metaPage[72:]); got != want {
		t.Errorf("checksum %#016x, want %#016x", got, want)
	}
}

// diffBytes compares two files and shows the first 32 bytes from where they differ.
func diffBytes(t *testing.T, have, want []byte) {
	t.Helper()
	if len(have) != len(want) {
		t.Errorf("%d bytes, want %d", len(have), len(want))
	}
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			t.Fatalf("byte %d differs:\nhave % x\nwant % x", i, have[i:min(i+32, len(have))], want[i:min(i+32, len(want))])
		}
	}
}

// workedExample is the state after one transaction that created bucket "b" with "k1" and "k2", by page.
var workedExample = map[int]string{
	0: `
		0000000000000000 0400 0000 00000000   header: id 0, meta
		edda0ced 02000000 00100000 00000000   magic, version 2, page size 4096, flags 0
		0400000000000000 0000000000000000     root page 4, sequence 0
		0500000000000000 0600000000000000     freelist page 5, high water mark 6
		0200000000000000 6e331b2c7a6df9ee     txid 2, checksum`,
	4: `
		0400000000000000 0200 0100 00000000   header: id 4, leaf, count 1
		01000000 10000000 01000000 46000000   bucket, pos 16, ksize 1, vsize 70
		62                                    key "b"
		0000000000000000 0000000000000000     inline, sequence 0
		0000000000000000 0200 0200 00000000   inline page: id 0, leaf, count 2
		00000000 20000000 02000000 02000000   pos 32, ksize 2, vsize 2
		00000000 14000000 02000000 00000000   pos 20, ksize 2, vsize 0
		6b31 7631 6b32                        "k1" "v1" "k2"`,
	5: `
		0500000000000000 1000 0200 00000000   header: id 5, freelist, count 2
		0200000000000000 0300000000000000     pages 2 and 3`,
}

func TestWorkedExample(t *testing.T) {
	want := make([]byte, 32768)
	putMeta(want[1*4096:], 4096, meta{root: 3, freelist: 2, hwm: 4, txid: 1})
	putHeader(want[2*4096:], 2, 0x10, 0)
	putHeader(want[3*4096:], 3, 0x02, 0)
	for id, dump := range workedExample {
		copy(want[id*4096:], parseDump(t, dump))
	}
	have := goldenFile(t, kv.Options{PageSize: 4096}, func(t *testing.T, db *kv.DB) {
		goldenUpdates(t, db, 1, 2, func(b *kv.Bucket, i int) error {
			return b.Put(fmt.Appendf(nil, "k%d", i+1), []byte([]string{"v1", ""}[i]))
		})
	})
	diffBytes(t, have, want)
}

// parseDump returns the bytes of an annotated dump, the notes of which are three blanks or more to the right.
func parseDump(t *testing.T, dump string) []byte {
	t.Helper()
	var all []byte
	for line := range strings.Lines(dump) {
		digits, _, _ := strings.Cut(strings.TrimSpace(line), "   ")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, b...)
	}
	return all
}
