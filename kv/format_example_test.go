// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestFormatExample holds the annotated dump of FORMAT.md against a file that is made as it says.
func TestFormatExample(t *testing.T) {
	want := documentedExample(t)
	have := writtenExample(t)
	if len(have) != len(want) {
		t.Errorf("the file has %d bytes, the example %d", len(have), len(want))
	}
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			t.Errorf("byte %d of the file is %02x, of the example %02x", i, have[i], want[i])
		}
	}
}

// TestFormatExampleReads opens the bytes of FORMAT.md as a database.
func TestFormatExampleReads(t *testing.T) {
	checkExample(t, documentedExample(t))
}

// TestFormatReserved writes something into every byte of the example that a reader is to ignore.
func TestFormatReserved(t *testing.T) {
	order := binary.NativeEndian
	for name, edit := range map[string]func(b []byte){
		"behind the meta records": func(b []byte) { scribble(b[80:4096], b[4096+80:8192]) },
		"flags of the metas": func(b []byte) {
			for _, m := range [][]byte{b[:4096], b[4096:8192]} {
				scribble(m[28:32])
				order.PutUint64(m[72:80], fnv1a(m[16:72]))
			}
		},
		"counts of the metas":        func(b []byte) { scribble(b[10:16], b[4096+10:4096+16]) },
		"free pages":                 func(b []byte) { scribble(b[8192:16384]) },
		"behind the elements":        func(b []byte) { scribble(b[16487:20480]) },
		"behind the ids":             func(b []byte) { scribble(b[20512:24576]) },
		"behind the high water mark": func(b []byte) { scribble(b[24576:]) },
		"upper flags of a leaf":      func(b []byte) { order.PutUint32(b[16400:], 0xFFFFFFFF) },
		"flags of an inline element": func(b []byte) { order.PutUint32(b[16449:], 0xFFFFFFFE) },
		"id of an inline page":       func(b []byte) { scribble(b[16433:16441]) },
		"overflow of an inline page": func(b []byte) { scribble(b[16445:16449]) },
		"order of the free list":     func(b []byte) { b[20496], b[20504] = 3, 2 },
		"meta pages in other places": func(b []byte) { swapMetas(b) },
		"a meta page torn":           func(b []byte) { scribble(b[4096+40 : 4096+80]) },
		"a gap before the first key": func(b []byte) { moveBody(b) },
	} {
		t.Run(name, func(t *testing.T) {
			b := documentedExample(t)
			edit(b)
			checkExample(t, b)
		})
	}
}

// swapMetas exchanges the two meta records, so that neither lies where its txid would put it.
func swapMetas(b []byte) {
	one := bytes.Clone(b[16:80])
	copy(b[16:80], b[4096+16:4096+80])
	copy(b[4096+16:4096+80], one)
}

// moveBody moves key and value of the only element of page 4 away from the table.
func moveBody(b []byte) {
	body := bytes.Clone(b[16416:16487])
	scribble(b[16416:16487])
	copy(b[16516:], body)
	b[16404] = 116
}

func scribble(parts ...[]byte) {
	for _, p := range parts {
		for i := range p {
			p[i] = 0xA5
		}
	}
}

// exampleBlock is the dump in FORMAT.md, and exampleLine one line of it.
var (
	exampleBlock  = regexp.MustCompile("(?s)\n## An example\n.*?\n```\n(.*?)```\n")
	exampleLength = regexp.MustCompile(`(?s)\n## An example\n.*?\blength (\d+)`)
	exampleLine   = regexp.MustCompile(`^(\d+)-(\d+): x ([0-9a-f]+) +# \S.*$`)
)

// documentedExample returns the bytes of the dump; those not in it are 0.
func documentedExample(t *testing.T) []byte {
	t.Helper()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the example in FORMAT.md is of a machine with little endian byte order")
	}
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	block, length := exampleBlock.FindSubmatch(text), exampleLength.FindSubmatch(text)
	if block == nil || length == nil {
		t.Fatal("FORMAT.md has no example, or does not say how long it is")
	}
	size, err := strconv.Atoi(string(length[1]))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	end := 0
	for line := range strings.Lines(string(block[1])) {
		if !strings.HasPrefix(line, "# ") {
			end = putDumpLine(t, b, end, strings.TrimSpace(line))
		}
	}
	return b
}

// putDumpLine puts the bytes of a line in their place: at end, or at the start of a page behind it.
func putDumpLine(t *testing.T, b []byte, end int, line string) (newEnd int) {
	t.Helper()
	m := exampleLine.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("%q is no line of a dump", line)
	}
	from, err1 := strconv.Atoi(m[1])
	to, err2 := strconv.Atoi(m[2])
	data, err3 := hex.DecodeString(m[3])
	if err1 != nil || err2 != nil || err3 != nil || from < end || from > end && from%4096 != 0 || to > len(b) || to-from != len(data) {
		t.Fatalf("%q: not at %d or a later page, or not as many bytes as it says", line, end)
	}
	copy(b[from:to], data)
	return to
}

// writtenExample returns the file that the example describes.
func writtenExample(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "example.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: 4096, BoltPlacement: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		if err := b.Put([]byte("k1"), []byte("v1")); err != nil {
			return err
		}
		return b.Put([]byte("k2"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkExample demands that data is a sound database with the pairs of the example, to read and to write.
func checkExample(t *testing.T, data []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "example.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*kv.Options{{ReadOnly: true}, {}, {}} {
		db, err := kv.Open(path, 0o600, o)
		if err != nil {
			t.Fatal(err)
		}
		err = db.View(func(tx *kv.Tx) error {
			checkExampleTx(t, tx)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if !o.ReadOnly {
			err := db.Update(func(tx *kv.Tx) error { return tx.Bucket([]byte("b")).Put([]byte("k2"), nil) })
			if err != nil {
				t.Error(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func checkExampleTx(t *testing.T, tx *kv.Tx) {
	t.Helper()
	for err := range tx.Check() {
		t.Error("check:", err)
	}
	b := tx.Bucket([]byte("b"))
	if b == nil {
		t.Error("bucket b is not there")
		return
	}
	var pairs []string
	err := b.ForEach(func(k, v []byte) error {
		pairs = append(pairs, string(k)+"="+string(v))
		return nil
	})
	if got := strings.Join(pairs, " "); err != nil || got != "k1=v1 k2=" {
		t.Errorf("bucket b holds %q, error %v", got, err)
	}
}
