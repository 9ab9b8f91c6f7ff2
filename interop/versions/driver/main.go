// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Command driver writes, lists and checks database files with the release of
// bbolt it was built with. It uses only what every release since 1.3.2 has.
//
//	driver version
//	driver apply [-page-size N] [-no-freelist-sync] FILE <SCRIPT
//	driver dump FILE
//	driver check FILE
//
// A script has one command on a line; paths are hex names joined by slashes,
// keys and values are hex, and an empty one is a dash:
//
//	bucket PATH           create a bucket
//	drop PATH             delete a bucket
//	put PATH KEY VALUE
//	delete PATH KEY
//	sequence PATH NUMBER
//	commit                end the transaction and begin another
//
// A dump has the line "bucket PATH SEQUENCE" for each bucket, followed by a
// line "pair PATH KEY VALUE" for each of its pairs and by its sub-buckets, in
// key order.
package main

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("no command")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	pageSize := flags.Int("page-size", 0, "page size of a new file")
	noFreelistSync := flags.Bool("no-freelist-sync", false, "do not store the free list")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if args[0] == "version" {
		return printVersion(stdout)
	}
	db, err := bolt.Open(flags.Arg(0), 0o600, &bolt.Options{PageSize: *pageSize, NoFreelistSync: *noFreelistSync})
	if err != nil {
		return err
	}
	db.NoSync = true
	switch args[0] {
	case "apply":
		err = apply(db, stdin)
	case "dump":
		err = dump(db, stdout)
	case "check":
		err = check(db)
	default:
		err = fmt.Errorf("no command %q", args[0])
	}
	if closing := db.Close(); err == nil {
		err = closing
	}
	return err
}

// printVersion prints the version of bbolt that was linked in.
func printVersion(w io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("built without module information")
	}
	for _, dep := range info.Deps {
		if dep.Path == "go.etcd.io/bbolt" {
			fmt.Fprintln(w, dep.Version)
			return nil
		}
	}
	return fmt.Errorf("built without bbolt")
}

// apply runs a script.
func apply(db *bolt.DB, script io.Reader) error {
	in := bufio.NewScanner(script)
	in.Buffer(nil, 16<<20)
	more := true
	for more {
		err := db.Update(func(tx *bolt.Tx) error {
			for {
				if more = in.Scan(); !more {
					return in.Err()
				}
				if in.Text() == "commit" {
					return nil
				}
				if err := command(tx, strings.Fields(in.Text())); err != nil {
					return fmt.Errorf("%.100s: %w", in.Text(), err)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// command runs one line of a script.
func command(tx *bolt.Tx, words []string) error {
	at, err := path(words[1])
	if err != nil {
		return err
	}
	last := at[len(at)-1]
	args, err := decode(words[2:])
	if err != nil && words[0] != "sequence" {
		return err
	}
	switch words[0] {
	case "bucket":
		if len(at) == 1 {
			_, err = tx.CreateBucket(last)
		} else {
			_, err = find(tx, at[:len(at)-1]).CreateBucket(last)
		}
	case "drop":
		if len(at) == 1 {
			err = tx.DeleteBucket(last)
		} else {
			err = find(tx, at[:len(at)-1]).DeleteBucket(last)
		}
	case "put":
		err = find(tx, at).Put(args[0], args[1])
	case "delete":
		err = find(tx, at).Delete(args[0])
	case "sequence":
		var n uint64
		if n, err = strconv.ParseUint(words[2], 10, 64); err == nil {
			err = find(tx, at).SetSequence(n)
		}
	default:
		err = fmt.Errorf("no such command")
	}
	return err
}

func find(tx *bolt.Tx, at [][]byte) *bolt.Bucket {
	b := tx.Bucket(at[0])
	for _, name := range at[1:] {
		b = b.Bucket(name)
	}
	return b
}

// path decodes the name of a bucket and of those around it.
func path(s string) ([][]byte, error) {
	return decode(strings.Split(s, "/"))
}

func decode(words []string) ([][]byte, error) {
	out := make([][]byte, len(words))
	for i, w := range words {
		b, err := hex.DecodeString(strings.TrimPrefix(w, "-"))
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

// dump lists all buckets and pairs.
func dump(db *bolt.DB, stdout io.Writer) error {
	w := bufio.NewWriter(stdout)
	err := db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return dumpBucket(w, hex.EncodeToString(name), b)
		})
	})
	if flushing := w.Flush(); err == nil {
		err = flushing
	}
	return err
}

func dumpBucket(w io.Writer, at string, b *bolt.Bucket) error {
	fmt.Fprintf(w, "bucket %s %d\n", at, b.Sequence())
	err := b.ForEach(func(k, v []byte) error {
		if v != nil {
			fmt.Fprintf(w, "pair %s %s %s\n", at, word(k), word(v))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.ForEach(func(k, v []byte) error {
		if v != nil {
			return nil
		}
		return dumpBucket(w, at+"/"+hex.EncodeToString(k), b.Bucket(k))
	})
}

func word(b []byte) string {
	if len(b) == 0 {
		return "-"
	}
	return hex.EncodeToString(b)
}

// check runs the consistency check and fails with what it finds.
func check(db *bolt.DB) error {
	return db.View(func(tx *bolt.Tx) error {
		var findings []string
		for err := range tx.Check() {
			findings = append(findings, err.Error())
		}
		if len(findings) > 0 {
			return fmt.Errorf("%s", strings.Join(findings, "\n"))
		}
		return nil
	})
}
