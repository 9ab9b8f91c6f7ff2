// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// ErrInjected is what the errors of a [Fault] are, in the sense of [errors.Is].
var ErrInjected = errors.New("file: injected fault")

// FaultError is the error of a call that a [Fault] made fail.
type FaultError struct {
	Op  Op
	Err error // what the rule returned
}

func (e *FaultError) Error() string { return fmt.Sprintf("%v: %v", e.Op, e.Err) }

// Unwrap returns both ErrInjected and the rule's error.
func (e *FaultError) Unwrap() []error { return []error{ErrInjected, e.Err} }

// OpKind names a method of [FS], [File] or [Mapping].
type OpKind string

// The calls that can fail.
const (
	OpOpen     OpKind = "open"
	OpStat     OpKind = "stat" // FS.Stat, File.Stat and File.Size
	OpRename   OpKind = "rename"
	OpChtimes  OpKind = "chtimes"
	OpRemove   OpKind = "remove"
	OpSyncDir  OpKind = "syncdir"
	OpReadDir  OpKind = "readdir" // Subdirs too
	OpMkdir    OpKind = "mkdir"
	OpRead     OpKind = "read"
	OpReadVec  OpKind = "readv"
	OpWrite    OpKind = "write"
	OpWriteVec OpKind = "writev"
	OpThrough  OpKind = "through"
	OpTruncate OpKind = "truncate"
	OpPunch    OpKind = "punch"
	OpSync     OpKind = "sync"
	OpSyncData OpKind = "syncdata"
	OpMap      OpKind = "map"
	OpUnmap    OpKind = "unmap"
	OpMlock    OpKind = "mlock"
	OpMunlock  OpKind = "munlock"
	OpLock     OpKind = "lock"
	OpUnlock   OpKind = "unlock"
	OpClose    OpKind = "close"
)

// Op is one call.
type Op struct {
	N    int // 1 for the first call under the present rule
	Kind OpKind
	Name string // of the file; the old name of a rename
	Off  int64  // reads, writes and punches: where
	Len  int64  // reads, writes, punches, maps and mlocks: how much; truncates: the new length
}

func (op Op) String() string {
	return fmt.Sprintf("call %d, %s %s at %d, length %d", op.N, op.Kind, op.Name, op.Off, op.Len)
}

// Fault is a file system whose calls fail when a rule says so, and otherwise do what those of the wrapped one do. It is
// meant for tests that demand good conduct whichever call fails: they make the first fail, then the second, and so on
// until a run ends with nothing [Fault.Injected].
//
// A failing call has no effect, except that Close closes and that writes may begin (see [Fault.ShortWrites]). In
// particular a failing Unmap leaves the mapping as it was.
type Fault struct {
	under FS

	mu       sync.Mutex
	rule     func(Op) error // nil: nothing fails; guarded by mu
	calls    int            // under this rule; guarded by mu
	injected []Op           // under this rule; guarded by mu
	short    int            // guarded by mu
}

// NewFault wraps a file system. Nothing fails until a rule is set.
func NewFault(under FS) *Fault { return &Fault{under: under} }

// FailIf sets the rule: a call fails when it returns an error, which the call's error then wraps. It must not use the
// file system itself. Setting a rule begins the counts anew; nil lets everything pass.
func (f *Fault) FailIf(rule func(Op) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule, f.calls, f.injected = rule, 0, nil
}

// FailAt makes the k-th call from now on fail, and no other.
func (f *Fault) FailAt(k int) {
	f.FailIf(func(op Op) error { return injectIf(op.N == k) })
}

// FailFrom makes the k-th call from now on fail, and all that follow.
func (f *Fault) FailFrom(k int) {
	f.FailIf(func(op Op) error { return injectIf(op.N >= k) })
}

// FailRandomly makes each call fail with probability p, as seed decides.
func (f *Fault) FailRandomly(p float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	f.FailIf(func(Op) error { return injectIf(r.Float64() < p) })
}

func injectIf(yes bool) error {
	if yes {
		return ErrInjected
	}
	return nil
}

// ShortWrites makes each failing write write up to n bytes before it fails, but never all, unless it is a WriteThrough.
func (f *Fault) ShortWrites(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.short = n
}

// Calls returns how many calls there were under the present rule.
func (f *Fault) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Injected returns the calls that failed under the present rule by its doing.
func (f *Fault) Injected() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.injected)
}

// check counts a call and returns the error with which it has to fail.
func (f *Fault) check(op Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	op.N = f.calls
	if f.rule == nil {
		return nil
	}
	err := f.rule(op)
	if err == nil {
		return nil
	}
	f.injected = append(f.injected, op)
	return &FaultError{Op: op, Err: err}
}

// shortened returns how many bytes of a failing write of n are to be written.
func (f *Fault) shortened(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, min(f.short, n-1))
}

// OpenFile opens a file whose calls can fail too.
func (f *Fault) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := f.check(Op{Kind: OpOpen, Name: name}); err != nil {
		return nil, err
	}
	under, err := f.under.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{under: under, fault: f}, nil
}

// Stat describes name.
func (f *Fault) Stat(name string) (fs.FileInfo, error) {
	if err := f.check(Op{Kind: OpStat, Name: name}); err != nil {
		return nil, err
	}
	return f.under.Stat(name)
}

// SameFile compares what Stat returned. It cannot fail.
func (f *Fault) SameFile(a, b fs.FileInfo) bool { return f.under.SameFile(a, b) }

// Rename moves a file.
func (f *Fault) Rename(oldName, newName string) error {
	if err := f.check(Op{Kind: OpRename, Name: oldName}); err != nil {
		return err
	}
	return f.under.Rename(oldName, newName)
}

// Chtimes sets the time when a file was last modified.
func (f *Fault) Chtimes(name string, modified time.Time) error {
	if err := f.check(Op{Kind: OpChtimes, Name: name}); err != nil {
		return err
	}
	return f.under.Chtimes(name, modified)
}

// Remove removes a file.
func (f *Fault) Remove(name string) error {
	if err := f.check(Op{Kind: OpRemove, Name: name}); err != nil {
		return err
	}
	return f.under.Remove(name)
}

// SyncDir makes the names of a directory durable.
func (f *Fault) SyncDir(dir string) error {
	if err := f.check(Op{Kind: OpSyncDir, Name: dir}); err != nil {
		return err
	}
	return f.under.SyncDir(dir)
}

// ReadDir lists a directory.
func (f *Fault) ReadDir(dir string) ([]string, error) {
	if err := f.check(Op{Kind: OpReadDir, Name: dir}); err != nil {
		return nil, err
	}
	return f.under.ReadDir(dir)
}

// Subdirs lists the directories in a directory.
func (f *Fault) Subdirs(dir string) ([]string, error) {
	if err := f.check(Op{Kind: OpReadDir, Name: dir}); err != nil {
		return nil, err
	}
	return f.under.Subdirs(dir)
}

// MkdirAll makes a directory.
func (f *Fault) MkdirAll(dir string, perm fs.FileMode) error {
	if err := f.check(Op{Kind: OpMkdir, Name: dir}); err != nil {
		return err
	}
	return f.under.MkdirAll(dir, perm)
}
