// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// CheckOptions say what [Store.Check] looks at. The zero value is the head, with its checkpoints.
type CheckOptions struct {
	// Revisions are what to check; none is the head.
	Revisions []segment.RecordID
	// All checks every revision of the journal instead.
	All bool
	// Paths are what to check of each; none is all there is: /root, each checkpoint, and what they are the children of.
	Paths []string
	// Binaries has all bytes of binaries read, and those that are kept outside compared with their ids.
	Binaries bool
	// Archives has the archives checked first, every byte of them.
	Archives bool
	// Workers is the number of goroutines; zero is one. What is found, and the order, does not depend on it.
	Workers int
	// Found is told what is wrong, one thing at a time. An error that it returns ends the check. It may be nil.
	Found func(finding error) error
}

// CheckReport is what was checked.
type CheckReport struct {
	Revisions int   // that were checked
	Whole     int   // of which everything could be read
	Nodes     int64 // each counts once, however many revisions it is in
	Values    int64
	Binaries  int64
	Outside   int64 // binaries that were not looked at, as nobody knows where they are
	Paths     []CheckedPath
}

// CheckedPath is a path and the newest revision in which everything there can be read.
type CheckedPath struct {
	Path string
	Good archive.Revision // the zero value if there is none
}

// Check reads everything there is in revisions. When some path is not whole in these, older revisions are looked at
// until there is one in which it is, which is reported; their own faults are not.
//
// It ends early when the context does. The memory it takes is half a byte for each record of the segments that nodes
// are in, and that of the nodes on the way down.
func (s *Store) Check(ctx context.Context, opts CheckOptions) (CheckReport, error) {
	opts.Workers = max(opts.Workers, 1)
	if opts.Found == nil {
		opts.Found = func(error) error { return nil }
	}
	c := &check{opts: opts, good: map[string]int{}}
	c.verifier = newVerifier(ctx, s, opts.Binaries)
	err := c.run()
	s.opts.Progress(c.nodes % reportEvery)
	c.report.Nodes, c.report.Values = c.read.nodes, c.read.values
	c.report.Binaries, c.report.Outside = c.read.binaries, c.read.outside
	return c.report, err
}

// check is one call of Check.
type check struct {
	verifier
	opts   CheckOptions
	report CheckReport
	good   map[string]int // where in the report a path is
	silent bool           // what is found is not what was asked for
}

func (c *check) run() error {
	c.found = func(err error) error {
		if c.silent {
			return nil
		}
		return c.opts.Found(err)
	}
	if err := c.archives(); err != nil {
		return err
	}
	wanted, err := c.wanted()
	if err != nil {
		return err
	}
	for _, r := range wanted {
		if err := c.asked(r); err != nil {
			return err
		}
	}
	return c.search(wanted)
}

// wanted is the revisions that were asked for.
func (c *check) wanted() ([]archive.Revision, error) {
	var list []archive.Revision
	for _, id := range c.opts.Revisions {
		list = append(list, archive.Revision{ID: id})
	}
	head, ok := c.store.Head()
	asked := len(list) > 0
	switch {
	case !ok && !asked:
		if err := c.opts.Found(archive.ErrNoHead); err != nil {
			return nil, err
		}
	case !asked && !c.opts.All:
		list = append(list, archive.Revision{ID: head})
	}
	at := map[segment.RecordID]int{}
	for i, r := range slices.Backward(list) {
		at[r.ID] = i
	}
	newest := ok && !asked
	for r, err := range c.store.Journal() {
		if err != nil {
			return nil, err
		}
		if newest && r.ID != head {
			const format = "the journal ends with revision %s, of which nothing is there; the head is %s"
			err := c.opts.Found(fmt.Errorf(format, r.ID, head))
			if err != nil {
				return nil, err
			}
		}
		newest = false
		i, listed := at[r.ID]
		switch {
		case listed:
			list[i].Time = r.Time
		case c.opts.All:
			at[r.ID] = len(list)
			list = append(list, r)
		}
	}
	return list, nil
}

// asked checks a revision that was asked for.
func (c *check) asked(r archive.Revision) error {
	c.report.Revisions++
	whole := true
	root, err := c.store.Root(r.ID)
	if err != nil {
		return c.found(fmt.Errorf("revision %s: %w", r.ID, err))
	}
	if _, ok, err := root.Child("root"); !ok || err != nil {
		whole = false
		if err == nil {
			err = errors.New("no super-root: it has no child root")
		}
		if err := c.found(fmt.Errorf("revision %s: %w", r.ID, c.store.Locate(err))); err != nil {
			return err
		}
	}
	paths, err := c.pathsOf(root)
	if err != nil {
		whole = false
		if err := c.found(fmt.Errorf("revision %s: %w", r.ID, err)); err != nil {
			return err
		}
	}
	if len(c.opts.Paths) == 0 {
		good, err := c.frame(r, root)
		if err != nil {
			return err
		}
		whole = whole && good
	}
	for _, path := range paths {
		good, err := c.path(r, root, path)
		if err != nil {
			return err
		}
		whole = whole && good
		c.note(path, r, good)
	}
	if whole {
		c.report.Whole++
	}
	return nil
}

