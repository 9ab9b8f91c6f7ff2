// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxIovecs is IOV_MAX of Linux: the kernel refuses calls with more buffers.
const maxIovecs = 1024

// vec is one preadv or pwritev call. They are pooled because the table of buffers is big and because a function
// passed to RawConn.Control is allocated anew each time unless it is kept, as call is.
type vec struct {
	trap  uintptr // number of the system call
	flags uintptr // of those that take any
	one   [1][]byte
	iov   [maxIovecs]unix.Iovec
	used  int // entries of iov in use
	off   int64
	n     int
	errno unix.Errno
	call  func(fd uintptr) // v.do
}

var vecs = sync.Pool{New: func() any {
	v := new(vec)
	v.call = v.do
	return v
}}

func (f *osFile) ReadVecAt(bufs [][]byte, off int64) (int, error) {
	v := vecs.Get().(*vec)
	defer vecs.Put(v)
	v.trap, v.flags = unix.SYS_PREADV, 0
	return f.transfer(v, "preadv", bufs, off)
}

func (f *osFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	v := vecs.Get().(*vec)
	defer vecs.Put(v)
	v.trap, v.flags = unix.SYS_PWRITEV, 0
	n, err := f.transfer(v, "pwritev", bufs, off)
	return n, f.written(off, n, err)
}

// WriteThrough has the kernel write back the range alone.
func (f *osFile) WriteThrough(b []byte, off int64) (int, error) {
	v := vecs.Get().(*vec)
	defer vecs.Put(v)
	v.trap, v.flags, v.one[0] = unix.SYS_PWRITEV2, unix.RWF_DSYNC, b
	n, err := f.transfer(v, "pwritev2", v.one[:], off)
	v.one[0] = nil
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		return writeAndSync(f, b, off) // an old kernel, or a file system that cannot
	}
	return n, f.written(off, n, err)
}

// transfer moves all of bufs, in as many calls as the kernel's limits and its short counts make necessary.
func (f *osFile) transfer(v *vec, op string, bufs [][]byte, off int64) (int, error) {
	done, skip := 0, 0 // skip: how much of bufs[0] is done
	for {
		if v.fill(bufs, skip); v.used == 0 {
			return done, nil
		}
		v.off = off + int64(done)
		cerr := f.raw.Control(v.call)
		v.release()
		switch {
		case cerr != nil:
			return done, f.pathError(op, fs.ErrClosed)
		case v.errno != 0:
			return done, f.pathError(op, v.errno)
		case v.n == 0 && v.trap == unix.SYS_PREADV:
			return done, io.EOF
		case v.n == 0:
			return done, f.pathError(op, io.ErrShortWrite)
		}
		done += v.n
		bufs, skip = advance(bufs, skip+v.n)
	}
}

// advance drops the first n bytes of bufs: it returns the rest and how much of its first buffer is done.
func advance(bufs [][]byte, n int) ([][]byte, int) {
	for len(bufs) > 0 && n >= len(bufs[0]) {
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	return bufs, n
}

// fill enters as many of bufs as fit, without the first skip bytes and without empty buffers.
func (v *vec) fill(bufs [][]byte, skip int) {
	v.used = 0
	for _, b := range bufs {
		if v.used == maxIovecs {
			return
		}
		b, skip = b[skip:], 0
		if len(b) == 0 {
			continue
		}
		v.iov[v.used].Base = unsafe.SliceData(b)
		v.iov[v.used].SetLen(len(b))
		v.used++
	}
}

// release lets go of the buffers, which the pool would otherwise keep alive.
func (v *vec) release() { clear(v.iov[:v.used]) }

func (v *vec) do(fd uintptr) {
	lo, hi := splitOffset(v.off)
	for {
		n, _, errno := unix.Syscall6(v.trap, fd, uintptr(unsafe.Pointer(&v.iov[0])), uintptr(v.used), lo, hi, v.flags)
		v.n, v.errno = int(n), errno
		if errno != unix.EINTR {
			return
		}
	}
}

// splitOffset makes the two words of which the kernel composes an offset. On 64-bit machines the first holds it all.
func splitOffset(off int64) (lo, hi uintptr) {
	const longBits = 8 * unix.SizeofLong
	return uintptr(off), uintptr(uint64(off) >> (longBits / 2) >> (longBits / 2))
}
