// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/testdata"
)

// demoKV shows the key/value store.
func demoKV(ctx context.Context, d *demo) error {
	etcd := filepath.Join(d.dir, "etcd.db")
	if err := demoEtcd(ctx, d, etcd); err != nil {
		return err
	}
	files := filepath.Join(d.dir, "folder.db")
	if err := demoFolder(ctx, d, files); err != nil {
		return err
	}
	d.suggest("kv", "tree", files, "--depth", "2")
	d.suggest("kv", "export", files, filepath.Join(d.dir, "copy"))
	d.suggest("kv", "page", etcd, "0", "1")
	return nil
}

// demoEtcd looks into a database that etcd wrote.
func demoEtcd(ctx context.Context, d *demo, path string) error {
	d.printf("A database that etcd wrote:")
	if err := d.step("unpack", func() (string, error) { return unpackEtcd(path) }); err != nil {
		return err
	}
	var db *kv.DB
	err := d.step("open", func() (_ string, err error) {
		db, err = kv.OpenContext(ctx, path, 0, &kv.Options{ReadOnly: true})
		return "read-only", err
	})
	if err != nil {
		return err
	}
	err = db.ViewContext(ctx, func(tx *kv.Tx) error {
		return errors.Join(showBuckets(ctx, d, tx), showEtcdKeys(ctx, d, tx), showCheck(ctx, d, tx))
	})
	return errors.Join(err, db.Close())
}

// unpackEtcd writes the database that comes with this program to a file.
func unpackEtcd(path string) (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(testdata.EtcdSmall))
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return "", err
	}
	return text.Size(int64(len(content))) + " to " + path, os.WriteFile(path, content, newFileMode)
}

// showBuckets prints a line for each top-level bucket.
func showBuckets(ctx context.Context, d *demo, tx *kv.Tx) error {
	return d.step("buckets", func() (string, error) {
		g := grower{ctx: ctx, walker: bucket.NewWalker(), depth: 1}
		t, err := g.grow(bucket.Root(tx), nil)
		if err != nil {
			return "", err
		}
		for _, b := range t.Children {
			d.printf("           %-16s %5d keys %10s", b.Name.Text, b.KeyN, text.Size(b.Bytes))
		}
		return fmt.Sprintf("%s, %s, %s", text.Plural(t.BucketN, "bucket"), text.Plural(t.KeyN, "key"), text.Size(t.Bytes)), nil
	})
}

// showEtcdKeys prints the latest entries of etcd's bucket of that name: its keys are revisions, and the keys that people
// gave are at the start of the values.
func showEtcdKeys(ctx context.Context, d *demo, tx *kv.Tx) error {
	const show = 4
	return d.step("keys", func() (string, error) {
		shown := 0
		for revision, value := range tx.Bucket([]byte("key")).Backward() {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if shown == show {
				break
			}
			shown++
			d.printf("           revision %-6s %-24s %10s", etcdRevision(revision), etcdKey(value), text.Size(int64(len(value))))
		}
		return fmt.Sprintf("the latest %d of bucket key, read backwards", shown), nil
	})
}

// etcdRevision reads a key: two big-endian numbers with an underscore between them, and a t where a key was deleted.
func etcdRevision(key []byte) string {
	if len(key) < 17 {
		return text.Auto.Text(key)
	}
	return fmt.Sprintf("%d.%d", binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[9:]))
}

// etcdKey reads the first field of a value, which is a protocol buffer: tag 1 as a string, its length, its bytes.
func etcdKey(value []byte) string {
	const tag = 1<<3 | 2
	if len(value) > 0 && value[0] == tag {
		length, n := binary.Uvarint(value[1:])
		if rest := value[1+max(n, 0):]; n > 0 && length <= uint64(len(rest)) {
			return text.Auto.Text(rest[:length])
		}
	}
	return "?"
}

// showCheck checks the database.
func showCheck(ctx context.Context, d *demo, tx *kv.Tx) error {
	return d.step("check", func() (string, error) {
		for finding := range tx.CheckContext(ctx) {
			return "", finding // the first is enough to end the demo; the transaction ends the check
		}
		return "every page is in order", nil
	})
}
