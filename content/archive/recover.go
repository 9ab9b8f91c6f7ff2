// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"slices"
	"time"

	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// RecoverOptions adjust [Recover]. The zero value recovers all archives that need it.
type RecoverOptions struct {
	// DryRun finds out what would be done, and neither changes nor locks anything.
	DryRun bool
	// Archives are the names of those to recover, without directory; all if there are none. The letters of a number are one
	// archive.
	Archives []string
	// LockTimeout is how long to wait for another program that has the store open for writing; zero is not at all.
	LockTimeout time.Duration
	// Progress is told how many bytes more were looked at. It may be nil.
	Progress func(bytes int64)
	// Logger is told about archives that had to be scanned; nil discards.
	Logger *slog.Logger
	// FS is where the files are; nil is the operating system's. For tests inside this module, which alone can name its
	// type.
	FS file.FS
}

// Recovery is what was done about an archive.
type Recovery struct {
	Files      []string // that there were, by letter
	Damage     error    // why something was done; nil if the archive is whole
	Recovered  string   // the file that has what was found; empty if nothing was, or nothing had to be done
	Segments   int      // that were found
	Bytes      int64    // of these
	Lost       []Part   // what was not, and no other archive has
	Unfinished []Part   // what a stopped writer had begun to write, of which no revision knows
	Doubtful   []Part   // segments that were found in archives without index, and may be called by another id
	Backups    []string // the files, as they are called now; empty ones are removed
}

// ErrNoLetter is returned when an archive cannot be written anew, as its letter is the last one.
var ErrNoLetter = errors.New("archive: z is the last letter: there is no name for another copy")

// Recover brings back what is there of damaged archives of a store: those without an index, and those of which [Reader.Check]
// finds something wrong. What is left is written to an archive of the next letter, with a new index, graph and binary
// references; the originals are renamed to names that end in .bak. After a crash there are the originals, or the whole
// of the new archive.
//
// A segment is left if its bytes have the checksum in the name of its entry. Its id has none: that of a segment in an archive
// without index whose header is damaged is doubtful. Ids of binaries kept outside that cannot be read are left out.
//
// A segment is looked for in all letters of its number. Of the newest archive, if it has no index, the writer was stopped
// perhaps: what it had begun to write is not lost. Any other was closed once. If the end of such a one is missing, more may
// be lost than anybody knows.
//
// With an error it returns what it had done by then.
func Recover(ctx context.Context, dir string, opts RecoverOptions) ([]Recovery, error) {
	d := &Dir{path: dir, opts: Options{
		ReadOnly: opts.DryRun, LockTimeout: opts.LockTimeout, Logger: opts.Logger, FS: opts.FS,
	}}
	d.defaults()
	list, err := d.recover(ctx, opts)
	return list, errors.Join(err, d.release())
}

func (d *Dir) recover(ctx context.Context, opts RecoverOptions) (list []Recovery, err error) {
	all, err := d.openToRecover()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(all)) }()
	chosen, err := selectArchives(all, opts.Archives)
	if err != nil {
		return nil, err
	}
	var refused error
	for _, g := range chosen {
		if err := ctx.Err(); err != nil {
			return list, errors.Join(refused, err)
		}
		size := g.size()
		r, err := d.recoverGroup(g)
		list = append(list, r)
		d.publish(all)
		switch {
		case errors.Is(err, ErrNoLetter):
			refused = errors.Join(refused, err)
		case err != nil:
			return list, errors.Join(refused, err)
		}
		if opts.Progress != nil {
			opts.Progress(size)
		}
	}
	return list, refused
}

// openToRecover makes sure that there is anything before it makes any file.
func (d *Dir) openToRecover() ([]*group, error) {
	if err := d.mustExist(); err != nil {
		return nil, err
	}
	if !d.opts.ReadOnly {
		if err := d.take(); err != nil {
			return nil, err
		}
	}
	if err := d.openManifest(); err != nil {
		return nil, err
	}
	if !d.opts.ReadOnly {
		if err := d.removeLeftovers(); err != nil {
			return nil, err
		}
	}
	return d.openArchives()
}

// selectArchives returns the groups that names are in. The others stay open: segments may refer to theirs.
func selectArchives(groups []*group, names []string) ([]*group, error) {
	if len(names) == 0 {
		return groups, nil
	}
	var list []*group
	for _, name := range names {
		i := slices.IndexFunc(groups, func(g *group) bool {
			return slices.ContainsFunc(g.files, func(f found) bool { return f.file == name })
		})
		if i < 0 {
			return nil, fmt.Errorf("archive: %s is no archive of the store", name)
		}
		if !slices.Contains(list, groups[i]) {
			list = append(list, groups[i])
		}
	}
	return list, nil
}

func (g *group) size() int64 {
	n := int64(0)
	for _, r := range g.readers {
		n += r.Size()
	}
	return n
}

