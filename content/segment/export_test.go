// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

var (
	JavaHash    = javaHash[string]
	MapHash     = mapHash[string]
	CompareText = compareText[string, string]
	BucketIndex = bucketIndex
)

// HashBytes is JavaHash of bytes.
func HashBytes(b []byte) uint32 { return javaHash(b) }

// Scan and Search find a property name in the two ways there are.
func (t Template) Scan(name string) (int, bool, error)   { return t.find(name, List.scan) }
func (t Template) Search(name string) (int, bool, error) { return t.find(name, List.search) }

func (t Template) find(name string, f func(List, string) (int, bool, error)) (int, bool, error) {
	names, err := t.names()
	if err != nil {
		return 0, false, err
	}
	return f(names, name)
}

// Skip makes ids that nobody uses, and counts them.
func (s *IDs) Skip(n int64) { s.made.Add(n) }

// LimitMaps has maps of more entries refused.
func (w *Writer) LimitMaps(entries int) { w.maxMap = entries }

var CleanText = cleanText
