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

// Collection is a line of the journal of garbage collections. Numbers that are not known are -1.
type Collection struct {
	Size       int64 // of the archives afterwards, in bytes
	Reclaimed  int64 // by the cleanup, in bytes
	Time       time.Time
	Generation int32
	Full       int32
	Nodes      int64            // written by the compaction
	Root       segment.RecordID // that it wrote; the zero id if it is not known
}

// parseCollection takes a line apart. Those of seven fields are of the present form; older ones have no full generation.
func parseCollection(line string) Collection {
	fields := strings.Split(line, ",")
	if len(fields) != 7 {
		full := field(fields, 3)
		fields = append(fields[:min(4, len(fields)):min(4, len(fields))], append([]string{full}, rest(fields, 4)...)...)
	}
	c := Collection{
		Size: number(field(fields, 0), 64), Reclaimed: number(field(fields, 1), 64), Time: parseMillis(field(fields, 2)),
		Generation: int32(number(field(fields, 3), 32)), Full: int32(number(field(fields, 4), 32)),
		Nodes: number(field(fields, 5), 64),
	}
	if id, err := segment.ParseRecordID(field(fields, 6)); err == nil {
		c.Root = id
	}
	return c
}

func field(fields []string, i int) string {
	if i >= len(fields) {
		return ""
	}
	return fields[i]
}

func rest(fields []string, i int) []string { return fields[min(i, len(fields)):] }

func number(s string, bits int) int64 {
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		return -1
	}
	return n
}

func (c Collection) line() []byte {
	return fmt.Appendf(nil, "%d,%d,%d,%d,%d,%d,%s\n",
		c.Size, c.Reclaimed, millis(c.Time), c.Generation, c.Full, c.Nodes, c.Root)
}

// collections goes through the lines of a log, newest first.
func collections(l *logFile) iter.Seq2[Collection, error] {
	return func(yield func(Collection, error) bool) {
		for line, err := range l.lines() {
			if line == "" && err == nil {
				continue
			}
			if !yield(parseCollection(line), err) || err != nil {
				return
			}
		}
	}
}
