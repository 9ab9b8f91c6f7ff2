// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import "iter"

// ReplaceJournal is as [JournalReplacer] says. Nothing is kept of what was the journal: backup is always empty.
func (s *memoryStore) ReplaceJournal(oldestFirst iter.Seq[Revision]) (backup string, err error) {
	if err := s.change(func(*Memory) error { return nil }); err != nil {
		return "", err
	}
	var journal []Revision
	_, err = checkRevisions(s, oldestFirst, func(r Revision) error {
		journal = append(journal, r)
		return nil
	})
	if err != nil {
		return "", err
	}
	return "", s.change(func(m *Memory) error {
		m.journal = journal
		return nil
	})
}
