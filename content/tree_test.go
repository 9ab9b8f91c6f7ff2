// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// tree is what a node should be. Trees do not change: who alters one makes another, which shares what is the same.
type tree struct {
	props map[string]property
	kids  map[string]*tree
	from  *tree // of which it is an altered copy, or nil
}

// property is a type and the text of values; of binaries, their bytes, or the id of each if they are kept outside.
type property struct {
	typ     segment.Type
	values  []string
	outside bool
}

// outsideText is the binary of an id.
func outsideText(id string) string { return "the bytes of " + id }

// blobs finds a binary for every id.
type blobs struct{}

func (blobs) Open(id string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(outsideText(id))), nil
}
func (blobs) Digest(string) (sum [32]byte, length int64, ok bool) { return sum, 0, false }

// Sizes around those at which something is stored in another way.
var (
	textSizes    = []int{0, 1, 5, 126, 127, 128, 129, 4095, 4096, 4097, 16_511, 16_512, 16_513, 20_481}
	hugeSizes    = []int{262_143, 262_144, 262_145, 262_144 + 4096, 524_288 + 1}
	listSizes    = []int{0, 1, 2, 3, 254, 255, 256, 257}
	childCounts  = []int{0, 0, 0, 1, 1, 2, 3, 31, 32, 33, 34, 70}
	oddNames     = []string{"a", "b", "jcr:content", "é", "\U0001F600", "\uFFFD", "x y", ":hidden", "..", "\t", "ÿ\uE000"}
	textPatterns = []string{"x", "abc", "é", "\U0001F600"}
)

// collision is the n-th of many names of one hash.
func collision(n int) string {
	var b strings.Builder
	for i := range 7 {
		b.WriteString([]string{"Aa", "BB"}[n>>i&1])
	}
	return b.String()
}

// pick draws one of several things.
func pick[T any](t *rapid.T, list []T, what string) T { return rapid.SampledFrom(list).Draw(t, what) }

// chance draws true once in n times.
func chance(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

// drawText is text of one of the sizes.
func drawText(t *rapid.T) string {
	size := pick(t, textSizes, "size")
	if chance(t, 60, "huge") {
		size = pick(t, hugeSizes, "huge size")
	}
	pattern := pick(t, textPatterns, "pattern")
	b := strings.Repeat(pattern, size/len(pattern))
	return b + strings.Repeat("-", size-len(b))
}

func drawValue(t *rapid.T, typ segment.Type) string {
	switch typ {
	case segment.TypeLong:
		return fmt.Sprint(rapid.Int64().Draw(t, "long"))
	case segment.TypeDouble:
		return segment.FormatDouble(rapid.Float64().Draw(t, "double"))
	case segment.TypeBoolean:
		return fmt.Sprint(rapid.Bool().Draw(t, "boolean"))
	case segment.TypeDecimal:
		return fmt.Sprintf("%d.%02dE+3", rapid.Int32().Draw(t, "decimal"), rapid.IntRange(0, 99).Draw(t, "fraction"))
	}
	return drawText(t)
}

func drawProperty(t *rapid.T) property {
	typ := segment.Type(rapid.IntRange(1, 12).Draw(t, "type"))
	p := property{typ: typ, outside: typ == segment.TypeBinary && rapid.Bool().Draw(t, "outside")}
	if rapid.Bool().Draw(t, "single") {
		p.values = []string{drawValue(t, typ)}
		return p
	}
	p.typ = -typ
	few := []string{drawValue(t, typ), drawValue(t, typ)}
	count := pick(t, listSizes, "values")
	if long() && chance(t, 100, "many values") {
		count = pick(t, []int{65_024, 65_025, 65_026}, "many")
	}
	for i := range count {
		value := few[i%2]
		if i > 1 && len(value) > 128 {
			value = value[:128] // in one of the pieces of a pattern; so arrays do not become too long
			value = strings.ToValidUTF8(value, "")
		}
		p.values = append(p.values, value)
	}
	return p
}

// drawTree is a tree with so many levels at most.
func drawTree(t *rapid.T, levels int) *tree {
	n := &tree{props: map[string]property{}, kids: map[string]*tree{}}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(oddNames), 0, 5, rapid.ID).Draw(t, "names") {
		n.props[name] = drawProperty(t)
	}
	n.drawSpecial(t)
	if chance(t, 12, "many properties") {
		for i := range pick(t, []int{17, 254, 256, 300}, "properties") {
			n.props[fmt.Sprint("p", i)] = property{typ: segment.TypeLong, values: []string{fmt.Sprint(i)}}
		}
	}
	if levels == 0 {
		return n
	}
	n.drawChildren(t, levels-1, pick(t, childCounts, "children"))
	return n
}

