// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// Revision is a line of the journal: what was the head from some time on.
type Revision struct {
	ID   segment.RecordID
	Time time.Time // in milliseconds; zero if it is not known
}

// parseRevision takes a line apart; many of those that are no good are left by crashes.
func parseRevision(line string) (Revision, bool) {
	fields := strings.Split(line, " ")
	if len(fields) < 2 {
		return Revision{}, false
	}
	id, err := segment.ParseRecordID(fields[0])
	if err != nil {
		return Revision{}, false
	}
	r := Revision{ID: id}
	if len(fields) > 2 {
		r.Time = parseMillis(fields[2])
	}
	return r, true
}

func (r Revision) line() []byte { return fmt.Appendf(nil, "%s root %d\n", r.ID, millis(r.Time)) }

// millis is -1 for a time that is not known.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return t.UnixMilli()
}

func parseMillis(s string) time.Time {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n != -1 {
		return time.UnixMilli(n)
	}
	return time.Time{}
}

// revisions goes through the usable lines of a journal, newest first.
func revisions(l *logFile) iter.Seq2[Revision, error] {
	return func(yield func(Revision, error) bool) {
		for line, err := range l.lines() {
			if err != nil {
				yield(Revision{}, err)
				return
			}
			if r, ok := parseRevision(line); ok && !yield(r, nil) {
				return
			}
		}
	}
}
