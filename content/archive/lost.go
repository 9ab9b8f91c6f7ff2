// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"strings"

	"github.com/holtdb/holt/content/segment"
)

// Lost is what recovery could not bring back: parts of archives that it has put aside, under names that end in .bak. Nobody
// knows what they referred to, so binaries kept outside may be in use though no archive says so. It is empty if there are
// no such files. Segments that an archive has are not lost, nor what a stopped writer had begun to write, if the name of the
// file says that it was one; those that a cleanup would have taken since are, as long as the file is there.
func (d *Dir) Lost() ([]Part, error) {
	if d.sources.Load() == nil {
		return nil, ErrClosed
	}
	files, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var lost []Part
	for _, name := range files {
		if !isBackup(name) {
			continue
		}
		parts, err := d.lostIn(name)
		if err != nil {
			return nil, err
		}
		lost = append(lost, parts...)
	}
	return lost, nil
}

// isBackup says whether a file was an archive. There is something between its name and the end if that was taken.
func isBackup(name string) bool {
	base, ok := strings.CutSuffix(name, backupSuffix)
	i := strings.Index(base, archiveSuffix)
	if !ok || i < 0 {
		return false
	}
	_, ok = ParseName(base[:i+len(archiveSuffix)])
	return ok
}

// isStopped says whether the name of a backup tells that its writer was stopped, so that its end is no loss; nor is that of
// a copy that a reader of Oak's makes. Of others nobody knows whether there were newer archives when they were put aside.
func isStopped(name string) bool {
	return strings.Contains(name, archiveSuffix+stoppedSuffix+".") || strings.HasSuffix(name, readerSuffix)
}

func (d *Dir) lostIn(name string) (lost []Part, err error) {
	r, err := mapArchive(d.fs, d.file(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.readIndex() != nil {
		r.scan()
	}
	add := func(p Part) {
		if _, ok := d.Segment(p.Segment); !ok || p.Segment == (segment.ID{}) {
			p.File = name
			lost = append(lost, p)
		}
	}
	for e := range r.Entries() {
		s := survivor{r, e}
		if err := s.whole(); err != nil {
			add(s.part(err.Error()))
		}
	}
	parts, _ := r.losses(isStopped(name))
	for _, p := range parts {
		add(p)
	}
	return lost, nil
}
