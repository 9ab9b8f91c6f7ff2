// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"encoding/json"
	"time"
)

// Info is what a data segment says of itself.
type Info struct {
	Writer string    // init, or sys. or c. (of compaction) and a number
	Serial int64     // how many ids of segments the writing process had made before
	Time   time.Time // when the segment was begun; in milliseconds
}

// Info is the content of the first record.
func (s *Segment) Info() (Info, error) {
	if s.Count() == 0 {
		return Info{}, s.corrupt(0, "no record with the segment's info")
	}
	r := Record{place{s, s.row(0).number(), s.position(s.row(0))}}
	v, err := r.text()
	if err != nil {
		return Info{}, err
	}
	b, ok := v.Bytes()
	var j struct {
		W string `json:"wid"`
		S int64  `json:"sno"`
		T int64  `json:"t"`
	}
	if !ok || json.Unmarshal(b, &j) != nil {
		return Info{}, r.corrupt("no segment info")
	}
	return Info{j.W, j.S, time.UnixMilli(j.T).UTC()}, nil
}
