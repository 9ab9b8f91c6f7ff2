// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// CreateBucket makes an empty bucket under name. Errors: [ErrBucketNameRequired], [ErrBucketExists],
// [ErrIncompatibleValue] if name is a plain key, [ErrTxNotWritable], [ErrTxClosed].
func (b *Bucket) CreateBucket(name []byte) (child *Bucket, err error) {
	if err := b.change(); err != nil {
		return nil, err
	}
	b.logStart("Creating bucket", name)
	child, err = b.create(name)
	b.logEnd("Creating bucket", name, err)
	return child, err
}

// CreateBucketIfNotExists returns the bucket under name, made if there is none. Errors as CreateBucket.
func (b *Bucket) CreateBucketIfNotExists(name []byte) (child *Bucket, err error) {
	if err := b.change(); err != nil {
		return nil, err
	}
	b.logStart("Creating bucket if not exist", name)
	if len(name) != 0 {
		child = b.editable(name)
	}
	if child == nil {
		child, err = b.create(name)
	}
	b.logEnd("Creating bucket if not exist", name, err)
	return child, err
}

func (b *Bucket) create(name []byte) (*Bucket, error) {
	if len(name) == 0 {
		return nil, ErrBucketNameRequired
	}
	w := b.tx.w
	s, value := w.copyKey(name, page.BucketHeader+page.HeaderSize)
	name = w.key(&s)
	if err := b.vacant(name); err != nil {
		return nil, err
	}
	s.ref = slotBucket
	clear(value)
	inline := page.Page(value[page.BucketHeader:])
	inline.PutHeader(0, page.Leaf, 0, 0)
	b.put(name, s)

	child := &Bucket{FillPercent: DefaultFillPercent, tx: b.tx, inline: inline}
	child.edit = &bucketEdit{bucket: child, parent: b, base: s.loc + uint64(s.ksize) + page.BucketHeader}
	b.adopt(name, child)
	return child, nil
}

// vacant says why no bucket can be put under name, if so.
func (b *Bucket) vacant(name []byte) error {
	at := b.find(name)
	if !at.exact {
		return nil
	}
	if flags, _, _ := at.element(b.tx); flags&page.BucketFlag != 0 {
		return ErrBucketExists
	}
	return ErrIncompatibleValue
}

// DeleteBucket deletes the bucket under name with all it holds; handles of it must not be used any more. Errors:
// [ErrBucketNotFound], [ErrIncompatibleValue] if name is a plain key, [ErrTxNotWritable], [ErrTxClosed].
func (b *Bucket) DeleteBucket(name []byte) error {
	if err := b.change(); err != nil {
		return err
	}
	b.logStart("Deleting bucket", name)
	child, err := b.existing(name)
	if err == nil {
		child.freeTree()
		delete(b.edit.children, string(name))
		b.drop(name)
	}
	b.logEnd("Deleting bucket", name, err)
	return err
}

// existing returns the bucket under name, or why there is none.
func (b *Bucket) existing(name []byte) (*Bucket, error) {
	at := b.find(name)
	if !at.exact {
		return nil, ErrBucketNotFound
	}
	if flags, _, _ := at.element(b.tx); flags&page.BucketFlag == 0 {
		return nil, ErrIncompatibleValue
	}
	return b.editable(name), nil
}

// MoveBucket moves the bucket under name into dst, with all that was done to it in this transaction. Errors:
// [ErrBucketNotFound]; [ErrIncompatibleValue] if name is a plain key here or there; [ErrSameBuckets] if dst is this
// bucket, or lies in the moved one; [ErrBucketExists]; [ErrDifferentDB] if dst belongs to another transaction;
// [ErrTxNotWritable], [ErrTxClosed].
func (b *Bucket) MoveBucket(name []byte, dst *Bucket) error {
	if b.tx.db == nil || dst.tx.db == nil {
		return ErrTxClosed
	}
	if !b.tx.Writable() || !dst.tx.Writable() {
		return ErrTxNotWritable
	}
	b.logStart("Moving bucket", name)
	err := b.move(name, dst)
	b.logEnd("Moving bucket", name, err)
	return err
}

func (b *Bucket) move(name []byte, dst *Bucket) error {
	if b.tx != dst.tx {
		return ErrDifferentDB
	}
	child, err := b.existing(name)
	if err != nil {
		return err
	}
	for p := dst; p != nil; p = p.edit.parent {
		if p == child || p == b && p == dst {
			return ErrSameBuckets
		}
	}
	if err := dst.vacant(name); err != nil {
		return err
	}
	n := b.leaf(name)
	i, _ := b.tx.w.search(n, name)
	s := n.slots[i]
	b.dropAt(n, i)
	delete(b.edit.children, string(name))

	dst.put(b.tx.w.key(&s), s)
	child.edit.parent = dst
	dst.adopt(name, child)
	return nil
}
