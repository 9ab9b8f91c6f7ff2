// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// TestRedirect has every pointer of every branch lead to every other page, all of which are sound. Whatever is asked
// then must be answered with the truth or with a *CorruptError, and the bucket with no such pointer must not suffer.
//
// Some of those pages cannot be told from the right one, since their keys are what the branch says they are: older
// copies of it, and pages of another bucket with keys of the same range; pages below it too, where it has two siblings
// that are of different types, as one of them is damaged as well. Then the answer is what the file says.
func TestRedirect(t *testing.T) {
	for name, prefixes := range map[string]map[string]string{
		"apart":       {"left": "x", "right": "y"}, // behind their names
		"overlapping": {"left": "x", "right": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sound, model := redirectable(t, prefixes)
			says := consult(sound, damagedPageSize)
			told, untold, every := 0, 0, uint64(times(3, 1))
			if brief() {
				every = 11
			}
			for at, bucket := range pointers(sound, says) {
				right := binary.NativeEndian.Uint64(sound[at:])
				for to := range uint64(len(sound)/damagedPageSize) + 1 {
					if to == right || (uint64(at/page.ElemSize)+to)%every != 0 {
						continue
					}
					r := newRedirected(t, sound, at, to, bucket, model)
					switch {
					case r.told() && says.used[to] == 0:
						r.read() // it leads from an older page to what is there now: partly what was once true
					case r.told():
						told++
						r.endure()
					case slices.Contains(says.owners[to], bucket) && !pagesBelow(sound, right)[to]:
						r.complain("it fits, but is no older page, none of another bucket, and not below the right one")
					default:
						untold++
						r.read()
					}
				}
			}
			if told == 0 || untold == 0 {
				t.Errorf("%d redirections can be told, %d cannot", told, untold)
			}
		})
	}
}

// redirectable makes a file with two buckets of three levels, whose keys have the given prefixes, and older copies of
// pages among the free ones. It returns what is in the buckets, too.
func redirectable(t *testing.T, prefixes map[string]string) ([]byte, map[string]map[string]string) {
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: damagedPageSize, SyncFreelist: true})
	model := map[string]map[string]string{"left": {}, "right": {}}
	for round := range 4 {
		must(t, db.Update(func(tx *kv.Tx) error {
			for i, name := range []string{"left", "right"} {
				b, err := tx.CreateBucketIfNotExists([]byte(name))
				must(t, err)
				for n := range 36 {
					if round > 0 && n%9 != round {
						continue
					}
					// Keys of one bucket lie between those of the other.
					key := fmt.Sprintf("%s%03d%0100d", prefixes[name], 4*n+2*i, 0)
					model[name][key] = fmt.Sprintf("%s %d %0100d", name, n, round)
					must(t, b.Put([]byte(key), []byte(model[name][key])))
				}
			}
			return nil
		}))
	}
	checkClean(t, db)
	must(t, db.View(func(tx *kv.Tx) error {
		for name := range model {
			if depth := tx.Bucket([]byte(name)).Stats().Depth; depth < 3 {
				t.Errorf("the tree of %q has %d levels", name, depth)
			}
		}
		return nil
	}))
	must(t, db.Close())
	b := readSim(t, disk, simPath)
	return b[:len(bytes.TrimRight(b, "\x00"))/damagedPageSize*damagedPageSize+damagedPageSize], model
}

// pointers finds where the branches of a sound file refer to pages, and whose they are.
func pointers(sound []byte, says *oracle) map[int]string {
	all := map[int]string{}
	for _, at := range references(sound) {
		if id := at / damagedPageSize; pageOf(sound, id).Flags() == page.Branch {
			all[at] = says.owners[uint64(id)][0]
		}
	}
	return all
}

// pagesBelow are the pages under a branch of a sound file.
func pagesBelow(sound []byte, id uint64) map[uint64]bool {
	all := map[uint64]bool{}
	if p := pageOf(sound, int(id)); p.Flags() == page.Branch {
		for i := range p.Count() {
			all[p.Child(i)] = true
			maps.Copy(all, pagesBelow(sound, p.Child(i)))
		}
	}
	return all
}

