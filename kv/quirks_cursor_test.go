// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// keyValue is an element of a leaf.
type keyValue struct{ key, value string }

// leafModel is one leaf of a bucket during a write transaction.
type leafModel struct {
	from    string     // the lowest key that belongs here; of the first leaf, the empty one
	page    []keyValue // as it was when the transaction began
	live    []keyValue // as it is
	touched bool       // changed since
}

// find returns the place of key in the live leaf, or where it would be.
func (l *leafModel) find(key string) (int, bool) {
	return slices.BinarySearchFunc(l.live, key, func(p keyValue, key string) int { return compareStrings(p.key, key) })
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// treeModel is a bucket as the leaves of its tree. Their bounds stay the same until the commit.
type treeModel []leafModel

func (m treeModel) leafOf(key string) int {
	return max(sort.Search(len(m), func(i int) bool { return m[i].from > key })-1, 0)
}

func (m treeModel) put(key, value string) {
	l := &m[m.leafOf(key)]
	l.touched = true
	i, found := l.find(key)
	if !found {
		l.live = slices.Insert(l.live, i, keyValue{})
	}
	l.live[i] = keyValue{key, value}
}

func (m treeModel) drop(key string) {
	l := &m[m.leafOf(key)]
	if i, found := l.find(key); found {
		l.touched = true
		l.live = slices.Delete(l.live, i, i+1)
	}
}

// modelCursor is what a cursor is to be like. In a leaf that was not touched when it came there, it stands at an index of
// the old page whatever happens to the leaf. Otherwise it stands on a key of the live leaf, be it deleted meanwhile, or
// behind all of its keys, the last of which it remembers.
type modelCursor struct {
	leaf   int // -1 nowhere
	old    bool
	index  int
	key    string
	behind bool
}

func (m treeModel) stand(c *modelCursor, index int) {
	l := &m[c.leaf]
	c.index = index
	if c.old {
		return
	}
	c.behind = index >= len(l.live)
	switch {
	case !c.behind:
		c.key = l.live[index].key
	case index > 0:
		c.key = l.live[index-1].key
	default:
		c.key = ""
	}
}

// enter goes to a leaf and says how many elements it has.
func (m treeModel) enter(c *modelCursor, leaf int) int {
	*c = modelCursor{leaf: leaf, old: !m[leaf].touched}
	if c.old {
		return len(m[leaf].page)
	}
	return len(m[leaf].live)
}

// current is the element the cursor stands on.
func (m treeModel) current(c *modelCursor) keyValue {
	l := &m[c.leaf]
	if c.old {
		return l.page[c.index]
	}
	i, _ := l.find(c.key)
	return l.live[i]
}

// onward goes to the first element of the next leaf that has one, backward to the last of the one before. If there is
// none the cursor stays.
func (m treeModel) onward(c *modelCursor) (keyValue, bool) {
	for leaf := c.leaf + 1; leaf < len(m); leaf++ {
		next := *c
		if m.enter(&next, leaf) > 0 {
			m.stand(&next, 0)
			*c = next
			return m.current(c), true
		}
	}
	return keyValue{}, false
}

func (m treeModel) backward(c *modelCursor) (keyValue, bool) {
	for leaf := c.leaf - 1; leaf >= 0; leaf-- {
		next := *c
		if n := m.enter(&next, leaf); n > 0 {
			m.stand(&next, n-1)
			*c = next
			return m.current(c), true
		}
	}
	return keyValue{}, false
}

func (m treeModel) first(c *modelCursor) (keyValue, bool) {
	n := m.enter(c, 0)
	m.stand(c, 0)
	if n == 0 {
		return m.onward(c)
	}
	return m.current(c), true
}

func (m treeModel) last(c *modelCursor) (keyValue, bool) {
	n := m.enter(c, len(m)-1)
	m.stand(c, max(n-1, 0))
	if n == 0 {
		return m.backward(c)
	}
	return m.current(c), true
}

func (m treeModel) seek(c *modelCursor, key string) (keyValue, bool) {
	n := m.enter(c, m.leafOf(key))
	list := m[c.leaf].live
	if c.old {
		list = m[c.leaf].page
	}
	m.stand(c, sort.Search(n, func(i int) bool { return list[i].key >= key }))
	if c.index >= n {
		return m.onward(c)
	}
	return m.current(c), true
}

func (m treeModel) next(c *modelCursor) (keyValue, bool) {
	switch {
	case c.leaf < 0:
		return keyValue{}, false
	case c.old && c.index+1 < len(m[c.leaf].page):
		m.stand(c, c.index+1)
		return m.current(c), true
	case c.old:
		return m.onward(c)
	}
	l := &m[c.leaf]
	if i := sort.Search(len(l.live), func(i int) bool { return l.live[i].key > c.key }); i < len(l.live) {
		m.stand(c, i)
		return m.current(c), true
	}
	return m.onward(c)
}

func (m treeModel) prev(c *modelCursor) (keyValue, bool) {
	if c.leaf < 0 {
		return keyValue{}, false
	}
	before := c.index
	if !c.old {
		l := &m[c.leaf]
		before = sort.Search(len(l.live), func(i int) bool {
			return l.live[i].key > c.key || l.live[i].key == c.key && !c.behind
		})
	}
	if before == 0 {
		return m.backward(c)
	}
	m.stand(c, before-1)
	return m.current(c), true
}

func (m treeModel) remove(c *modelCursor) {
	switch {
	case c.leaf < 0:
	case c.old && c.index < len(m[c.leaf].page):
		m.drop(m[c.leaf].page[c.index].key)
	case !c.old && !c.behind:
		m.drop(c.key)
	}
}

// readTree makes the model of bucket "b" from the bytes of the file.
func readTree(image []byte, root uint64, inline []keyValue) (m treeModel) {
	if root == 0 {
		return treeModel{{page: inline, live: slices.Clone(inline)}}
	}
	var visit func(id uint64, from string)
	visit = func(id uint64, from string) {
		p := reportPage(image, id)
		if !isBranch(p) {
			l := leafModel{from: from}
			for i := range p.Count() {
				_, key, value, _ := p.LeafElem(i)
				l.page = append(l.page, keyValue{string(key), string(value)})
			}
			l.live = slices.Clone(l.page)
			m = append(m, l)
			return
		}
		for i := range p.Count() {
			if key, _ := p.BranchKey(i); i > 0 {
				from = string(key)
			}
			visit(p.Child(i), from)
		}
	}
	visit(root, "")
	return m
}

// cursorKey makes keys so long that few fit a page, and with them trees of several levels.
func cursorKey(i int) string { return fmt.Sprintf("%04d%0120d", i, 0) }

// TestCursorsWhileChanging compares cursors with their model while the bucket changes under them, and through them.
func TestCursorsWhileChanging(t *testing.T) {
	rapid.Check(t, cursorsWhileChanging)
}

func FuzzCursorsWhileChanging(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(cursorsWhileChanging))
}

