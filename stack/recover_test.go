// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// Files that were left by a crash, or made up, and what recovery makes of them.
var leftovers = slices.Concat(lengths, single, repeats, copies, splices, multiple, strangers)

type leftover struct {
	name    string
	content []byte
	want    []byte
}

var old = text(40, 0) // the committed payload of most of them

func armed(target, mode uint64, staged ...[]byte) []byte {
	return image(40, target, mode, append([][]byte{old}, staged...)...)
}

// changed is old with data at off.
func changed(off int, data []byte) []byte { return over(bytes.Clone(old), off, data) }

var lengths = []leftover{
	{"nothing", image(0, 0, 0), nil},
	{"at rest", image(40, 0, 0, old), old},
	{"growth that was not committed", image(40, 0, 0, old, text(9, 1)), old},
	{"all of it not committed", image(0, 0, 0, old), nil},
	{"a cut that was not committed", image(50, 0, 0, old), old},
	{"a cut of everything that was not committed", image(50, 0, 0), nil},
	{"a wild length", image(math.MaxUint64, 0, 0, old), old},
	{"a length that is negative", image(1<<63, 0, 0, old), old},
	{"a length as large as can be", image(math.MaxInt64, 0, 0, old), old},
	{"a length that overflows with the header", image(math.MaxUint64-headerSize+1, 0, 0, old), old},
}

var single = []leftover{
	{"Set", armed(headerSize+3, modeSet, text(5, 1)), changed(3, text(5, 1))},
	{"Set at the beginning", armed(headerSize, modeSet, text(5, 1)), changed(0, text(5, 1))},
	{"Set at the end", armed(headerSize+35, modeSet, text(5, 1)), changed(35, text(5, 1))},
	{"Set everything", armed(headerSize, modeSet, text(40, 1)), text(40, 1)},
	{
		"Set in a payload that grew",
		image(45, headerSize+30, modeSet, old, text(5, 2), text(15, 1)),
		append(bytes.Clone(old[:30]), text(15, 1)...),
	},
	{"Set done in part", image(40, headerSize+3, modeSet, changed(3, text(2, 1)), text(5, 1)), changed(3, text(5, 1))},
	{"Set done and cut off", image(40, headerSize+3, modeSet, changed(3, text(5, 1))), changed(3, text(5, 1))},
	{"Set of nothing", armed(headerSize+3, modeSet), old},
	{"Set behind the end", armed(headerSize+36, modeSet, text(5, 1)), old},
	{"Set of more than there is", armed(headerSize, modeSet, text(41, 1)), old},
	{"Set in the header", armed(headerSize-1, modeSet, text(5, 1)), old},
	{"Set of the first byte of the file", armed(1, modeSet, text(5, 1)), old},
	{"Set of a wild target", armed(math.MaxUint64, modeSet, text(5, 1)), old},
	{"Set of a target as large as can be", armed(math.MaxInt64, modeSet, text(5, 1)), old},
	{"Set of a negative target", armed(1<<63+headerSize, modeSet, text(5, 1)), old},
	{"Set, and the payload is not there", image(50, headerSize+3, modeSet, old), old},
	{"Set, and a wild length", image(math.MaxUint64, headerSize+3, modeSet, old), old},
	// The exchange of two ranges by an older writer, of the bytes at 0 with those at 10: those at 0 are staged.
	{"exchange before the second is written", image(40, headerSize, modeSet, old, old[:5]), old},
	{"exchange with the first place written", image(40, headerSize, modeSet, changed(0, old[10:15]), old[:5]), old},
	{
		"exchange with the first place written in part",
		image(40, headerSize, modeSet, changed(0, old[10:12]), old[:5]),
		old,
	},
	{"exchange committed", image(40, headerSize+10, modeSet, changed(0, old[10:15]), old[:5]), exchanged},
	{
		"exchange committed, with the second place written in part",
		image(40, headerSize+10, modeSet, over(changed(0, old[10:15]), 10, old[:3]), old[:5]),
		exchanged,
	},
	{"exchange done", image(40, headerSize+10, modeSet, exchanged, old[:5]), exchanged},
}

var exchanged = slices.Concat(old[10:15], old[5:10], old[:5], old[15:])