// redirected is a file with a pointer that leads elsewhere.
type redirected struct {
	patient
	bucket string                       // with the pointer
	model  map[string]map[string]string // what the buckets are to hold
}

func newRedirected(
	t *testing.T, sound []byte, at int, to uint64, bucket string, model map[string]map[string]string,
) *redirected {
	damaged := bytes.Clone(sound)
	binary.NativeEndian.PutUint64(damaged[at:], to)
	what := fmt.Sprintf("page %d, pointer at %d, leads to %d", at/damagedPageSize, at%damagedPageSize, to)
	r := &redirected{patient: *newPatient(t, what, damaged), bucket: bucket, model: map[string]map[string]string{}}
	for name := range model {
		r.model[name] = maps.Clone(model[name])
	}
	return r
}

// told says whether the page that the pointer leads to cannot be the right one.
func (r *redirected) told() bool { return r.says.err != nil || len(r.says.astray) > 0 }

// endure reads the file, writes to it, and reads it again.
func (r *redirected) endure() {
	defer r.guard()()
	r.openAgain()
	r.expectTruth()
	r.write()
	r.expectTruth()
	for name, use := range map[string]func(tx *kv.Tx) error{
		"stats":         func(tx *kv.Tx) error { tx.Bucket([]byte(r.bucket)).Stats(); return nil },
		"delete bucket": func(tx *kv.Tx) error { return tx.DeleteBucket([]byte(r.bucket)) },
	} {
		if !r.corrupt(name, r.db.Update(use)) {
			r.complain("%s: no error", name)
		}
	}
	must(r, r.db.Close())
	r.openAgain() // with nothing known of the pages
	r.expectTruth()
	must(r, r.db.Close())
}

// read demands that the file is read as what its bytes say.
func (r *redirected) read() {
	defer r.guard()()
	r.openAgain()
	r.content()
	for bucket, keys := range r.model {
		for key := range keys {
			var value []byte
			damage := r.corrupt("get", r.db.View(func(tx *kv.Tx) error {
				value = bytes.Clone(tx.Bucket([]byte(bucket)).Get([]byte(key)))
				return nil
			}))
			want, found, ok := r.says.get(bucket, key)
			if damage == ok || !damage && (found != (value != nil) || !bytes.Equal(value, want)) {
				r.complain("get of %.8q in %q finds %.20q, want %.20q, %t, %t", key, bucket, value, want, found, ok)
			}
		}
	}
	must(r, r.db.Close())
}

// openAgain opens the file, with what has been written to it.
func (r *redirected) openAgain() {
	if r.disk == nil {
		r.disk = memoryWith(r, r.file)
	}
	r.db = mustOpenSim(r, r.disk, kv.Options{PageSize: damagedPageSize})
}

// write puts and deletes keys of the bucket with the pointer, each in a transaction of its own. The model learns what
// succeeds.
func (r *redirected) write() {
	for i, key := range slices.Sorted(maps.Keys(r.model[r.bucket])) {
		r.try("put", func(b *kv.Bucket) error { return b.Put([]byte(key), []byte("new")) },
			func(m map[string]string) { m[key] = "new" })
		between := key + "+"
		r.try("put", func(b *kv.Bucket) error { return b.Put([]byte(between), filler(i, 200)) },
			func(m map[string]string) { m[between] = string(filler(i, 200)) })
		if i%3 == 0 {
			r.try("delete", func(b *kv.Bucket) error { return b.Delete([]byte(key)) },
				func(m map[string]string) { delete(m, key) })
		}
	}
}

func (r *redirected) try(what string, change func(b *kv.Bucket) error, done func(m map[string]string)) {
	err := r.db.Update(func(tx *kv.Tx) error { return change(tx.Bucket([]byte(r.bucket))) })
	if !r.corrupt(what, err) {
		done(r.model[r.bucket])
	}
}

