// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// kinds is a set of types of records: what a record that is to be written may refer to, by the record tables. What is
// referred to as something else could be written, and not be read.
type kinds uint16

const (
	isNode     kinds = 1 << RecordNode
	isMap      kinds = 1<<RecordLeaf | 1<<RecordBranch
	isText     kinds = 1 << RecordValue
	isValue    kinds = isText | 1<<RecordBlobID | 1<<RecordList
	isBlock    kinds = 1 << RecordBlock
	isBucket   kinds = 1 << RecordBucket
	isTemplate kinds = 1 << RecordTemplate

	isItem = isValue | isBlock | isBucket // of a list: what of it, the list does not know
)

func (k kinds) has(t RecordType) bool { return k>>(t&15)&1 != 0 }

// referred is what records of a type refer to, again and again. Of nodes, and of maps that differ in one entry, it depends
// on more.
var referred = [...][]kinds{
	RecordLeaf:     {isText, isNode},
	RecordBranch:   {isMap},
	RecordBucket:   {isItem},
	RecordList:     {isItem},
	RecordValue:    {isItem},
	RecordBlock:    nil,
	RecordTemplate: {isText | isBucket},
	RecordNode:     nil,
	RecordBlobID:   {isText},
}

// kindOf is the type of a record, if it is there. Those of a bulk segment are blocks.
func (s *Segment) kindOf(number uint32) (RecordType, bool) {
	if s.id.IsBulk() {
		return RecordBlock, number >= s.shift && number < MaxSize
	}
	i, ok := s.index(number)
	if !ok {
		return 0, false
	}
	return s.row(i).kind(), true
}
