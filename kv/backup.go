// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unsafe"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv/internal/page"
)

// backupChunk is the number of bytes that a backup reads and writes at a time.
const backupChunk = 1 << 20

// WriteTo writes the database as the transaction sees it to w: a file of [Tx.Size] bytes that can be opened. The
// database may be in use meanwhile. What a write transaction has changed is not included.
//
// If Tx.WriteFlag is not zero the file is opened anew with it, syscall.O_DIRECT say, so that a large backup does not
// displace other data from the page cache. If there is another file now under its path, or none that can be opened so,
// that is logged and the backup made without it.
func (tx *Tx) WriteTo(w io.Writer) (n int64, err error) {
	return tx.WriteToContext(context.Background(), w)
}

// WriteToContext is WriteTo that ends with ctx.
func (tx *Tx) WriteToContext(ctx context.Context, w io.Writer) (n int64, err error) {
	if tx.db == nil {
		return 0, ErrTxClosed
	}
	if err := tx.complete(); err != nil {
		return 0, err
	}
	f := tx.db.file
	if tx.WriteFlag != 0 {
		again, openErr := tx.db.reopen(tx.path, tx.WriteFlag)
		if openErr != nil {
			tx.db.logger.Warningf("backup of %s without flags %#x: %v", tx.path, tx.WriteFlag, openErr)
		} else {
			defer func() { err = errors.Join(err, again.Close()) }()
			f = again
		}
	}
	out := counter{w: w}
	if err := tx.writeMetas(&out); err != nil {
		return out.n, err
	}
	err = tx.writePages(ctx, &out, f)
	return out.n, err
}

// Copy writes the database as the transaction sees it to w.
//
// Deprecated: use WriteTo.
func (tx *Tx) Copy(w io.Writer) error {
	_, err := tx.WriteTo(w)
	return err
}

// CopyFile writes the database as the transaction sees it to a file, which is made or overwritten. It is not synced.
func (tx *Tx) CopyFile(path string, mode os.FileMode) error {
	if tx.db == nil {
		return ErrTxClosed
	}
	if same, err := tx.db.sameFile(path); err == nil && same {
		return fmt.Errorf("kv: %s would be copied onto itself: %s", tx.path, path)
	}
	f, err := tx.db.openPath(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = tx.WriteTo(&appender{f: f})
	return errors.Join(err, f.Close())
}

// writeMetas writes the two meta pages. The one that is not in use differs by its transaction alone, so that each can
// do without the other.
func (tx *Tx) writeMetas(w io.Writer) error {
	buf := page.Page(make([]byte, tx.pageSize))
	meta := tx.meta
	for id := range uint64(2) {
		page.PutMeta(buf, meta)
		buf.SetID(id)
		if _, err := w.Write(buf); err != nil {
			return fmt.Errorf("meta %d copy: %w", id, err)
		}
		meta.TxID = max(meta.TxID, 1) - 1
	}
	return nil
}

// writePages copies all other pages from f.
func (tx *Tx) writePages(ctx context.Context, w io.Writer, f io.ReaderAt) error {
	end := tx.Size()
	buf := alignedBuffer(min(end, max(backupChunk/int64(tx.pageSize), 1)*int64(tx.pageSize)))
	for off := 2 * int64(tx.pageSize); off < end; off += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = buf[:min(int64(len(buf)), end-off)]
		if n, err := f.ReadAt(buf, off); n < len(buf) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("kv: reading %s at %d: %w", tx.path, off+int64(n), err)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// alignedBuffer returns n bytes that start where a file opened with O_DIRECT can be read to.
func alignedBuffer(n int64) []byte {
	const align = 4096
	buf := make([]byte, n+align)
	skip := int64(-uintptr(unsafe.Pointer(&buf[0])) & (align - 1))
	return buf[skip : skip+n]
}

// reopen opens the database's file for reading once more, with additional flags.
func (db *DB) reopen(path string, flags int) (file.File, error) {
	f, err := db.openPath(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var own fs.FileInfo
		if own, err = db.stat(); err == nil && !db.fs.SameFile(own, info) {
			err = errors.New("there is another file under its path")
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sameFile says whether path is the database's file.
func (db *DB) sameFile(path string) (bool, error) {
	info, err := db.fs.Stat(path)
	if err != nil {
		return false, err
	}
	own, err := db.stat()
	if err != nil {
		return false, err
	}
	return db.fs.SameFile(own, info), nil
}

// counter counts the bytes that are written to w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// appender writes to a file from its beginning on.
type appender struct {
	f   io.WriterAt
	off int64
}

func (a *appender) Write(p []byte) (int, error) {
	n, err := a.f.WriteAt(p, a.off)
	a.off += int64(n)
	return n, err
}
