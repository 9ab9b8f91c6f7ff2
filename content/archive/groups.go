// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// group is the archives of one number.
type group struct {
	files   []found   // by letter
	readers []*Reader // of those that count, newest first
	broken  bool      // none has an index: readers are scans
	reason  error     // why the newest has none
	others  []*Reader // of the rest, newest first; only in recovery
	stopped bool      // the number is the newest: its writer may have been stopped
}

func (g *group) close() error {
	err := closeReaders(slices.Concat(g.readers, g.others))
	g.readers, g.others = nil, nil
	return err
}

// openRetries is how often archives are listed anew because one has vanished: a cleanup writes its copy before.
const openRetries = 10

func (d *Dir) openArchives() ([]*group, error) {
	for try := 1; ; try++ {
		groups, err := d.tryOpen()
		if err == nil || !errors.Is(err, fs.ErrNotExist) || try == openRetries {
			return groups, err
		}
	}
}

func (d *Dir) tryOpen() (groups []*group, err error) {
	files, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	list, err := arrange(d.path, files)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(groups))
			groups = nil
		}
	}()
	newest := newestNumber(files)
	d.next = max(d.next, newest+1) // no number twice: a backup belongs to one archive
	for i, f := range list {
		if i == 0 || list[i-1].Number != f.Number {
			groups = append(groups, &group{stopped: int64(f.Number) == newest})
		}
		g := groups[len(groups)-1]
		g.files = append(g.files, f)
	}
	for _, g := range groups {
		if err := d.choose(g); err != nil {
			return groups, err
		}
	}
	d.publish(groups)
	return groups, nil
}

// newestNumber is the highest of archives and of those that were put aside, -1 if there are none.
func newestNumber(files []string) int64 {
	newest := int64(-1)
	for _, f := range files {
		base, _, _ := strings.Cut(f, archiveSuffix)
		n, ok := ParseName(base + archiveSuffix)
		if ok && (f == base+archiveSuffix || isBackup(f)) {
			newest = max(newest, int64(n.Number))
		}
	}
	return newest
}

// choose opens the archive with the highest letter that has an index. If none has, all are scanned.
func (d *Dir) choose(g *group) error {
	for _, f := range slices.Backward(g.files) {
		r, err := mapArchive(d.fs, d.file(f.file))
		if err != nil {
			return err
		}
		r.other = d
		reason := r.readIndex()
		if reason == nil {
			err := g.close()
			g.readers = []*Reader{r}
			return err
		}
		d.opts.Logger.Warn("archive without index", "reason", reason)
		if len(g.readers) == 0 {
			g.reason = reason
		}
		g.readers = append(g.readers, r)
	}
	g.broken = true
	for _, r := range g.readers {
		r.scan()
	}
	return nil
}

// publish makes the archives those of the store.
func (d *Dir) publish(groups []*group) {
	var list []Archive
	for _, g := range slices.Backward(groups) {
		for _, r := range g.readers {
			if !g.stopped && g.broken {
				r.unclosed = g.reason
			}
			if r.Size() > 0 { // one without segments may be all damage
				list = append(list, r)
			}
		}
		d.next = max(d.next, int64(g.files[0].Number)+1)
	}
	d.sources.Store(&list)
}
