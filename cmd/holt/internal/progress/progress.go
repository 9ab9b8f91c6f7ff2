// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package progress shows on a terminal how far a long task is.
//
// A [Bar] appears when its task has taken a second, and is gone without a trace when the task is done. Where the output
// is no terminal nothing is written at all.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	delay    = time.Second            // a task shorter than that needs no bar
	interval = 100 * time.Millisecond // between two updates
)

// Bar shows how far one task is. The methods of a nil Bar do nothing; Add may be called from any goroutine.
type Bar struct {
	w     io.Writer
	width func() int
	what  string
	total int64 // 0 when it is not known
	done  atomic.Int64
	poll  func() int64 // nil, or what to ask for the state of the task

	start time.Time
	once  sync.Once
	stop  chan struct{}
	ended chan struct{}
}

// New begins to show a task on w, which may turn out to be no terminal. total is the amount of work, counted in whatever
// is then given to Add; 0 when it is not known.
func New(w io.Writer, what string, total int64) *Bar {
	return Poll(w, what, total, nil)
}

// Poll is New for a task that cannot call Add: now tells how much is done, and is called from another goroutine.
func Poll(w io.Writer, what string, total int64, now func() int64) *Bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return begin(w, what, total, now, func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	})
}

func begin(w io.Writer, what string, total int64, now func() int64, width func() int) *Bar {
	b := &Bar{
		w: w, width: width, what: what, total: total, poll: now,
		start: time.Now(), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go b.run()
	return b
}

// Add says that n more of the total are done.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.done.Add(n)
	}
}

// Done ends the task and wipes the bar out. It may be called again.
func (b *Bar) Done() {
	if b != nil {
		b.once.Do(func() { close(b.stop) })
		<-b.ended
	}
}

func (b *Bar) run() {
	defer close(b.ended)
	select {
	case <-b.stop:
		return
	case <-time.After(delay):
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		b.draw()
		select {
		case <-b.stop:
			b.wipe()
			return
		case <-tick.C:
		}
	}
}

// draw fills the line but for its last column, which would make some terminals begin another. Blanks do what an escape
// sequence could, where nobody switched those on.
func (b *Bar) draw() {
	room := b.width() - 1
	fmt.Fprintf(b.w, "\r%-*s", room, b.line(room))
}

func (b *Bar) wipe() { fmt.Fprintf(b.w, "\r%*s\r", b.width()-1, "") }

// line is the picture of the state, at most width characters wide.
func (b *Bar) line(width int) string {
	done := b.done.Load()
	if b.poll != nil {
		done = b.poll()
	}
	elapsed := time.Since(b.start).Round(time.Second)
	if b.total <= 0 {
		if done > 0 {
			return fit(fmt.Sprintf("%s: %d  %s", b.what, done, elapsed), width)
		}
		return fit(fmt.Sprintf("%s  %s", b.what, elapsed), width)
	}
	share := min(max(float64(done)/float64(b.total), 0), 1)
	text := fmt.Sprintf(" %3.0f%%  %s", 100*share, elapsed)
	room := min(width-utf8.RuneCountInString(b.what)-len(text)-len(" []"), 40)
	if room < 5 {
		return fit(b.what+text, width)
	}
	full := int(share * float64(room))
	return b.what + " [" + strings.Repeat("#", full) + strings.Repeat(".", room-full) + "]" + text
}

func fit(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:max(width, 0)])
	}
	return s
}