// expectTruth demands that all answers are true, or for the bucket with the pointer, errors.
func (r *redirected) expectTruth() {
	for name, want := range r.model {
		r.lookups(name, want)
		r.walks(name, want)
	}
}

// answer asks something of a bucket in a transaction of its own, and says whether there was an answer.
func (r *redirected) answer(what, bucket string, ask func(b *kv.Bucket)) bool {
	return r.answered(what, bucket, r.db.View(func(tx *kv.Tx) error {
		ask(tx.Bucket([]byte(bucket)))
		return nil
	}))
}

// answerBelowNode does so in a write transaction where the root is a node.
func (r *redirected) answerBelowNode(what, bucket string, ask func(b *kv.Bucket)) bool {
	err := r.db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte(bucket))
		must(r, b.SetSequence(1))
		ask(b)
		return errUndo
	})
	if errors.Is(err, errUndo) {
		err = nil
	}
	return r.answered(what+" below a node", bucket, err)
}

var errUndo = errors.New("not to be committed")

func (r *redirected) answered(what, bucket string, err error) bool {
	damage := r.corrupt(what, err)
	if damage && bucket != r.bucket {
		r.complain("%s in %q: %v", what, bucket, err)
	}
	return !damage
}

// lookups asks for every key and for some that are not there.
func (r *redirected) lookups(bucket string, want map[string]string) {
	keys := slices.Sorted(maps.Keys(want))
	asked := append([]string{"", "zzz"}, keys...)
	for _, key := range keys {
		asked = append(asked, key+" ", key[:4])
	}
	for _, key := range asked {
		var value []byte
		get := func(b *kv.Bucket) { value = bytes.Clone(b.Get([]byte(key))) }
		for way, answer := range map[string]func(what, bucket string, ask func(b *kv.Bucket)) bool{
			"get": r.answer, "get below a node": r.answerBelowNode,
		} {
			right, found := want[key]
			if answer("get", bucket, get) && (found != (value != nil) || string(value) != right) {
				r.complain("%s of %.8q in %q finds %.20q, want %.20q, %t", way, key, bucket, value, right, found)
			}
		}
		var at []byte
		i, _ := slices.BinarySearch(keys, key)
		if next := append(keys[i:len(keys):len(keys)], "")[0]; r.answer("seek", bucket, func(b *kv.Bucket) {
			k, _ := b.Cursor().Seek([]byte(key))
			at = bytes.Clone(k)
		}) && string(at) != next {
			r.complain("seek of %.8q in %q finds %.8q, want %.8q", key, bucket, at, next)
		}
	}
}

// walks goes over all elements both ways, in a read transaction and in one that has nodes.
func (r *redirected) walks(bucket string, want map[string]string) {
	for way, walk := range map[string]func(b *kv.Bucket, m map[string]string) (keys []string){
		"forward": func(b *kv.Bucket, m map[string]string) (keys []string) {
			for k, v := range b.All() {
				keys, m[string(k)] = append(keys, string(k)), string(v)
			}
			return keys
		},
		"backward": func(b *kv.Bucket, m map[string]string) (keys []string) {
			for k, v := range b.Backward() {
				keys, m[string(k)] = append(keys, string(k)), string(v)
			}
			slices.Reverse(keys)
			return keys
		},
	} {
		got := map[string]string{}
		var keys []string
		if r.answer(way, bucket, func(b *kv.Bucket) { keys = walk(b, got) }) &&
			(!maps.Equal(got, want) || !slices.IsSorted(keys)) {
			r.complain("%s over %q finds %d keys, want %d, or others", way, bucket, len(keys), len(want))
		}
		clear(got)
		if r.answerBelowNode(way, bucket, func(b *kv.Bucket) { keys = walk(b, got) }) && !maps.Equal(got, want) {
			r.complain("%s in a write transaction, over %q, finds %d keys, want %d, or others", way, bucket, len(got), len(want))
		}
	}
}
