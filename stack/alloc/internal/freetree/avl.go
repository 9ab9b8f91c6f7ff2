// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree

// ascend makes the subtree i, of the given height, what p leads to, and restores the balance of the nodes above. It
// stops where a subtree ended as it was seen from above.
func (t *Tree) ascend(o order, p *path, i int32, height uint8) {
	for k := p.n - 1; k >= 0; k-- {
		above, side := p.at[k], p.side[k]
		l := &t.nodes[above].links[o]
		if l.child[side] == i && l.height[side] == height {
			return
		}
		t.touch(above)
		l.child[side], l.height[side] = i, height
		i = t.balance(o, above)
		height = t.nodes[i].links[o].tall()
	}
	t.root[o] = i
}

// unlink takes node i, which p leads to, out of an order. If it has two children its successor takes its place.
func (t *Tree) unlink(o order, p *path, i int32) {
	l := t.nodes[i].links[o]
	switch {
	case l.child[left] == 0:
		t.ascend(o, p, l.child[right], l.height[right])
	case l.child[right] == 0:
		t.ascend(o, p, l.child[left], l.height[left])
	default:
		place := p.n
		p.push(i, right)
		next := t.descendLeft(o, p, l.child[right])
		rest := t.nodes[next].links[o]
		t.touch(next)
		t.nodes[next].links[o] = l
		t.substitute(o, p, place, next)
		t.ascend(o, p, rest.child[right], rest.height[right])
	}
}

// descendLeft goes on from i to the first node of its subtree.
func (t *Tree) descendLeft(o order, p *path, i int32) int32 {
	for {
		next := t.nodes[i].links[o].child[left]
		if next == 0 {
			return i
		}
		p.push(i, left)
		i = next
	}
}

// substitute puts another node to a place of a path.
func (t *Tree) substitute(o order, p *path, place int, i int32) {
	p.at[place] = i
	if place == 0 {
		t.root[o] = i
		return
	}
	above, side := p.at[place-1], p.side[place-1]
	t.touch(above)
	t.nodes[above].links[o].child[side] = i
}

// balance rotates a subtree, whose root has been logged, if its children differ in height by two. It returns the root.
func (t *Tree) balance(o order, i int32) int32 {
	l := &t.nodes[i].links[o]
	switch {
	case l.height[left] > l.height[right]+1:
		return t.lift(o, i, left)
	case l.height[right] > l.height[left]+1:
		return t.lift(o, i, right)
	}
	return i
}

// lift makes the child on a side, or the inner one of its children if that is the taller, root of the subtree.
func (t *Tree) lift(o order, i int32, side uint8) int32 {
	l := &t.nodes[i].links[o]
	c := l.child[side]
	if k := &t.nodes[c].links[o]; k.height[1-side] > k.height[side] {
		l.child[side] = t.rotate(o, c, 1-side)
	}
	return t.rotate(o, i, side)
}

// rotate puts the child on a side above its parent.
func (t *Tree) rotate(o order, i int32, side uint8) int32 {
	l := &t.nodes[i].links[o]
	c := l.child[side]
	k := &t.nodes[c].links[o]
	t.touch(i)
	t.touch(c)
	l.child[side], l.height[side] = k.child[1-side], k.height[1-side]
	k.child[1-side], k.height[1-side] = i, l.tall()
	return c
}
