// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/holtdb/holt/kv"
)

// openExample opens a new database, whose file goes away with it.
func openExample() (db *kv.DB, remove func()) {
	dir, err := os.MkdirTemp("", "holt")
	if err != nil {
		log.Fatal(err)
	}
	db, err = kv.Open(filepath.Join(dir, "example.db"), 0o600, nil)
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		if err := errors.Join(db.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// openPlanets opens a database with a bucket of planets and their years in days.
func openPlanets() (db *kv.DB, remove func()) {
	db, remove = openExample()
	err := db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("planets"))
		if err != nil {
			return err
		}
		for name, days := range map[string]string{
			"earth": "365", "jupiter": "4333", "mars": "687", "mercury": "88", "venus": "225",
		} {
			if err := b.Put([]byte(name), []byte(days)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return db, remove
}

func Example() {
	dir, err := os.MkdirTemp("", "holt")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	db, err := kv.Open(filepath.Join(dir, "my.db"), 0o600, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			log.Print(err)
		}
	}()

	err = db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("colours"))
		if err != nil {
			return err
		}
		return b.Put([]byte("sky"), []byte("blue"))
	})
	if err != nil {
		log.Fatal(err)
	}

	err = db.View(func(tx *kv.Tx) error {
		v := tx.Bucket([]byte("colours")).Get([]byte("sky"))
		fmt.Printf("the sky is %s\n", v)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: the sky is blue
}

// An error keeps the transaction from being committed.
func ExampleDB_Update_rollback() {
	db, remove := openPlanets()
	defer remove()

	err := db.Update(func(tx *kv.Tx) error {
		if err := tx.DeleteBucket([]byte("planets")); err != nil {
			return err
		}
		return errors.New("changed my mind")
	})
	fmt.Println(err)

	_ = db.View(func(tx *kv.Tx) error {
		fmt.Println("still there:", tx.Bucket([]byte("planets")) != nil)
		return nil
	})
	// Output:
	// changed my mind
	// still there: true
}

// Begin is for transactions that do not fit into one function. End each of them, whatever happens.
func ExampleDB_Begin() {
	db, remove := openExample()
	defer remove()

	tx, err := db.Begin(true)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit

	if _, err := tx.CreateBucket([]byte("b")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(tx.Commit(), "-", tx.Rollback())
	// Output: <nil> - tx closed
}

// Many goroutines that write a little each share transactions, and the time it takes to make them durable.
func ExampleDB_Batch() {
	db, remove := openPlanets()
	defer remove()

	var visitors sync.WaitGroup
	for range 100 {
		visitors.Go(func() {
			err := db.Batch(func(tx *kv.Tx) error {
				b := tx.Bucket([]byte("planets"))
				n, _ := strconv.Atoi(string(b.Get([]byte("visits"))))
				return b.Put([]byte("visits"), strconv.AppendInt(nil, int64(n)+1, 10))
			})
			if err != nil {
				log.Print(err)
			}
		})
	}
	visitors.Wait()

	_ = db.View(func(tx *kv.Tx) error {
		fmt.Printf("%s visits\n", tx.Bucket([]byte("planets")).Get([]byte("visits")))
		return nil
	})
	// Output: 100 visits
}

func ExampleBucket_CreateBucket() {
	db, remove := openExample()
	defer remove()

	err := db.Update(func(tx *kv.Tx) error {
		users, err := tx.CreateBucket([]byte("users"))
		if err != nil {
			return err
		}
		for _, name := range []string{"ada", "grace"} {
			user, err := users.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			if err := user.Put([]byte("mail"), []byte(name+"@example.org")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}

	_ = db.View(func(tx *kv.Tx) error {
		users := tx.Bucket([]byte("users"))
		for name, value := range users.All() {
			fmt.Printf("%s: a bucket: %t, mail %s\n", name, value == nil, users.Bucket(name).Get([]byte("mail")))
		}
		return nil
	})
	// Output:
	// ada: a bucket: true, mail ada@example.org
	// grace: a bucket: true, mail grace@example.org
}

// Big-endian numbers sort as keys like they do as numbers.
func ExampleBucket_NextSequence() {
	db, remove := openExample()
	defer remove()

	err := db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("log"))
		if err != nil {
			return err
		}
		for _, line := range []string{"one", "two", "three"} {
			n, err := b.NextSequence()
			if err != nil {
				return err
			}
			if err := b.Put(binary.BigEndian.AppendUint64(nil, n), []byte(line)); err != nil {
				return err
			}
		}
		for k, v := range b.All() {
			fmt.Println(binary.BigEndian.Uint64(k), string(v))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 one
	// 2 two
	// 3 three
}

func ExampleBucket_All() {
	db, remove := openPlanets()
	defer remove()

	_ = db.View(func(tx *kv.Tx) error {
		for name, days := range tx.Bucket([]byte("planets")).All() {
			fmt.Printf("%s %s\n", name, days)
		}
		return nil
	})
	// Output:
	// earth 365
	// jupiter 4333
	// mars 687
	// mercury 88
	// venus 225
}

func ExampleBucket_Backward() {
	db, remove := openPlanets()
	defer remove()

	_ = db.View(func(tx *kv.Tx) error {
		for name := range tx.Bucket([]byte("planets")).Backward() {
			fmt.Printf("%s ", name)
		}
		return nil
	})
	// Output: venus mercury mars jupiter earth
}

func ExampleBucket_Scan() {
	db, remove := openPlanets()
	defer remove()

	_ = db.View(func(tx *kv.Tx) error {
		for name := range tx.Bucket([]byte("planets")).Scan([]byte("f"), []byte("mercury")) {
			fmt.Printf("%s ", name)
		}
		return nil
	})
	// Output: jupiter mars
}

func ExampleBucket_Prefix() {
	db, remove := openPlanets()
	defer remove()

	_ = db.View(func(tx *kv.Tx) error {
		for name := range tx.Bucket([]byte("planets")).Prefix([]byte("m")) {
			fmt.Printf("%s ", name)
		}
		return nil
	})
	// Output: mars mercury
}

// The same as a loop over Bucket.Prefix, and how to do what that cannot: going back and forth.
func ExampleCursor_Seek() {
	db, remove := openPlanets()
	defer remove()

	_ = db.View(func(tx *kv.Tx) error {
		c, prefix := tx.Bucket([]byte("planets")).Cursor(), []byte("m")
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			fmt.Printf("%s %s\n", k, v)
		}
		k, _ := c.Prev()
		fmt.Printf("back to %s\n", k)
		return nil
	})
	// Output:
	// mars 687
	// mercury 88
	// back to mercury
}

func ExampleCursor_SeekForPrev() {
	db, remove := openPlanets()
	defer remove()

	_ = db.View(func(tx *kv.Tx) error {
		k, _ := tx.Bucket([]byte("planets")).Cursor().SeekForPrev([]byte("neptune"))
		fmt.Printf("the last planet up to neptune is %s\n", k)
		return nil
	})
	// Output: the last planet up to neptune is mercury
}

func ExampleCursor_Delete() {
	db, remove := openPlanets()
	defer remove()

	err := db.Update(func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("planets"))
		c := b.Cursor()
		for k, days := c.First(); k != nil; k, days = c.Next() {
			if len(days) == 3 {
				if err := c.Delete(); err != nil {
					return err
				}
			}
		}
		for name := range b.All() {
			fmt.Println(string(name))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// jupiter
	// mercury
}

// A backup is a read transaction: it can be sent while others write.
func ExampleTx_WriteTo() {
	db, remove := openPlanets()
	defer remove()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := db.View(func(tx *kv.Tx) error {
			w.Header().Set("Content-Disposition", `attachment; filename="planets.db"`)
			w.Header().Set("Content-Length", strconv.FormatInt(tx.Size(), 10))
			_, err := tx.WriteToContext(r.Context(), w)
			return err
		})
		if err != nil {
			log.Print(err) // too late for a status: the client gets less than it was promised
		}
	}))
	defer server.Close()

	response, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	n, err := io.Copy(io.Discard, response.Body)
	fmt.Println(n == response.ContentLength, err)
	// Output: true <nil>
}

func ExampleOptions() {
	dir, err := os.MkdirTemp("", "holt")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	db, err := kv.Open(filepath.Join(dir, "my.db"), 0o600, &kv.Options{
		Timeout:    time.Second,                                 // do not wait for another process for ever
		SingleSync: true,                                        // commits wait for the disk once
		AutoShrink: &kv.ShrinkOptions{BytesPerSecond: 16 << 20}, // the file becomes smaller when much was deleted
		Slog:       slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
}

func ExampleDB_Shrink() {
	db, remove := openPlanets()
	defer remove()
	report, err := db.Shrink(context.Background(), kv.ShrinkOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("became shorter:", report.After < report.Before)
	fmt.Println("bytes that readers hold:", report.Held)
	// Output:
	// became shorter: true
	// bytes that readers hold: 0
}

func ExampleCompact() {
	db, remove := openPlanets()
	defer remove()
	small, removeSmall := openExample()
	defer removeSmall()

	// A lot is stored and deleted again. The pages it took are free, and stay in the file.
	planets := []byte("planets")
	err := errors.Join(
		db.Update(func(tx *kv.Tx) error { return tx.Bucket(planets).Put([]byte("moons"), make([]byte, 4<<20)) }),
		db.Update(func(tx *kv.Tx) error { return tx.Bucket(planets).Delete([]byte("moons")) }),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := kv.Compact(small, db, 1<<20); err != nil {
		log.Fatal(err)
	}
	size := func(db *kv.DB) (n int64) {
		_ = db.View(func(tx *kv.Tx) error {
			n = tx.Size()
			return nil
		})
		return n
	}
	fmt.Println("above 4 MiB:", size(db) > 4<<20, size(small) > 4<<20)
	// Output: above 4 MiB: true false
}

func ExampleTx_Check() {
	db, remove := openPlanets()
	defer remove()

	err := db.View(func(tx *kv.Tx) error {
		n := 0
		for err := range tx.Check() {
			fmt.Println(err)
			n++
		}
		fmt.Println(n, "errors")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 0 errors
}

// View, Update and Batch return damage that they meet, even from where there is no error to return.
func ExampleCorruptError() {
	db, remove := openPlanets()
	defer remove()

	// Overwrite the pages behind the two metas, as a bad disk might.
	f, err := os.OpenFile(db.Path(), os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	size := int64(db.Info().PageSize)
	_, err = f.WriteAt(make([]byte, 6*size), 2*size)
	if err := errors.Join(err, f.Close()); err != nil {
		log.Fatal(err)
	}

	err = db.View(func(tx *kv.Tx) error {
		tx.Bucket([]byte("planets")) // returns no error
		return nil
	})
	if damage, ok := errors.AsType[*kv.CorruptError](err); ok {
		fmt.Println(damage.Off == int64(damage.Page)*size, damage.Path == db.Path())
	}
	// Output: true true
}