// drawSpecial draws the properties that templates hold: of the usual types, or of others.
func (n *tree) drawSpecial(t *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(t, "special") {
	case 1:
		n.props["jcr:primaryType"] = drawProperty(t)
		n.props["jcr:mixinTypes"] = drawProperty(t)
	case 2, 3:
		n.props["jcr:primaryType"] = property{typ: segment.TypeName, values: []string{"nt:file"}}
	case 4:
		n.props["jcr:primaryType"] = property{typ: segment.TypeName, values: []string{"nt:folder"}}
		n.props["jcr:mixinTypes"] = property{typ: segment.TypeNames, values: []string{"mix:a", "mix:b"}[:rapid.IntRange(0, 2).Draw(t, "mixins")]}
	}
}

// drawChildren adds children. Beyond the first few they are all one node.
func (n *tree) drawChildren(t *rapid.T, levels, count int) {
	collide := rapid.Bool().Draw(t, "colliding names")
	shared := drawTree(t, 0)
	for i := range count {
		name := fmt.Sprintf("%s%d", oddNames[i%len(oddNames)], i)
		if collide {
			name = collision(i)
		}
		if n.kids[name] = shared; i < 2 {
			n.kids[name] = drawTree(t, levels)
		}
	}
}

// drawChange is the tree with something else in it.
func (n *tree) drawChange(t *rapid.T) *tree {
	c := &tree{maps.Clone(n.props), maps.Clone(n.kids), n}
	names := slices.Sorted(maps.Keys(n.kids))
	if len(names) > 0 && !chance(t, 3, "here") {
		name := pick(t, names, "child")
		c.kids[name] = n.kids[name].drawChange(t)
		return c
	}
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		c.props[pick(t, oddNames, "property")] = drawProperty(t)
	case 1:
		delete(c.props, pick(t, oddNames, "property"))
	case 2:
		c.kids[pick(t, oddNames, "new child")] = drawTree(t, 1)
	case 3:
		for range rapid.IntRange(0, len(names)).Draw(t, "fewer") {
			delete(c.kids, pick(t, names, "child"))
		}
	case 4:
		c.drawChildren(t, 0, pick(t, childCounts, "more children"))
	}
	return c
}

// paths is all nodes by path.
func (n *tree) paths(path string, into map[string]*tree) map[string]*tree {
	into[path] = n
	for name, kid := range n.kids {
		kid.paths(path+"/"+name, into)
	}
	return into
}

// copied is an equal tree that shares nothing with this one, and has nothing outside.
func (n *tree) copied() *tree {
	c := &tree{props: map[string]property{}, kids: map[string]*tree{}}
	for name, p := range n.props {
		c.props[name] = property{typ: p.typ, values: p.bytes()}
	}
	for name, kid := range n.kids {
		c.kids[name] = kid.copied()
	}
	return c
}

// same says whether trees are equal.
func (n *tree) same(other *tree) bool {
	if n == other {
		return true
	}
	return maps.EqualFunc(n.props, other.props, property.same) && maps.EqualFunc(n.kids, other.kids, (*tree).same)
}

// same compares what fingerprints do, in which it does not matter where a binary is.
func (p property) same(q property) bool { return p.typ == q.typ && slices.Equal(p.bytes(), q.bytes()) }

func (p property) bytes() []string {
	if !p.outside {
		return p.values
	}
	var list []string
	for _, id := range p.values {
		list = append(list, outsideText(id))
	}
	return list
}