func (d *Dir) recoverGroup(g *group) (Recovery, error) {
	var r Recovery
	for _, f := range g.files {
		r.Files = append(r.Files, f.file)
	}
	if r.Damage = g.damage(); r.Damage == nil {
		for e := range g.readers[0].Entries() {
			r.add(e)
		}
		return r, d.putOthersAside(g, &r)
	}
	if err := d.openOthers(g); err != nil {
		return r, err
	}
	segments := g.salvage(&r)
	elsewhere := func(p Part) bool { return d.elsewhere(g, p.Segment) }
	r.Lost, r.Unfinished = slices.DeleteFunc(r.Lost, elsewhere), slices.DeleteFunc(r.Unfinished, elsewhere)
	for _, s := range segments {
		r.add(s.entry)
	}
	if len(segments) > 0 {
		name, ok := g.successor()
		if !ok {
			return r, fmt.Errorf("%w: %s", ErrNoLetter, d.file(r.Files[len(r.Files)-1]))
		}
		r.Recovered = name.String()
	}
	if d.opts.ReadOnly {
		return r, nil
	}
	var err error
	r.Backups, err = d.renew(g, segments, describeReadable)
	if err != nil && r.Recovered != "" {
		if _, serr := d.fs.Stat(d.file(r.Recovered)); serr != nil {
			r.Recovered = ""
		}
	}
	return r, err
}

// add counts a segment that was found.
func (r *Recovery) add(e Entry) {
	r.Segments++
	r.Bytes += int64(e.Len)
}

// putOthersAside ends a recovery that was broken off, of an archive that is whole.
func (d *Dir) putOthersAside(g *group, r *Recovery) (err error) {
	if !d.opts.ReadOnly {
		r.Backups, err = d.retire(g, g.readers[0].Name())
	}
	return err
}

func closeReaders(list []*Reader) error {
	var err error
	for _, r := range list {
		err = errors.Join(err, r.Close())
	}
	return err
}

// elsewhere says whether an archive of another number has a segment whole.
func (d *Dir) elsewhere(g *group, id segment.ID) bool {
	return slices.ContainsFunc(d.Archives(), func(a Archive) bool {
		r, ok := a.(*Reader)
		if !ok || slices.Contains(g.readers, r) {
			return false
		}
		e, ok := r.Entry(id)
		return ok && survivor{r, e}.whole() == nil
	})
}

// openOthers opens the letters that do not count, for what is lost in the one that does.
func (d *Dir) openOthers(g *group) error {
	if g.broken { // all are open
		return nil
	}
	for _, f := range slices.Backward(g.files) {
		if f.file == g.readers[0].Name() {
			continue
		}
		r, err := mapArchive(d.fs, d.file(f.file))
		if err != nil {
			return err
		}
		r.other = d
		g.others = append(g.others, r)
		if r.readIndex() != nil {
			r.scan()
		}
	}
	return nil
}

// damage is the first thing that is wrong and would not be after recovery.
func (g *group) damage() error {
	if g.broken {
		return g.reason
	}
	for err := range g.readers[0].Check() {
		if !errors.Is(err, errBlobID) {
			return err
		}
	}
	return nil
}

// salvage finds the segments whose bytes are what they were, and reports the rest.
func (g *group) salvage(r *Recovery) (segments []survivor) {
	there := map[segment.ID]bool{}
	for _, s := range merge(g.readers) {
		if err := s.whole(); err != nil {
			other, ok := g.another(s.entry.ID)
			if !ok {
				r.Lost = append(r.Lost, s.part(err.Error()))
				continue
			}
			s = other
		}
		segments = append(segments, s)
		there[s.entry.ID] = true
		if s.reader.Scanned() && !s.reader.header(s.entry).valid() {
			r.Doubtful = append(r.Doubtful, s.part("the header is damaged, of which the id is a part"))
		}
	}
	for _, reader := range slices.Backward(g.readers) {
		lost, unfinished := reader.losses(g.stopped)
		add := func(list *[]Part, parts []Part) {
			for _, p := range parts {
				if p.File = reader.Name(); !there[p.Segment] {
					*list = append(*list, p)
				}
			}
		}
		add(&r.Lost, lost)
		add(&r.Unfinished, unfinished)
	}
	return segments
}

// another finds a segment whole in any letter.
func (g *group) another(id segment.ID) (survivor, bool) {
	for _, r := range slices.Concat(g.readers, g.others) {
		if e, ok := r.Entry(id); ok {
			if s := (survivor{r, e}); s.whole() == nil {
				return s, true
			}
		}
	}
	return survivor{}, false
}

// whole says why a segment is lost, if it is.
func (s survivor) whole() error {
	err := s.reader.intact(s.entry)
	if err == nil {
		_, err = segment.Parse(s.entry.ID, s.reader.bytes(s.entry))
	}
	return err
}

func (s survivor) part(reason string) Part {
	return Part{s.reader.Name(), s.entry.Off - blockSize, int64(blockSize + s.entry.Len), s.entry.ID, reason}
}

// intact demands that the bytes of a segment have the checksum in the name of its entry, whatever else of the header is
// damaged. Names need not have one, if nothing is.
func (r *Reader) intact(e Entry) error {
	h := r.header(e)
	name, id := h.name(), e.ID.String()
	named, _, _, ok := parseEntryName(name)
	_, sum, hasSum, _ := parseEntryName(id + name[min(len(id), len(name)):])
	switch {
	case hasSum && crc32.ChecksumIEEE(r.bytes(e)) == sum:
		return nil
	case hasSum:
		return errors.New("the checksum is wrong")
	case h.valid() && h.size() == int64(e.Len) && ok && named == e.ID:
		return nil
	}
	return errors.New("the header is damaged, and with it the checksum")
}
