// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

var unjournaled = &stack.Options{NoSync: true, NoJournal: true}

// Without syncs and journals every mutation does the same. No write is for a journal, and nothing is left behind.
func TestNoJournal(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			disk := diskWith(t, m.before())
			fault := file.NewFault(disk)
			fault.FailIf(func(op file.Op) error { // which sees all calls
				if op.Kind == file.OpWrite || op.Kind == file.OpWriteVec {
					if h := raw(t, disk)[16:headerSize]; !bytes.Equal(h, zeros[:16]) {
						t.Errorf("a journal is armed: %x", h)
					}
				}
				return nil
			})
			s := open(t, fault, unjournaled)
			want, result := m.want(m.before())
			got, err := m.run(s)
			check(t, err)
			if fmt.Sprint(got) != fmt.Sprint(result) {
				t.Errorf("result %v, want %v", got, result)
			}
			holds(t, s, want)
			rests(t, disk, want)
			check(t, s.Close())
			rests(t, disk, want)
			if c := disk.Counts(); c.DataSyncs != 0 {
				t.Errorf("%d syncs", c.DataSyncs)
			}
		})
	}
}

// With syncs there is a journal, whatever the option says.
func TestNoJournalNeedsNoSync(t *testing.T) {
	disk := diskWith(t, text(600, 0))
	s := open(t, disk, &stack.Options{NoJournal: true})
	was := disk.Counts().DataSyncs
	check(t, s.Set(0, text(300, 1)))
	check(t, s.Close())
	if n := disk.Counts().DataSyncs - was; n != journal.total {
		t.Errorf("%d syncs, want %d", n, journal.total)
	}
}

// Each call of a mutation fails in turn, or all from it on. Either nothing has happened, or the handle refuses
// everything.
func TestNoJournalFaults(t *testing.T) {
	for _, m := range mutations {
		for _, f := range failures {
			t.Run(m.name+"/"+f.name, func(t *testing.T) {
				for k, failed := 1, true; failed; k++ {
					disk := diskWith(t, m.before())
					fault := file.NewFault(disk)
					s := open(t, fault, unjournaled)
					inject(fault, f.short, f.rule(k))
					_, err := m.run(s)
					failed = len(fault.Injected()) > 0
					fault.FailIf(nil)
					got, readErr := s.Peek(0)
					after := m.after(m.before())
					switch {
					case errors.Is(err, stack.ErrFailed):
						_, again := s.Push(text(1, 1))
						refused(t, again, stack.ErrFailed)
						if readErr == nil && !bytes.Equal(got, m.before()) {
							t.Errorf("call %d failed: reading %x", k, got)
						}
					case err != nil:
						refused(t, err, file.ErrInjected)
						same(t, got, m.before())
					default:
						same(t, got, after)
					}
					check(t, s.Close())
					open, err := stack.OpenFS(disk, name, nil) // whatever it holds, it is a stack
					check(t, err)
					check(t, open.Close())
				}
			})
		}
	}
}
