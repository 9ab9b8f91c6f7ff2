// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// call sends one request of etcd's JSON gateway, in which byte strings travel as base64 like []byte in encoding/json,
// and 64-bit numbers as strings.
func (n *node) call(ctx context.Context, method string, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	reply, err := n.send(ctx, method, body)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Close() }()
	return json.NewDecoder(reply).Decode(response)
}

func (n *node) send(ctx context.Context, method string, body []byte) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.client+"/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return nil, fmt.Errorf("%s on %s: %s: %s", method, n.name, res.Status, text)
	}
	return res.Body, nil
}

func (n *node) health(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.client+"/health", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}

type header struct {
	Revision int64 `json:"revision,string"`
}

type pair struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value,omitempty"`
}

// put stores a pair and returns the revision this made.
func (n *node) put(ctx context.Context, p pair) (int64, error) {
	var res struct{ Header header }
	err := n.call(ctx, "kv/put", p, &res)
	return res.Header.Revision, err
}

func (n *node) remove(ctx context.Context, key []byte) error {
	return n.call(ctx, "kv/deleterange", pair{Key: key}, &struct{}{})
}

// all returns every pair as this very node has it, without asking the others.
func (n *node) all(ctx context.Context) (map[string]string, error) {
	request := struct {
		Key          []byte `json:"key"`
		RangeEnd     []byte `json:"range_end"`
		Serializable bool   `json:"serializable"`
	}{[]byte{0}, []byte{0}, true}
	var res struct{ Kvs []pair }
	if err := n.call(ctx, "kv/range", request, &res); err != nil {
		return nil, err
	}
	pairs := make(map[string]string, len(res.Kvs))
	for _, p := range res.Kvs {
		pairs[string(p.Key)] = string(p.Value)
	}
	return pairs, nil
}

// A hash sums up every key and its history at a revision: two nodes that agree have equal stores.
type hash struct {
	Hash            uint32 `json:"hash"`
	CompactRevision int64  `json:"compact_revision,string"`
	HashRevision    int64  `json:"hash_revision,string"`
}

// hashAt returns the hash at a revision, an error if the node has not yet got so far.
func (n *node) hashAt(ctx context.Context, revision int64) (hash, error) {
	var res hash
	err := n.call(ctx, "maintenance/hashkv", header{revision}, &res)
	return res, err
}

func (n *node) compact(ctx context.Context, revision int64) error {
	request := struct {
		Revision int64 `json:"revision,string"`
		Physical bool  `json:"physical"`
	}{revision, true}
	return n.call(ctx, "kv/compaction", request, &struct{}{})
}

// defragment makes the node rewrite its whole database file.
func (n *node) defragment(ctx context.Context) error {
	return n.call(ctx, "maintenance/defragment", struct{}{}, &struct{}{})
}

// snapshot copies a consistent database file to w, which etcd sends with a hash at its end.
func (n *node) snapshot(ctx context.Context, w io.Writer) error {
	reply, err := n.send(ctx, "maintenance/snapshot", []byte("{}"))
	if err != nil {
		return err
	}
	defer func() { _ = reply.Close() }()
	for chunks := json.NewDecoder(reply); ; {
		var chunk struct{ Result struct{ Blob []byte } }
		err := chunks.Decode(&chunk)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(chunk.Result.Blob); err != nil {
			return err
		}
	}
}