// pathsOf is what is to be checked of a revision.
func (c *check) pathsOf(root segment.Node) ([]string, error) {
	if len(c.opts.Paths) > 0 {
		var list []string
		for _, path := range c.opts.Paths {
			list = append(list, CleanPath(path))
		}
		return list, nil
	}
	list := []string{"/root"}
	children, err := sortedChildren(root)
	for _, child := range children {
		switch path := "/" + string(segment.AppendText(nil, child.name)); path {
		case "/root":
		case "/checkpoints":
			checkpoints, below := sortedChildren(child.node)
			for _, c := range checkpoints {
				list = append(list, path+"/"+string(segment.AppendText(nil, c.name)))
			}
			err = cmp.Or(err, below)
		default:
			list = append(list, path)
		}
	}
	return list, c.store.Locate(err)
}

// frame checks the nodes above what is checked usually. They are not content, and do not count.
func (c *check) frame(r archive.Revision, root segment.Node) (good bool, err error) {
	good = true
	before := c.read
	defer func() { c.read = before }()
	for _, path := range []string{"/", "/checkpoints"} {
		n, err := c.store.Descend(root, path)
		if err != nil {
			continue // it is not there, or that was found before
		}
		c.revision = r.ID
		c.at = Visit{pathOf(path), 0, n, c.store}
		whole, err := c.content(n)
		if err != nil {
			return false, err
		}
		good = good && whole
	}
	return good, nil
}

// path checks a path of a revision.
func (c *check) path(r archive.Revision, root segment.Node, path string) (good bool, err error) {
	n, err := c.store.Descend(root, path)
	if err != nil {
		if _, none := errors.AsType[*PathError](err); none && c.opts.All {
			return false, nil // it need not have been there always
		}
		return false, c.found(fmt.Errorf("revision %s: %w", r.ID, err))
	}
	c.revision, c.findings = r.ID, 0
	if err := c.readAhead(n, path); err != nil {
		return false, err
	}
	c.at = Visit{pathOf(path), 0, n, c.store}
	levels, err := c.node(n)
	good = levels != notWhole
	if err == nil && !good && c.findings == 0 {
		err = c.found(fmt.Errorf("revision %s: %s is not whole, as reported above", r.ID, path))
	}
	return good, err
}

// readAhead has several goroutines read what is below a node, without a word. They mark what is whole. Left to who
// reports is the rest, and the nodes above one that a goroutine gave to another: so what is found, and where, is the
// same as if nobody had been ahead.
func (c *check) readAhead(n segment.Node, path string) error {
	if c.opts.Workers == 1 || c.marks.mark(n.Record()).state() != unknown {
		return nil
	}
	w := &walk{store: c.store}
	var mu sync.Mutex
	one := func(ctx context.Context, t subtree) error {
		v := verifier{
			descent: descent{walk: w, ctx: ctx, at: Visit{t.path, t.depth, t.node, c.store}}, binary: c.binary, ahead: true,
			marks: marker{marks: c.marks.marks}, large: marker{marks: c.large.marks},
		}
		_, err := v.node(t.node)
		c.store.opts.Progress(v.nodes % reportEvery)
		mu.Lock()
		defer mu.Unlock()
		c.read.add(v.read)
		return err
	}
	return w.parallel(c.ctx, c.opts.Workers, subtree{n, pathOf(path), 0}, one)
}

// note remembers the newest good revision of a path. Revisions come newest first, but for those asked for by name.
func (c *check) note(path string, r archive.Revision, good bool) {
	i, known := c.good[path]
	if !known {
		i = len(c.report.Paths)
		c.good[path] = i
		c.report.Paths = append(c.report.Paths, CheckedPath{Path: path})
	}
	if p := &c.report.Paths[i]; good && p.Good.ID == (segment.RecordID{}) {
		p.Good = r
	}
}

// search goes through older revisions until each path has a good one.
func (c *check) search(done []archive.Revision) error {
	c.silent = true
	if len(c.report.Paths) == 0 {
		c.note("/root", archive.Revision{}, false)
	}
	known := make(map[segment.RecordID]bool, len(done))
	for _, d := range done {
		known[d.ID] = true
	}
	for r, err := range c.store.Journal() {
		missing := slices.ContainsFunc(c.report.Paths, func(p CheckedPath) bool { return p.Good.ID == (segment.RecordID{}) })
		if err != nil || !missing {
			return err
		}
		if known[r.ID] {
			continue
		}
		known[r.ID] = true
		root, err := c.store.Root(r.ID)
		if err != nil {
			continue // it is not good
		}
		for _, p := range c.report.Paths {
			if p.Good.ID != (segment.RecordID{}) {
				continue
			}
			good, err := c.path(r, root, p.Path)
			if err != nil {
				return err
			}
			c.note(p.Path, r, good)
		}
	}
	return nil
}
