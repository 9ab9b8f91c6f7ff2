// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rivals

package rivals

import (
	"database/sql"
	"errors"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

func init() { Engines = append(Engines, Engine{Name: "sqlite", Open: openSQLite, Alone: true}) }

// sqliteStore is a table, in one connection.
type sqliteStore struct {
	db                    *sql.DB
	get, from, put, erase *sql.Stmt
}

func openSQLite(dir string, durable bool) (Store, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "sqlite.db"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	sync := "OFF"
	if durable {
		sync = "FULL"
	}
	for _, q := range []string{
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = " + sync,
		"CREATE TABLE IF NOT EXISTS kv (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID",
	} {
		if _, err := db.Exec(q); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	s := &sqliteStore{db: db}
	for q, stmt := range map[string]**sql.Stmt{
		"SELECT v FROM kv WHERE k = ?":                     &s.get,
		"SELECT k, v FROM kv WHERE k >= ? ORDER BY k":      &s.from,
		"INSERT OR REPLACE INTO kv (k, v) VALUES (?1, ?2)": &s.put,
		"DELETE FROM kv WHERE k = ?":                       &s.erase,
	} {
		if *stmt, err = db.Prepare(q); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return s, nil
}

func (s *sqliteStore) View(fn func(r Reader) error) error {
	return s.in(func(tx *sql.Tx) error { return fn(&sqliteReader{get: tx.Stmt(s.get), from: tx.Stmt(s.from)}) })
}

func (s *sqliteStore) Update(fn func(w Writer) error) error {
	return s.in(func(tx *sql.Tx) error { return fn(sqliteWriter{tx.Stmt(s.put), tx.Stmt(s.erase)}) })
}

func (s *sqliteStore) in(fn func(tx *sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *sqliteStore) Close() error { return s.db.Close() }

type sqliteReader struct {
	get, from *sql.Stmt
	last      []byte
}

func (r *sqliteReader) Get(key []byte) ([]byte, error) {
	err := r.get.QueryRow(key).Scan(&r.last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r.last, err
}

func (r *sqliteReader) Cursor() (Cursor, error) { return &sqliteCursor{from: r.from}, nil }

type sqliteCursor struct {
	from *sql.Stmt
	rows *sql.Rows
	k, v sql.RawBytes
	err  error
}

func (c *sqliteCursor) Seek(key []byte) (k, v []byte) {
	if c.Close() != nil {
		return nil, nil
	}
	if c.rows, c.err = c.from.Query(key); c.err != nil {
		return nil, nil
	}
	return c.Next()
}

func (c *sqliteCursor) Next() (k, v []byte) {
	if c.err != nil || !c.rows.Next() {
		return nil, nil
	}
	if c.err = c.rows.Scan(&c.k, &c.v); c.err != nil {
		return nil, nil
	}
	return c.k, c.v
}

func (c *sqliteCursor) Close() error {
	if c.rows != nil {
		c.err = errors.Join(c.err, c.rows.Err(), c.rows.Close())
		c.rows = nil
	}
	return c.err
}

type sqliteWriter struct{ put, erase *sql.Stmt }

func (w sqliteWriter) Put(key, value []byte) error {
	_, err := w.put.Exec(key, value)
	return err
}

func (w sqliteWriter) Delete(key []byte) error {
	_, err := w.erase.Exec(key)
	return err
}
