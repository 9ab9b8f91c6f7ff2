// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// Workers that change a stack at the same time. Each has a cell in which it writes its round, and some append a ticket
// with their number and their round.
const (
	workers = 6
	rounds  = 4
	cell    = 300
	ticket  = 2
)

type work func(s *stack.Stack, worker, round int) error

var works = [workers]work{
	fill, fill, halves, halves, appendTicket, fillAndAppend,
}

func ticketOf(worker, round int) []byte { return []byte{byte(worker), byte(round)} }

// fill writes the whole cell.
func fill(s *stack.Stack, worker, round int) error {
	return s.Set(int64(worker*cell), bytes.Repeat([]byte{byte(round)}, cell))
}

// halves writes the two halves of the cell as two pieces, with a gap that stays.
func halves(s *stack.Stack, worker, round int) error {
	half := bytes.Repeat([]byte{byte(round)}, cell/2-1)
	off := int64(worker * cell)
	return s.SetBatched([]stack.Piece{{Off: off, Data: half}, {Off: off + cell/2, Data: half}})
}

func appendTicket(s *stack.Stack, worker, round int) error {
	_, err := s.Push(ticketOf(worker, round))
	return err
}

func fillAndAppend(s *stack.Stack, worker, round int) error {
	return s.Update(func(u *stack.Unit) error {
		if _, err := u.WriteAt(bytes.Repeat([]byte{byte(round)}, cell), int64(worker*cell)); err != nil {
			return err
		}
		_, err := u.Push(ticketOf(worker, round))
		return err
	})
}

// crew has all workers do their rounds until one fails, and says how many rounds of each were acknowledged.
func crew(s *stack.Stack) (done [workers]int) {
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for round := 1; round <= rounds && works[w](s, w, round) == nil; round++ {
				done[w] = round
			}
		})
	}
	all.Wait()
	return done
}

// crowded makes each sync wait a while for operations to queue, so that they are made in groups.
func crowded(disk file.FS, current *atomic.Pointer[stack.Stack]) file.FS {
	return file.WithSync(disk, func(f file.File) error {
		for range 200 {
			if s := current.Load(); s != nil && s.Queued() >= workers-2 {
				break
			}
			runtime.Gosched()
		}
		return f.SyncData()
	})
}

func crewOn(t *testing.T, disk *file.Crash) (done [workers]int) {
	t.Helper()
	var current atomic.Pointer[stack.Stack]
	s, err := stack.OpenFS(crowded(disk, &current), name, nil)
	check(t, err)
	current.Store(s)
	done = crew(s)
	check(t, s.Close())
	return done
}

// audit makes sure that a payload holds, of each worker, all rounds that were acknowledged, and at most one more.
func audit(t *testing.T, payload []byte, done [workers]int) {
	t.Helper()
	var tickets [workers]int
	for rest := payload[workers*cell:]; len(rest) > 0; rest = rest[ticket:] {
		if len(rest) < ticket || int(rest[0]) >= workers || int(rest[1]) != tickets[rest[0]]+1 {
			t.Fatalf("tickets %x of %x", rest, payload[workers*cell:])
		}
		tickets[rest[0]]++
	}
	for w := range workers {
		found := tickets[w]
		if w != 4 { // has a cell
			own := payload[w*cell : (w+1)*cell]
			if w == 2 || w == 3 {
				own = append(bytes.Clone(own[:cell/2-1]), own[cell/2:cell-1]...)
			}
			if len(bytes.Trim(own, string(own[:1]))) > 0 {
				t.Fatalf("worker %d is half done: %x", w, own)
			}
			if w == 5 && int(own[0]) != found {
				t.Fatalf("worker %d has %d tickets in round %d", w, found, own[0])
			}
			found = int(own[0])
		}
		if found != done[w] && found != done[w]+1 {
			t.Fatalf("worker %d was acknowledged round %d, found is %d", w, done[w], found)
		}
	}
}

func TestCrashOfGroups(t *testing.T) {
	base := diskWith(t, make([]byte, workers*cell))
	whole := base.Clone()
	if done := crewOn(t, whole); done != [workers]int{rounds, rounds, rounds, rounds, rounds, rounds} {
		t.Fatalf("done: %v", done)
	}
	calls := whole.Counts().Ops
	if one := rounds * (5*journal.total + growth.total); whole.Counts().DataSyncs > one*2/3 {
		t.Errorf("%d syncs; one by one they need %d", whole.Counts().DataSyncs, one)
	}
	for k := 1; k <= calls; k++ {
		disk := base.Clone()
		disk.CutAt(k)
		done := crewOn(t, disk)
		fates(disk, 4, func(what string, left *file.Crash) {
			payload, ok := recovered(raw(t, left))
			if !ok {
				t.Fatalf("cut at call %d, %s: not a stack", k, what)
			}
			audit(t, payload, done)
			interrupt(t, left, bytes.Clone(payload), 0)
		})
	}
}
