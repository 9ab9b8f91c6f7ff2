// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import "fmt"

// content lists everything a transaction sees: buckets with their sequences
// and pairs, depth first in key order.
func content(tx transaction) []string {
	return appendContent(nil, path{}, tx.Root())
}

func appendContent(lines []string, at path, b bucket) []string {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		var sub bucket
		if v == nil { // a bucket, or a pair stored as nil in this transaction
			sub = b.Bucket(k)
		}
		if sub == nil {
			lines = append(lines, fmt.Sprintf("%v %s = %s", at, show(k), show(v)))
			continue
		}
		lines = append(lines, fmt.Sprintf("%v %s: bucket, sequence %d", at, show(k), sub.Sequence()))
		lines = appendContent(lines, at.child(string(k)), sub)
	}
	return lines
}

// scan notes the elements of a bucket from its start and from its end.
type scan struct{ at path }

func (o scan) String() string { return fmt.Sprintf("scan %v", o.at) }

func (o scan) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		p.notef("%v: %s %s", o, show(k), show(v))
	}
	if p.changed.emptied(o.at) {
		return
	}
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		p.notef("%v: %s %s", o, show(k), show(v))
	}
}
