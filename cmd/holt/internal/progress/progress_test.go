// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func width(n int) func() int { return func() int { return n } }

func TestNotOnATerminal(t *testing.T) {
	var buf bytes.Buffer
	b := New(&buf, "nothing", 10)
	if b != nil {
		t.Fatal("a bar in a buffer")
	}
	b.Add(1)
	b.Done()
	b.Done()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close() //nolint:errcheck // only looked at
	if New(null, "nothing", 10) != nil {
		t.Error("a bar on the null device")
	}
	if buf.Len() > 0 {
		t.Errorf("wrote %q", buf.String())
	}
}

func TestShortTaskShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		b := begin(&buf, "short", 10, nil, width(80))
		time.Sleep(delay - time.Millisecond)
		b.Done()
		if buf.Len() > 0 {
			t.Errorf("wrote %q", buf.String())
		}
	})
}

func TestLongTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		b := begin(&buf, "long", 10, nil, width(61))
		b.Add(5)
		time.Sleep(delay + interval/2)
		synctest.Wait()
		if got, want := buf.String(), fmt.Sprintf("\r%-60s", "long [####################....................]  50%  1s"); got != want {
			t.Errorf("after a second: %q, want %q", got, want)
		}
		buf.Reset()
		b.Add(5)
		time.Sleep(interval)
		synctest.Wait()
		if got := buf.String(); !strings.Contains(got, "100%") || strings.Contains(got, ".") {
			t.Errorf("when all is done: %q", got)
		}
		buf.Reset()
		b.Done()
		b.Done()
		blank := "\r" + strings.Repeat(" ", 60) + "\r"
		if got := buf.String(); got != blank {
			t.Errorf("the bar is not wiped out: %q", got)
		}
		time.Sleep(time.Minute)
		if got := buf.String(); got != blank {
			t.Errorf("it goes on after the end: %q", got)
		}
	})
}

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		b := begin(&buf, "polled", 4, func() int64 { return 1 }, width(80))
		time.Sleep(delay + interval/2)
		synctest.Wait()
		b.Done()
		if !strings.Contains(buf.String(), " 25%") {
			t.Errorf("%q", buf.String())
		}
	})
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		total, done int64
		width       int
		want        string
	}{
		{0, 0, 80, "counting  1s"},
		{0, 42, 80, "counting: 42  1s"},
		{0, 42, 10, "counting: "},
		{100, 10, 40, "counting [##..................]  10%  1s"},
		{100, 900, 30, "counting [##########] 100%  1s"},
		{100, 10, 20, "counting  10%  1s"},
		{100, 10, 5, "count"},
		{100, 10, 0, ""},
		{100, 10, -1, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &Bar{what: "counting", total: c.total, start: time.Now().Add(-time.Second)}
			b.Add(c.done)
			got := b.line(c.width)
			if c.width > 0 && utf8.RuneCountInString(got) > c.width {
				t.Errorf("%q is wider than %d", got, c.width)
			}
			if got != c.want {
				t.Errorf("%d of %d in %d columns: %q, want %q", c.done, c.total, c.width, got, c.want)
			}
		})
	}
}