var repeats = []leftover{
	{"Repeat", armed(headerSize+3, modeRepeat, words(4), text(3, 1)), changed(3, bytes.Repeat(text(3, 1), 4))},
	{"Repeat of zero", armed(headerSize+3, modeRepeat, words(10), []byte{0}), changed(3, zeros[:10])},
	{
		"Repeat to the end",
		armed(headerSize+30, modeRepeat, words(2), text(5, 1)),
		changed(30, bytes.Repeat(text(5, 1), 2)),
	},
	{"Repeat of everything, once", armed(headerSize, modeRepeat, words(1), text(40, 1)), text(40, 1)},
	{
		"Repeat done in part",
		image(40, headerSize+3, modeRepeat, changed(3, text(3, 1)), words(4), text(3, 1)),
		changed(3, bytes.Repeat(text(3, 1), 4)),
	},
	{"Repeat never", armed(headerSize+3, modeRepeat, words(0), text(3, 1)), old},
	{"Repeat behind the end", armed(headerSize+30, modeRepeat, words(11), []byte{0}), old},
	{"Repeat without a pattern", armed(headerSize+3, modeRepeat, words(4)), old},
	{"Repeat without all of its count", armed(headerSize+3, modeRepeat, words(4)[:7]), old},
	{"Repeat of a pattern that is too long", armed(headerSize, modeRepeat, words(1), text(41, 1)), old},
	{"Repeat as often as can be", armed(headerSize, modeRepeat, words(math.MaxUint64), text(3, 1)), old},
	{"Repeat so often that it overflows to fit", armed(headerSize, modeRepeat, words(1<<63+1), text(2, 1)), old},
	{"Repeat in the header", armed(8, modeRepeat, words(2), text(3, 1)), old},
	{"Repeat of a wild target", armed(math.MaxUint64-2, modeRepeat, words(2), text(3, 1)), old},
}

var copies = []leftover{
	{"Copy", armed(headerSize+20, modeCopy, words(3, 10)), changed(20, old[3:13])},
	{"Copy down", armed(headerSize, modeCopy, words(30, 10)), changed(0, old[30:])},
	{"Copy to its neighbour", armed(headerSize+13, modeCopy, words(3, 10)), changed(13, old[3:13])},
	{"Copy done in part", image(40, headerSize+20, modeCopy, changed(20, old[3:7]), words(3, 10)), changed(20, old[3:13])},
	{"Copy with more behind it", armed(headerSize+20, modeCopy, words(3, 10), text(3, 1)), changed(20, old[3:13])},
	{"Copy over itself", armed(headerSize+12, modeCopy, words(3, 10)), old},
	{"Copy of nothing", armed(headerSize+20, modeCopy, words(3, 0)), old},
	{"Copy from behind the end", armed(headerSize, modeCopy, words(31, 10)), old},
	{"Copy to behind the end", armed(headerSize+31, modeCopy, words(3, 10)), old},
	{"Copy from the header", armed(headerSize, modeCopy, words(math.MaxUint64-7, 8)), old},
	{"Copy to the header", armed(headerSize-8, modeCopy, words(20, 8)), old},
	{"Copy of a wild length", armed(headerSize, modeCopy, words(3, math.MaxUint64)), old},
	{"Copy of a wild length that overflows to fit", armed(headerSize, modeCopy, words(3, math.MaxUint64-2)), old},
	{"Copy without all of its arguments", armed(headerSize+20, modeCopy, words(3, 10)[:15]), old},
}

