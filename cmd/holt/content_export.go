// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentExport() *cobra.Command {
	var o contentOpener
	var path, folder string
	var withBytes bool
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Print content as JSON, or copy it into a folder",
		Long: `Prints a line of JSON for each node, parents first: its path, its properties, each with name, type and
values. Values are text, as in the store; a binary is its length and SHA-256, and with --binaries its bytes in
base64.

With --folder, copies the content into a folder instead, which must be empty or not exist yet: a folder for each node,
in it .node.json with the properties and a file for each binary, which .node.json names. In names, what file systems do
not like is written as % and two hexadecimal digits. A file gets its name when it is complete: an interrupted run leaves
no other.`,
		Example: `  holt content export segmentstore
  holt content export segmentstore --path /root/content --folder content`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "exporting", func(s *content.Store, revision segment.RecordID) error {
				if folder != "" {
					n, err := exportFolder(cmd.Context(), s, revision, path, folder)
					if err == nil {
						fmt.Fprintf(cmd.OutOrStdout(), "exported %s\n", text.Plural(n, "node"))
					}
					return err
				}
				e := &jsonExport{store: s, out: bufio.NewWriter(cmd.OutOrStdout()), bytes: withBytes}
				return e.run(cmd.Context(), revision, path)
			})
		},
	}
	cmd.Flags().StringVar(&path, "path", "/root", "node to begin at")
	cmd.Flags().StringVar(&folder, "folder", "", "folder to copy the content into")
	cmd.Flags().BoolVar(&withBytes, "binaries", false, "print the bytes of binaries too")
	o.revisionFlag(cmd)
	o.blobFlag(cmd)
	return cmd
}

// jsonExport prints nodes as lines of JSON. It puts them together itself, so that a binary need not be in memory.
type jsonExport struct {
	store *content.Store
	out   *bufio.Writer
	bytes bool
}

func (e *jsonExport) run(ctx context.Context, revision segment.RecordID, path string) error {
	err := e.store.Walk(ctx, revision, path, content.WalkOptions{}, func(v *content.Visit) error {
		if err := e.node(v); err != nil {
			return v.Fail(err)
		}
		return nil
	})
	if ferr := e.out.Flush(); err == nil {
		err = ferr
	}
	return err
}

func (e *jsonExport) node(v *content.Visit) error {
	e.literal(`{"path":`)
	if err := e.value(content.CleanPath(string(v.Path))); err != nil {
		return err
	}
	e.literal(`,"properties":[`)
	p := v.Node.Properties()
	for first := true; p.Next(); first = false {
		if !first {
			e.literal(",")
		}
		if err := e.property(&p.Property); err != nil {
			return fmt.Errorf("property %q: %w", p.Name, err)
		}
	}
	e.literal("]}\n")
	return p.Err()
}

func (e *jsonExport) property(p *segment.Property) error {
	e.literal(`{"name":`)
	if err := e.value(string(segment.AppendText(nil, p.Name))); err != nil {
		return err
	}
	e.literal(`,"type":"` + p.Type.String() + `","values":[`)
	for i := range p.Count() {
		if i > 0 {
			e.literal(",")
		}
		v, err := p.Value(i)
		if err == nil && p.Type.Base() == segment.TypeBinary {
			err = e.binary(v)
		} else if err == nil {
			var t string
			if t, err = v.Text(maxText); err == nil {
				err = e.value(t)
			}
		}
		if err != nil {
			return err
		}
	}
	e.literal("]}")
	return nil
}

func (e *jsonExport) binary(v segment.Value) error {
	j, err := newBinaryJSON(e.store, v)
	if err != nil {
		return err
	}
	b, err := marshal(j)
	if err != nil || !e.bytes {
		e.literal(string(b))
		return err
	}
	e.literal(string(b[:len(b)-1]) + `,"base64":"`)
	r, err := e.store.Binary(v)
	if err != nil {
		return err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, e.out)
	_, err = io.Copy(encoder, r)
	for _, c := range []io.Closer{encoder, r} {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}
	e.literal(`"}`)
	return err
}

func (e *jsonExport) value(v any) error {
	b, err := marshal(v)
	e.literal(string(b))
	return err
}

// literal prints; errors stick to the buffer, and come up when it is flushed.
func (e *jsonExport) literal(s string) { _, _ = e.out.WriteString(s) }

// marshal makes JSON as the other commands print it, where < stays <.
func marshal(v any) (json.RawMessage, error) {
	var b jsonBuffer
	err := printJSON(&b, v)
	return json.RawMessage(b[:max(len(b)-1, 0)]), err // without the line's end
}

type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
