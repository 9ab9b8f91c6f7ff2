// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// reading reads everything below a node, as long as it has steps left: what is damaged may have no end.
type reading struct {
	steps int // made
	err   error
	digest
}

// digest is what was read, to tell whether it is the same.
type digest struct{ names, values, sum uint64 }

// Bounds of a reading: those of a caller that trusts nobody.
const (
	maxSteps = 20_000
	maxDepth = 50
)

var errEnough = errors.New("enough")

func (r *reading) step() error {
	if r.steps++; r.steps > maxSteps {
		return errEnough
	}
	return nil
}

func (r *reading) add(count *uint64, b []byte) {
	*count++
	for _, c := range b {
		r.sum = (r.sum ^ uint64(c)) * 0x100000001b3
	}
}

// all reads a node and all below it in all ways there are. It returns the first error, but goes on behind it.
func (r *reading) all(n segment.Node) error {
	if err := r.node(n, 0); !errors.Is(err, errEnough) {
		return r.err
	}
	return errors.Join(r.err, errEnough)
}

// note keeps an error, but lets the reading go on unless it is to end.
func (r *reading) note(err error) error {
	if errors.Is(err, errEnough) {
		return err
	}
	if r.err == nil {
		r.err = err
	}
	return nil
}

func (r *reading) node(n segment.Node, depth int) error {
	if depth > maxDepth {
		return errEnough
	}
	stable, err := n.StableID()
	r.add(&r.names, []byte(stable.String()))
	if err := r.note(errors.Join(err, r.step())); err != nil {
		return err
	}
	for _, part := range []func() error{
		func() error { return r.properties(n) },
		func() error { return r.template(n.Template()) },
		func() error { return r.children(n, depth) },
	} {
		if err := r.note(part()); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) properties(n segment.Node) error {
	p := n.Properties()
	for p.Next() {
		r.add(&r.names, p.Name)
		if _, _, err := n.Property(string(p.Name)); r.note(err) != nil {
			return err
		}
		for i := range p.Count() {
			v, err := p.Value(i)
			if err == nil {
				err = r.value(v)
			}
			if err := r.note(errors.Join(err, r.step())); err != nil {
				return err
			}
		}
	}
	_, _, err := n.Property("absent")
	return errors.Join(p.Err(), err)
}

func (r *reading) template(tmpl segment.Template) error {
	_, _, err := tmpl.ChildName()
	for _, special := range []func() (segment.Property, bool){tmpl.PrimaryType, tmpl.Mixins} {
		if p, ok := special(); ok && p.Count() > 0 {
			_, valueErr := p.Value(p.Count() - 1)
			err = errors.Join(err, valueErr)
		}
	}
	return err
}

// value reads the bytes of a value; of a long one, up to a limit in each of the ways.
func (r *reading) value(v segment.Value) error {
	const most = 1 << 20
	if v.IsExternal() {
		id, err := v.BlobID()
		if err != nil {
			return err
		}
		return r.value(id)
	}
	if r.steps += int(min(v.Len(), most) / segment.BlockSize); r.steps > maxSteps {
		return errEnough
	}
	b, err := io.ReadAll(io.LimitReader(v.Reader(), most))
	r.add(&r.values, b)
	if _, textErr := v.Text(most); textErr != nil && !errors.Is(textErr, segment.ErrTooLong) {
		err = errors.Join(err, textErr)
	}
	return err
}

func (r *reading) children(n segment.Node, depth int) error {
	c := n.Children()
	for c.Next() {
		r.add(&r.names, c.Name)
		if _, _, err := n.Child(string(c.Name)); r.note(err) != nil {
			return err
		}
		child, err := c.Node()
		if err == nil {
			err = r.node(child, depth+1)
		}
		if err := r.note(errors.Join(err, r.step())); err != nil {
			return err
		}
	}
	_, _, err := n.Child("absent")
	_, countErr := n.ChildCount()
	return errors.Join(c.Err(), err, countErr)
}

// tools reads what tools read of a segment: every record, as each kind there is, and all below it.
func (r *reading) tools(s *segment.Segment) error {
	if _, err := s.Info(); r.note(err) != nil {
		return err
	}
	for row := range s.Records() {
		if row.Record.Type() != row.Type {
			return fmt.Errorf("record %s has two types", row.ID())
		}
		for _, read := range []func(segment.Row) error{r.links, r.asList, r.asValue, r.asMap, r.asNode} {
			if err := r.note(errors.Join(read(row), r.step())); err != nil {
				return r.err
			}
		}
	}
	return r.err
}

func (r *reading) links(row segment.Row) error {
	_, err := row.Links()
	return err
}

func (r *reading) asList(row segment.Row) error {
	l, err := row.List()
	if err == nil && l.Len() > 0 {
		_, err = l.Entry(l.Len() - 1)
	}
	return err
}

func (r *reading) asValue(row segment.Row) error {
	v, err := row.Value()
	if err != nil {
		return err
	}
	return r.value(v)
}

func (r *reading) asMap(row segment.Row) error {
	m, err := row.Map()
	if err == nil {
		_, _, err = m.Get("name")
	}
	return err
}

func (r *reading) asNode(row segment.Row) error {
	n, err := row.Node()
	if err != nil {
		return err
	}
	return r.node(n, 0)
}

// smallStore has one of each: maps of one and more levels with a diff on top, lists of two levels, long strings and
// binaries, binaries outside, special properties, copies with stable ids of their own, references between segments.
func smallStore(t testing.TB) (*memStore, segment.RecordID) {
	t.Helper()
	b := newBuilder(t)
	b.limit = 24 << 10
	leaf := b.node([]property{{"is", segment.TypeString, []string{"leaf"}}})
	var many []child
	for _, name := range append(propertyNames(40), "é", "\U0001F600") {
		many = append(many, child{name, leaf})
	}
	var collided []child
	for _, name := range collide(34) {
		collided = append(collided, child{name, leaf})
	}
	values := make([]string, 260)
	copy(values, propertyNames(10))
	props := []property{
		{"jcr:primaryType", segment.TypeName, []string{"nt:file"}},
		{"jcr:mixinTypes", segment.TypeNames, []string{"mix:a", "mix:b"}},
		{"array", segment.TypeStrings, values},
		{"none", segment.TypeDates, nil},
		{"one", segment.TypeLongs, []string{"1"}},
		{"text", segment.TypeString, []string{string(randomBytes(17_000))}},
		{"data", segment.TypeBinary, []string{string(randomBytes(17_000))}},
		{"medium", segment.TypeBinary, []string{string(randomBytes(200))}},
	}
	base := b.mapOf(many)
	tmpl := b.template(nil, many)
	diffed := b.nodeOf(tmpl, b.diff("property7", b.node(nil), base))
	external := b.template([]property{{"a", segment.TypeBinary, nil}, {"b", segment.TypeBinaries, nil}}, nil)
	ids := b.array(b.blobID("x"), b.blobID(string(make([]byte, 4096))))
	outside := b.nodeOf(external, b.list([]segment.RecordID{b.blobID("id#5"), ids}))
	stable := b.record(segment.RecordBlock, leaf.Segment.MSB, leaf.Segment.LSB, leaf.Number)
	copied := b.record(segment.RecordNode, stable, b.template(nil, nil))
	var wide []property
	for _, name := range propertyNames(260) {
		wide = append(wide, property{name, segment.TypeBoolean, []string{"true"}})
	}
	root := b.node(props, child{"diff", diffed}, child{"collided", b.node(nil, collided...)}, child{"outside", outside},
		child{"copy", copied}, child{"wide", b.node(wide)}, child{"one", b.node(props[:1], child{"only", leaf})})
	b.flush()
	return b.store, root
}

// store reads all there is below a node, or says why the node cannot be had.
func (r *reading) store(store *memStore, root segment.RecordID) error {
	rec, err := segment.Find(store, root)
	if err != nil {
		return err
	}
	n, err := rec.Node()
	if err != nil {
		return err
	}
	return r.all(n)
}

func TestSmallStore(t *testing.T) {
	store, root := smallStore(t)
	var r reading
	must(t, r.store(store, root))
	if r.names < 500 || r.values < 500 || r.steps > maxSteps/2 {
		t.Errorf("%d names, %d values, %d steps", r.names, r.values, r.steps)
	}
	if n := len(store.raw); n < 3 {
		t.Errorf("%d segments", n)
	}
	for id := range store.raw {
		s, err := store.Segment(id)
		must(t, err)
		for row := range s.Records() {
			_, err := row.Links()
			must(t, err)
		}
		if id.IsData() {
			_, err := s.Info()
			must(t, err)
		}
	}
}

// TestDamage flips bytes of a small store's segments in turn, and reads all. What comes of it is an error that says
// where, or the same or other content; never a panic, nor a reading without end. It flips each byte if HOLT_LONG=1.
func TestDamage(t *testing.T) {
	store, root := smallStore(t)
	var sound reading
	must(t, sound.store(store, root))
	same, other, failed, endless := 0, 0, 0, 0
	for _, id := range slices.SortedFunc(maps.Keys(store.raw), segment.ID.Compare) {
		data := store.raw[id]
		for _, at := range flips(t, store, id) {
			flip := byte(1) << (at * 5 % 8)
			if at%3 == 0 {
				flip = 0xFF
			}
			data[at] ^= flip
			var r reading
			err := r.store(&memStore{raw: store.raw, parsed: map[segment.ID]*segment.Segment{}}, root)
			data[at] ^= flip
			switch {
			case errors.Is(err, errEnough):
				endless++
			case err != nil:
				checkDamageError(t, err)
				failed++
			case r.digest == sound.digest:
				same++
			default:
				other++
			}
		}
	}
	t.Logf("%d the same, %d other content, %d errors, %d without end", same, other, failed, endless)
	if failed < 500 {
		t.Error("hardly anything was noticed")
	}
}

// flips is the positions to damage: those outside of blocks, which have nothing that could be wrong, and some there.
func flips(t *testing.T, store *memStore, id segment.ID) (at []int) {
	t.Helper()
	s, err := store.Segment(id)
	must(t, err)
	block := make([]bool, len(s.Bytes()))
	for i := range block {
		block[i] = id.IsBulk()
	}
	for r := range s.Records() {
		for i := range r.Bytes {
			block[r.Offset()+i] = r.Type == segment.RecordBlock
		}
	}
	for i := range block {
		if long() || block[i] && i%1000 == 0 || !block[i] && i%13 == 0 {
			at = append(at, i)
		}
	}
	return at
}

// checkDamageError demands an error that names a segment.
func checkDamageError(t *testing.T, err error) {
	t.Helper()
	_, missing := errors.AsType[*segment.NotFoundError](err)
	if !missing && !isCorrupt(err) && !errors.Is(err, segment.ErrTooLong) && !errors.Is(err, segment.ErrID) {
		t.Errorf("%v", err)
	}
}

// TestCorruptError names segment, record, offset and reason.
func TestCorruptError(t *testing.T) {
	data := unhex(t, secondHex)
	data[0x9a] = 0xEE // the super-root's child
	store := vectorStore(t)
	id := parseID(t, secondID)
	store.raw[id] = data
	var r reading
	err := r.store(store, segment.RecordID{Segment: id, Number: 8})
	want := fmt.Sprintf("segment %s, record 8, offset 0x98: there is no record %s:%d", id, id, uint32(0xEE000007))
	if err == nil || r.err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