var splices = []leftover{
	{
		"SpliceGrow",
		armed(headerSize+30, modeSpliceGrow, zeros[:5], text(15, 1)),
		append(bytes.Clone(old[:30]), text(15, 1)...),
	},
	{
		"SpliceGrow with its hole written",
		armed(headerSize+30, modeSpliceGrow, text(5, 2), text(15, 1)),
		append(bytes.Clone(old[:30]), text(15, 1)...),
	},
	{
		"SpliceGrow done in part",
		image(40, headerSize+30, modeSpliceGrow, changed(30, text(15, 1)), zeros[:5], text(15, 1)),
		append(bytes.Clone(old[:30]), text(15, 1)...),
	},
	{"SpliceGrow of everything", armed(headerSize, modeSpliceGrow, zeros[:1], text(41, 1)), text(41, 1)},
	{
		"SpliceGrow behind the end",
		armed(headerSize+40, modeSpliceGrow, zeros[:1], text(1, 1)),
		append(bytes.Clone(old), text(1, 1)...),
	},
	{"SpliceGrow to an odd length", armed(headerSize+30, modeSpliceGrow, zeros[:5], text(16, 1)), old},
	{"SpliceGrow that shrinks", armed(headerSize+30, modeSpliceGrow, text(5, 1)), old},
	{"SpliceGrow that does neither", armed(headerSize+30, modeSpliceGrow, text(10, 1)), old},
	{"SpliceGrow of nothing", armed(headerSize+40, modeSpliceGrow), old},
	{"SpliceGrow from behind the end", armed(headerSize+41, modeSpliceGrow, text(10, 1)), old},
	{"SpliceGrow in the header", armed(headerSize-2, modeSpliceGrow, text(10, 1)), old},
	{"SpliceGrow of a wild target", armed(math.MaxUint64, modeSpliceGrow, text(10, 1)), old},

	{"SpliceShrink", armed(headerSize+30, modeSpliceShrink, text(5, 1)), append(bytes.Clone(old[:30]), text(5, 1)...)},
	{"SpliceShrink of everything", armed(headerSize, modeSpliceShrink, text(1, 1)), text(1, 1)},
	{
		"SpliceShrink done in part",
		image(40, headerSize+30, modeSpliceShrink, changed(30, text(3, 1)), text(5, 1)),
		append(bytes.Clone(old[:30]), text(5, 1)...),
	},
	{"SpliceShrink to nothing", armed(headerSize+30, modeSpliceShrink), old[:30]},
	{"SpliceShrink that grows", armed(headerSize+30, modeSpliceShrink, text(15, 1)), old},
	{"SpliceShrink that does neither", armed(headerSize+30, modeSpliceShrink, text(10, 1)), old},
	{"SpliceShrink from behind the end", armed(headerSize+41, modeSpliceShrink, text(1, 1)), old},
	{"SpliceShrink in the header", armed(headerSize-1, modeSpliceShrink, text(1, 1)), old},
	{"SpliceShrink that was cut off", image(40, headerSize+30, modeSpliceShrink, old[:35]), old[:35]},
}

var multiple = []leftover{
	{
		"MultiWrite",
		armed(0, modeMultiWrite, piece(3, "abc"), piece(30, "xy")),
		over(changed(3, []byte("abc")), 30, []byte("xy")),
	},
	{"MultiWrite of one", armed(0, modeMultiWrite, piece(37, "abc")), changed(37, []byte("abc"))},
	{
		"MultiWrite that overlaps: the later one counts",
		armed(0, modeMultiWrite, piece(3, "abcde"), piece(5, "xy")),
		changed(3, []byte("abxye")),
	},
	{
		"MultiWrite in a payload that grew",
		image(45, 0, modeMultiWrite, old, text(5, 2), piece(3, "abc"), piece(42, "xy")),
		over(append(changed(3, []byte("abc")), text(5, 2)...), 42, []byte("xy")),
	},
	{
		"MultiWrite with an empty piece",
		armed(0, modeMultiWrite, piece(40, ""), piece(30, "xy")),
		changed(30, []byte("xy")),
	},
	{"MultiWrite of nothing", armed(0, modeMultiWrite), old},
	{
		"MultiWrite done in part",
		image(40, 0, modeMultiWrite, changed(3, []byte("abc")), piece(3, "abc"), piece(30, "xy")),
		over(changed(3, []byte("abc")), 30, []byte("xy")),
	},
	{"MultiWrite with a piece that is cut off", armed(0, modeMultiWrite, piece(3, "abc"), piece(30, "xy")[:17]), old},
	{"MultiWrite with a head that is cut off", armed(0, modeMultiWrite, piece(3, "abc"), piece(30, "")[:15]), old},
	{"MultiWrite behind the end", armed(0, modeMultiWrite, piece(3, "abc"), piece(39, "xy")), old},
	{"MultiWrite backwards", armed(0, modeMultiWrite, piece(3, "abc"), words(9, 8)), old},
	{"MultiWrite of a wild range", armed(0, modeMultiWrite, piece(3, "abc"), words(0, math.MaxUint64)), old},
	{
		"MultiWrite of a wild place",
		armed(0, modeMultiWrite, piece(3, "abc"), words(math.MaxUint64-1, math.MaxUint64), text(1, 1)),
		old,
	},
	{"MultiWrite with a target", armed(headerSize, modeMultiWrite, piece(3, "abc")), old},
}

