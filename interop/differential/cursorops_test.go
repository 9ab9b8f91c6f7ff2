// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"strings"
)

// walk moves a new cursor about.
type walk struct {
	at    path
	moves []cursorMove
}

// A cursorMove repeats one call of the cursor.
type cursorMove struct {
	call  string
	key   string // of Seek
	times int
}

func (m cursorMove) String() string {
	if m.call == "Seek" {
		return "Seek " + show([]byte(m.key))
	}
	return fmt.Sprintf("%s×%d", m.call, m.times)
}

func (o walk) String() string {
	calls := make([]string, len(o.moves))
	for i, m := range o.moves {
		calls[i] = m.String()
	}
	return fmt.Sprintf("walk %v: %s", o.at, strings.Join(calls, ", "))
}

func (o walk) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	w := walker{player: p, cursor: b.Cursor(), tx: tx, at: o.at, stale: p.changed.at(o.at)}
	if len(o.at) == 0 {
		w.cursor = tx.Cursor()
	}
	for _, m := range o.moves {
		for range m.times {
			w.step(m)
		}
	}
}

// A walker moves one cursor and leaves out the moves whose outcome the engines
// do not share.
type walker struct {
	*player
	cursor cursor
	tx     transaction
	at     path

	placed bool // the cursor has been positioned
	beyond bool // and found nothing there
	stale  bool // the bucket was changed before the cursor was last positioned
	holed  bool // it deleted since it was positioned
	lost   bool // the engines disagree where it is: only positioning it again helps
}

func (w *walker) step(m cursorMove) {
	switch m.call {
	case "First":
		w.place(m, w.cursor.First)
	case "Last":
		w.place(m, w.cursor.Last)
	case "Seek":
		w.place(m, func() ([]byte, []byte) { return w.cursor.Seek([]byte(m.key)) })
	case "Next":
		w.move(m, w.cursor.Next)
	case "Prev":
		w.move(m, w.cursor.Prev)
	case "Delete":
		w.delete(m)
	}
}

func (w *walker) place(m cursorMove, call func() (k, v []byte)) {
	w.placed, w.holed, w.lost = true, false, false
	w.stale = w.changed.at(w.at)
	k, v := call()
	w.beyond = k == nil
	w.notef("%v: %s %s", m, show(k), show(v))
}

func (w *walker) move(m cursorMove, call func() (k, v []byte)) {
	if w.lost || m.call == "Prev" && w.changed.emptied(w.at) {
		return
	}
	k, v := call()
	w.beyond = w.beyond && k == nil
	w.notef("%v: %s %s", m, show(k), show(v))
	switch {
	case k != nil:
	case m.call == "Prev":
		w.lost = w.holed // bbolt positions it again, now on what is left
	default:
		w.lost = w.changed.emptied(w.at) // bbolt ends in an empty leaf
	}
}

func (w *walker) delete(m cursorMove) {
	if !w.placed || w.lost {
		return
	}
	if w.beyond && w.sameFiles {
		return // it deletes nothing, but bbolt rewrites the page it looked at
	}
	w.noteErr(m, w.cursor.Delete())
	w.deletion(w.tx, w.at)
	w.holed = true
	w.lost = w.stale
}
