// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "cmp"

// A Template is the shape of a node: which properties of which types it has, whether it has children.
type Template struct {
	place
	head uint32
}

const (
	hasPrimary     = 1 << 31
	hasMixins      = 1 << 30
	hasNoChild     = 1 << 29
	hasChildren    = 1 << 28 // two or more; without either, one
	mixinShift     = 18
	mixinMask      = 1<<10 - 1
	propertiesMask = 1<<mixinShift - 1
)

// Template takes the record for a TEMPLATE.
func (r Record) Template() (Template, error) {
	t := Template{r.place, r.word(0)}
	if !r.fits(int(t.typesAt()-r.at) + t.count()) {
		return Template{}, r.corrupt("a template passes the end")
	}
	if t.head&(hasNoChild|hasChildren) == hasNoChild|hasChildren {
		return Template{}, r.corrupt("a template with no child and many")
	}
	return t, nil
}

// The parts lie behind each other, each only if there is something in it.

func (t Template) mixinsAt() uint32    { return t.at + wordSize + t.primary()*ridSize }
func (t Template) childNameAt() uint32 { return t.mixinsAt() + uint32(t.mixins())*ridSize }

func (t Template) namesAt() uint32 {
	if t.hasOneChild() {
		return t.childNameAt() + ridSize
	}
	return t.childNameAt()
}

func (t Template) typesAt() uint32 {
	if t.count() > 0 {
		return t.namesAt() + ridSize
	}
	return t.namesAt()
}

// primary is 1 if there is a primary type.
func (t Template) primary() uint32 { return t.head >> 31 }

func (t Template) mixins() int {
	if t.head&hasMixins == 0 {
		return 0
	}
	return int(t.head >> mixinShift & mixinMask)
}

func (t Template) hasChild() bool    { return t.head&hasNoChild == 0 }
func (t Template) hasOneChild() bool { return t.head&(hasNoChild|hasChildren) == 0 }

// count is the number of properties but for the two special ones.
func (t Template) count() int { return int(t.head & propertiesMask) }

// special is the number of the special ones, which come first.
func (t Template) special() int { return int(t.head>>31 + t.head>>30&1) }

// names is the list of names of the other properties.
func (t Template) names() (List, error) { return t.seg.list(t.namesAt(), uint32(t.count())) }

// ChildName is the name of the child of nodes that have one only.
func (t Template) ChildName() (name []byte, ok bool, err error) {
	if !t.hasOneChild() {
		return nil, false, nil
	}
	name, err = t.seg.name(t.childNameAt())
	return name, err == nil, err
}

// Count is the number of properties.
func (t Template) Count() int { return t.special() + t.count() }

// PropertyType is the type of the i-th property.
func (t Template) PropertyType(i int) (Type, error) {
	if i >= t.special() {
		return t.typeAt(i - t.special())
	}
	return t.specialProperty(i).Type, nil
}

// PropertyName is the name of the i-th property.
func (t Template) PropertyName(i int) ([]byte, error) {
	if i < t.special() {
		return t.specialProperty(i).Name, nil
	}
	names, err := t.names()
	if err != nil {
		return nil, err
	}
	r, err := names.Entry(i - t.special())
	if err != nil {
		return nil, err
	}
	return r.name()
}

// PrimaryType is the property jcr:primaryType, if it is a NAME: it is then the same for all nodes of the template.
func (t Template) PrimaryType() (Property, bool) {
	if t.head&hasPrimary == 0 {
		return Property{}, false
	}
	return Property{primaryType, TypeName, List{t.seg, t.at + wordSize, 1, 1}}, true
}

// Mixins is the property jcr:mixinTypes, if it is NAMES.
func (t Template) Mixins() (Property, bool) {
	if t.head&hasMixins == 0 {
		return Property{}, false
	}
	return Property{mixinTypes, TypeNames, List{t.seg, t.mixinsAt(), uint32(t.mixins()), 1}}, true
}

var (
	primaryType = []byte("jcr:primaryType")
	mixinTypes  = []byte("jcr:mixinTypes")
)

func (t Template) specialProperty(i int) Property {
	if p, ok := t.PrimaryType(); ok && i == 0 {
		return p
	}
	p, _ := t.Mixins()
	return p
}

func (t Template) typeAt(i int) (Type, error) { return t.seg.propertyType(t.typesAt() + uint32(i)) }

func (s *Segment) propertyType(at uint32) (Type, error) {
	typ := Type(s.data[at])
	if !typ.known() {
		return 0, s.corrupt(at, "a property of the unknown type %d", typ)
	}
	return typ, nil
}

// search finds a name among the properties but for the special ones.
func (t Template) search(name string) (int, bool, error) {
	names, err := t.names()
	if err != nil {
		return 0, false, err
	}
	if t.count() <= scanned && !ambiguous(name) {
		return names.scan(name)
	}
	return names.search(name)
}

// scanned is up to how many names comparing all costs less than hashing some of them.
const scanned = 16

func (l List) scan(name string) (int, bool, error) {
	for i := range l.Len() {
		r, err := l.Entry(i)
		if err != nil {
			return 0, false, err
		}
		b, err := r.name()
		if err != nil {
			return 0, false, err
		}
		if string(b) == name {
			return i, true, nil
		}
	}
	return 0, false, nil
}

// search relies on the order that names have in a template: by hash, as a signed number, then as text.
func (l List) search(name string) (int, bool, error) {
	hash := int32(javaHash(name))
	lo, hi := 0, l.Len()
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		r, err := l.Entry(mid)
		if err != nil {
			return 0, false, err
		}
		b, err := r.name()
		if err != nil {
			return 0, false, err
		}
		order := cmp.Compare(int32(javaHash(b)), hash)
		if order == 0 {
			order = compareText(b, name)
		}
		switch {
		case order == 0:
			return mid, true, nil
		case order < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false, nil
}