// piece is a staged one.
func piece(off uint64, data string) []byte {
	return append(words(off, off+uint64(len(data))), data...)
}

var strangers = []leftover{
	{"mode of a later generation", armed(headerSize+10, modeMultiAtrunc, words(0, 3, 0), text(8, 1)), old},
	{"mode that is reserved", armed(headerSize+10, math.MaxUint64, text(8, 1)), old},
	{"mode 1", armed(headerSize+10, 1, text(8, 1)), old},
	{"mode that is reserved, without a target", armed(0, math.MaxUint64, piece(3, "abc")), old},
	{"mode 1 without a target", armed(0, 1, text(8, 1)), old},
	{"Repeat without a target", armed(0, modeRepeat, words(2), text(3, 1)), old},
	{"Copy without a target", armed(0, modeCopy, words(0, 8)), old},
	{"SpliceGrow without a target", armed(0, modeSpliceGrow, zeros[:5], text(15, 1)), old},
	{"SpliceShrink without a target", armed(0, modeSpliceShrink, text(5, 1)), old},
}

func TestRecovery(t *testing.T) {
	for _, c := range leftovers {
		t.Run(c.name, func(t *testing.T) {
			if want, ok := recovered(bytes.Clone(c.content)); !ok || !bytes.Equal(want, c.want) {
				t.Errorf("the reference says %x, %v, want %x", want, ok, c.want)
			}
			disk := file.NewCrash()
			put(t, disk, c.content)
			s := open(t, disk, nil)
			holds(t, s, c.want)
			check(t, s.Close())
			rests(t, disk, c.want)
			if len(disk.Unsynced()) > 0 {
				t.Errorf("not durable: %q", disk.Unsynced())
			}
			was := disk.Counts().Ops
			check(t, open(t, disk, nil).Close())
			if len(c.want) > 0 && disk.Counts().Ops != was {
				t.Errorf("opening it once more made %d calls", disk.Counts().Ops-was)
			}
		})
	}
}

// A crash during recovery, at each of its calls, and during the recovery from that, loses nothing.
func TestRecoveryInterrupted(t *testing.T) {
	for _, c := range leftovers {
		t.Run(c.name, func(t *testing.T) {
			disk := file.NewCrash()
			disk.SetSector(blockSize)
			put(t, disk, c.content)
			interrupt(t, disk, c.want, 2)
		})
	}
}

// interrupt makes sure that opening disk shows the payload want, also when the power goes meanwhile, up to depth times.
func interrupt(t *testing.T, disk *file.Crash, want []byte, depth int) {
	t.Helper()
	for k := 1; ; k++ {
		run := disk.Clone()
		if depth > 0 {
			run.CutAt(k)
		}
		tryOpen(t, run, want)
		if !run.IsCut() {
			return
		}
		if depth > 1 {
			fates(run, 2, func(_ string, left *file.Crash) { interrupt(t, left, want, depth-1) })
			continue
		}
		for _, left := range []*file.Crash{run.AfterCutKeeping(file.KeepAll), run.AfterCut(uint64(k))} {
			interrupt(t, left, want, depth-1)
		}
	}
}

// tryOpen opens a stack, which has to work unless the power is cut.
func tryOpen(t *testing.T, disk *file.Crash, want []byte) {
	t.Helper()
	s, err := stack.OpenFS(disk, name, nil)
	switch {
	case err == nil:
		holds(t, s, want)
		check(t, s.Close())
		rests(t, disk, want)
	case !disk.IsCut():
		t.Fatal(err)
	}
}