func cursorsWhileChanging(t *rapid.T) {
	const space = 150
	disk := file.NewMemory()
	db, err := kv.OpenFS(disk, simPath, 0o600, &kv.Options{PageSize: reportPageSize})
	failIf(t, err)
	var inline []keyValue
	initial := drawKeys(t, space)
	failIf(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		failIf(t, err)
		b.FillPercent = rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(t, "fill")
		for _, i := range initial {
			p := keyValue{cursorKey(i), "first"}
			inline = append(inline, p)
			failIf(t, b.Put([]byte(p.key), []byte(p.value)))
		}
		return nil
	}))
	image := readImage(t, disk)
	tx, err := db.Begin(true)
	failIf(t, err)
	b := tx.Bucket([]byte("b"))
	m := readTree(image, uint64(b.Root()), inline)

	cursors := make([]*kv.Cursor, 3)
	models := make([]modelCursor, len(cursors))
	for i := range cursors {
		cursors[i], models[i] = b.Cursor(), modelCursor{leaf: -1}
	}
	anyKey := func(t *rapid.T) string { return cursorKey(rapid.IntRange(-1, space).Draw(t, "key")) }
	move := func(name string, real func(*kv.Cursor) ([]byte, []byte), want func(*modelCursor) (keyValue, bool)) func(*rapid.T) {
		return func(t *rapid.T) {
			i := rapid.IntRange(0, len(cursors)-1).Draw(t, "cursor")
			k, v := real(cursors[i])
			p, ok := want(&models[i])
			if (k != nil) != ok || string(k) != p.key || string(v) != p.value {
				t.Fatalf("%s is %.4q, %q, want %.4q, %q", name, k, v, p.key, p.value)
			}
		}
	}
	changes := 0
	t.Repeat(map[string]func(*rapid.T){
		"First": move("First", (*kv.Cursor).First, m.first),
		"Last":  move("Last", (*kv.Cursor).Last, m.last),
		"Next":  move("Next", (*kv.Cursor).Next, m.next),
		"Next again": func(t *rapid.T) {
			for range rapid.IntRange(1, 20).Draw(t, "times") {
				move("Next", (*kv.Cursor).Next, m.next)(t)
			}
		},
		"Prev": move("Prev", (*kv.Cursor).Prev, m.prev),
		"Seek": func(t *rapid.T) {
			key := anyKey(t)
			move("Seek",
				func(c *kv.Cursor) ([]byte, []byte) { return c.Seek([]byte(key)) },
				func(c *modelCursor) (keyValue, bool) { return m.seek(c, key) })(t)
		},
		"Cursor.Delete": func(t *rapid.T) {
			i := rapid.IntRange(0, len(cursors)-1).Draw(t, "cursor")
			failIf(t, cursors[i].Delete())
			m.remove(&models[i])
		},
		"copy": func(t *rapid.T) {
			i, j := rapid.IntRange(0, len(cursors)-1).Draw(t, "to"), rapid.IntRange(0, len(cursors)-1).Draw(t, "from")
			twin := *cursors[j]
			cursors[i], models[i] = &twin, models[j]
		},
		"Put": func(t *rapid.T) {
			key := anyKey(t)
			changes++
			value := fmt.Sprint(changes)
			failIf(t, b.Put([]byte(key), []byte(value)))
			m.put(key, value)
		},
		"Delete": func(t *rapid.T) {
			key := anyKey(t)
			failIf(t, b.Delete([]byte(key)))
			m.drop(key)
		},
		"": func(t *rapid.T) {
			var want []string
			for i := range m {
				for _, p := range m[i].live {
					want = append(want, p.key)
				}
			}
			if got := keysOf(b); !slices.Equal(got, want) {
				t.Fatalf("the bucket has %.4q, want %.4q", got, want)
			}
		},
	})
	failIf(t, tx.Commit())
	failIf(t, db.View(func(tx *kv.Tx) error { return checked(tx) }))
	failIf(t, db.Close())
}

