// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/kv/surgery"
)

func newMetaValidate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check both meta pages",
		Long: `Checks magic number, version and checksum of both meta pages, and whether the pages are there that went down together
with the newest one. One valid meta page is enough to open a database, but a sound one has two.`,
		Example: "  holt kv surgery meta validate my.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			file, err := openRaw(args[0])
			if err != nil {
				return err
			}
			defer closeWith(&err, file)
			out := cmd.OutOrStdout()
			invalid := 0
			for id := range 2 {
				m, err := file.Meta(id)
				if err != nil {
					return fmt.Errorf("read meta page %d failed: %w", id, err)
				}
				if m.Err != nil {
					invalid++
				}
				switch {
				case asJSON:
					if err := printJSON(out, validity(id, m)); err != nil {
						return err
					}
				case m.Err != nil:
					fmt.Fprintf(out, "WARNING: The meta page %d isn't valid: %v!\n", id, m.Err)
				default:
					fmt.Fprintf(out, "The meta page %d is valid!\n", id)
				}
			}
			if invalid > 0 {
				return fmt.Errorf("%d of 2 meta pages are not valid", invalid)
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// metaValidity is a line of meta validate in JSON.
type metaValidity struct {
	ID    int    `json:"id"`
	Valid bool   `json:"valid"`
	Error string `json:"error,omitempty"`
}

func validity(id int, m surgery.Meta) metaValidity {
	if m.Err != nil {
		return metaValidity{ID: id, Error: m.Err.Error()}
	}
	return metaValidity{ID: id, Valid: true}
}

func newMetaUpdate() *cobra.Command {
	var (
		id     uint32
		fields []string
	)
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Change fields of a meta page",
		Long: `Changes fields of a meta page, and repairs its magic number, version, flags and checksum. The fields are pageSize, root
(page), freelist (page) and pgid (the first page never allocated), each given as name:value.`,
		Example: "  holt kv surgery meta update my.db --output repaired.db --meta-page 1 --fields root:16,freelist:8",
	}
	cmd.Flags().Uint32Var(&id, "meta-page", 0, "the meta page to change, 0 or 1")
	cmd.Flags().StringSliceVar(&fields, "fields", nil,
		"comma separated fields as name:value, of pageSize, root, freelist and pgid; may be repeated")
	return editCommand(cmd, func(op operation) error {
		if id > 1 {
			return usagef("invalid meta page id: %d", id)
		}
		set, err := parseMetaFields(fields)
		if err != nil {
			return err
		}
		return op.edit(func(e *surgery.Editor) error {
			changed, err := e.UpdateMeta(int(id), set)
			if err != nil {
				return err
			}
			if !changed {
				op.printf("Nothing changed!")
				return nil
			}
			if err := op.warnPageSizes(e); err != nil {
				return err
			}
			op.printf("The meta page %d has been updated!", id)
			return nil
		})
	})
}

func (op operation) warnPageSizes(e *surgery.Editor) error {
	m0, err := e.Meta(0)
	if err != nil {
		return err
	}
	m1, err := e.Meta(1)
	if err != nil {
		return err
	}
	if m0.PageSize != m1.PageSize {
		op.printf("WARNING: The page size (%d) in the first meta page doesn't match the second meta page (%d)",
			m0.PageSize, m1.PageSize)
	}
	return nil
}

// parseMetaFields parses fields given as name:value.
func parseMetaFields(fields []string) (set surgery.MetaFields, err error) {
	for _, field := range fields {
		name, value, ok := strings.Cut(field, ":")
		if !ok {
			return set, usagef("invalid key-value pair: %s", field)
		}
		bits := 64
		if name == "pageSize" {
			bits = 32
		}
		n, err := strconv.ParseUint(value, 10, bits)
		if err != nil {
			return set, usagef("invalid value %q for field %q", value, name)
		}
		switch name {
		case "pageSize":
			size := uint32(n)
			set.PageSize = &size
		case "root":
			set.Root = &n
		case "freelist":
			set.Freelist = &n
		case "pgid":
			set.HWM = &n
		default:
			return set, usagef("field %q isn't allowed to be updated", name)
		}
	}
	return set, nil
}
