// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Name is the name of an archive's file: a number, which says how old its segments are, and a letter, which says how often
// a cleanup has written it anew.
type Name struct {
	Number int32
	Letter byte // a to z
}

const (
	firstLetter = 'a'
	lastLetter  = 'z'

	archiveSuffix = ".tar"
)

func (n Name) String() string { return fmt.Sprintf("data%05d%c.tar", n.Number, n.Letter) }

var namePattern = regexp.MustCompile(`^data([0-9]{5}|[1-9][0-9]{5,9})([a-z]?)\.tar$`)

// ParseName takes a name apart. One without a letter is that of a very old archive, and means the first.
func ParseName(s string) (Name, bool) {
	m := namePattern.FindStringSubmatch(s)
	if m == nil {
		return Name{}, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > math.MaxInt32 {
		return Name{}, false
	}
	name := Name{int32(n), firstLetter}
	if m[2] != "" {
		name.Letter = m[2][0]
	}
	return name, true
}

// found is an archive in a directory: its file may have a name of the older form.
type found struct {
	Name
	file string
}

// arrange puts archives in order: by number, then by letter. Two files may not be the same archive.
func arrange(dir string, files []string) ([]found, error) {
	var list []found
	seen := map[Name]string{}
	for _, f := range files {
		n, ok := ParseName(f)
		if !ok {
			continue
		}
		if other, twice := seen[n]; twice {
			return nil, &VersionError{dir, fmt.Sprintf("%s and %s are the same archive", other, f)}
		}
		seen[n] = f
		list = append(list, found{n, f})
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Letter, b.Letter))
	})
	return list, nil
}

// isTar says whether a file is an archive of this store, or perhaps of one older than it.
func isTar(name string) bool { return strings.HasSuffix(name, archiveSuffix) }