// drawKeys draws some of the numbers below space, ascending: about half of those below a bound that is drawn too.
func drawKeys(t *rapid.T, space int) (keys []int) {
	end := rapid.IntRange(0, space).Draw(t, "end of the initial keys")
	for i, has := range rapid.SliceOfN(rapid.Bool(), end, end).Draw(t, "initial keys") {
		if has {
			keys = append(keys, i)
		}
	}
	return keys
}

func failIf(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readImage is readSim for properties.
func readImage(t *rapid.T, disk file.FS) []byte {
	t.Helper()
	f, err := disk.OpenFile(simPath, 0, 0)
	failIf(t, err)
	size, err := f.Size()
	failIf(t, err)
	image := make([]byte, size)
	_, err = f.ReadAt(image, 0)
	failIf(t, err)
	failIf(t, f.Close())
	return image
}

// TestScansNeitherSkipNorRepeat says the same of a scan in either direction without looking at leaves: it meets every
// key that is there all the time, each key once, in order, and none that never was.
func TestScansNeitherSkipNorRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const space = 120
		db, err := kv.OpenFS(file.NewMemory(), simPath, 0o600, &kv.Options{PageSize: reportPageSize})
		failIf(t, err)
		initial := drawKeys(t, space)
		always, ever := map[string]bool{}, map[string]bool{}
		put := func(b *kv.Bucket, i int) {
			failIf(t, b.Put([]byte(cursorKey(i)), nil))
			ever[cursorKey(i)] = true
		}
		fill := func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			failIf(t, err)
			for _, i := range initial {
				put(b, i)
				always[cursorKey(i)] = true
			}
			return nil
		}
		if rapid.Bool().Draw(t, "committed before") {
			failIf(t, db.Update(fill))
		}
		failIf(t, db.Update(func(tx *kv.Tx) error {
			failIf(t, fill(tx))
			b := tx.Bucket([]byte("b"))
			del := func(key string) { delete(always, key) }
			c := b.Cursor()
			start, step, order := (*kv.Cursor).First, (*kv.Cursor).Next, -1
			if rapid.Bool().Draw(t, "backward") {
				start, step, order = (*kv.Cursor).Last, (*kv.Cursor).Prev, 1
			}
			last := ""
			met := map[string]bool{}
			for k, _ := start(c); k != nil; k, _ = step(c) {
				if !ever[string(k)] {
					t.Fatalf("met %.4q, which never was", k)
				}
				if last != "" && compareStrings(last, string(k)) != order {
					t.Fatalf("met %.4q after %.4q", k, last)
				}
				last = string(k)
				met[last] = true
				for range rapid.IntRange(0, 3).Draw(t, "changes") {
					i := rapid.IntRange(0, space-1).Draw(t, "key")
					switch rapid.SampledFrom([]string{"put", "delete", "delete here"}).Draw(t, "change") {
					case "put":
						put(b, i)
					case "delete":
						failIf(t, b.Delete([]byte(cursorKey(i))))
						del(cursorKey(i))
					default:
						failIf(t, c.Delete())
						del(last)
					}
				}
			}
			for key := range always {
				if !met[key] {
					t.Fatalf("skipped %.4q", key)
				}
			}
			return nil
		}))
		failIf(t, db.View(func(tx *kv.Tx) error { return checked(tx) }))
		failIf(t, db.Close())
	})
}

