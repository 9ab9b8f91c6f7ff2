// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"math"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

// maxText bounds the text of one value in memory.
const maxText = math.MaxInt32

// nodeJSON is a node for programs.
type nodeJSON struct {
	Path       string         `json:"path"`
	Properties []propertyJSON `json:"properties"`
}

// propertyJSON is a property for programs. Numbers are text too, as they are in the store: JSON's are not exact.
type propertyJSON struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Values []any  `json:"values"` // strings, or binaryJSON
}

// binaryJSON is a binary: what it is, not its bytes.
type binaryJSON struct {
	Length int64  `json:"length"`
	SHA256 string `json:"sha256"`
	ID     string `json:"id,omitempty"`   // if it is kept outside
	File   string `json:"file,omitempty"` // that it was exported to
}

// newNodeJSON reads a node.
func newNodeJSON(s *content.Store, path string, n segment.Node) (nodeJSON, error) {
	j := nodeJSON{path, []propertyJSON{}}
	p := n.Properties()
	for p.Next() {
		prop, err := newPropertyJSON(s, &p.Property)
		if err != nil {
			return j, err
		}
		j.Properties = append(j.Properties, prop)
	}
	return j, p.Err()
}

func newPropertyJSON(s *content.Store, p *segment.Property) (propertyJSON, error) {
	j := propertyJSON{Name: string(segment.AppendText(nil, p.Name)), Type: p.Type.String(), Values: []any{}}
	for i := range p.Count() {
		v, err := p.Value(i)
		if err != nil {
			return j, err
		}
		var value any
		if p.Type.Base() == segment.TypeBinary {
			value, err = newBinaryJSON(s, v)
		} else {
			value, err = v.Text(maxText)
		}
		if err != nil {
			return j, err
		}
		j.Values = append(j.Values, value)
	}
	return j, nil
}

func newBinaryJSON(s *content.Store, v segment.Value) (*binaryJSON, error) {
	sum, n, err := s.Digest(v)
	if err != nil {
		return nil, err
	}
	j := &binaryJSON{Length: n, SHA256: hex.EncodeToString(sum[:])}
	if v.IsExternal() {
		j.ID, err = s.BlobID(v)
	}
	return j, err
}
