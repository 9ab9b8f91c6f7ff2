// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/holtdb/holt/content/blob"
)

func Example() {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &blob.FileStore{Dir: dir, Inline: 10} // only the shortest in their ids
	for _, text := range []string{"short", "not so short", "not so short", "of nobody's use"} {
		id, err := s.Write(strings.NewReader(text))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id)
	}

	const id = "882e3ff6413c28763485e1b408b30a117ea02a12d7190ab78e53115b0e528a66#12"
	used := func(yield func(string, error) bool) { yield(id, nil) }
	opts := blob.CollectOptions{Now: func() time.Time { return time.Now().Add(time.Hour) }, Grace: time.Minute}
	report, err := blob.Collect(context.Background(), s, used, opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("deleted:", report.Deleted.Count)
	r, err := s.Open(id)
	if err != nil {
		log.Fatal(err)
	}
	b, err := io.ReadAll(r)
	fmt.Printf("%s, %v, %v\n", b, err, r.Close())
	// Output:
	// 0x73686f7274#5
	// 882e3ff6413c28763485e1b408b30a117ea02a12d7190ab78e53115b0e528a66#12
	// 882e3ff6413c28763485e1b408b30a117ea02a12d7190ab78e53115b0e528a66#12
	// 74fd7b1785ce9c007ff342cc052a0bf0fb079344a6bffc39bb89227996bbab1c#15
	// deleted: 1
	// not so short, <nil>, <nil>
}