// TestCursorKeepsToUntouchedLeaf is what callers may depend on: a cursor in a leaf that had not been changed goes on over
// the leaf as it was.
func TestCursorKeepsToUntouchedLeaf(t *testing.T) {
	db, _ := openMemory(t, nil)
	must(t, db.Update(putNumbered("b", 10, 8)))
	must(t, db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("b"))
		c := b.Cursor()
		c.First()
		must(t, b.Put(numbered(3), []byte("changed")))
		must(t, b.Put(numbered(20), []byte("new")))
		for i := range 10 {
			if i > 0 {
				k, v := c.Next()
				if string(k) != string(numbered(i)) || len(v) != 8 {
					t.Errorf("Next is %q, %q, want the old value of %q", k, v, numbered(i))
				}
			}
			must(t, c.Delete())
		}
		if k, _ := c.Next(); k != nil {
			t.Errorf("Next at the end is %q", k)
		}
		for i := 8; i >= 0; i-- {
			if k, _ := c.Prev(); string(k) != string(numbered(i)) {
				t.Errorf("Prev is %q, want %q, deleted or not", k, numbered(i))
			}
		}
		if got := keysOf(b); !slices.Equal(got, []string{string(numbered(20))}) {
			t.Errorf("left: %q", got)
		}
		return nil
	}))
}
