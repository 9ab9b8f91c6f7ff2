// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package file

// ReadVecAt reads buffer by buffer; an error, io.EOF included, ends it.
func (f *osFile) ReadVecAt(bufs [][]byte, off int64) (int, error) {
	return eachBuffer(f.ReadAt, bufs, off)
}

// WriteVecAt writes buffer by buffer.
func (f *osFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	return eachBuffer(f.WriteAt, bufs, off)
}

// WriteThrough syncs more than it has to.
func (f *osFile) WriteThrough(b []byte, off int64) (int, error) { return writeAndSync(f, b, off) }

func eachBuffer(transfer func([]byte, int64) (int, error), bufs [][]byte, off int64) (int, error) {
	done := 0
	for _, b := range bufs {
		if len(b) == 0 {
			continue
		}
		n, err := transfer(b, off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
