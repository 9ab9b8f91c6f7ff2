// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

func newContentNode() *cobra.Command {
	var o contentOpener
	var asJSON bool
	p := nodePrinter{}
	cmd := &cobra.Command{
		Use:   "node DIR [PATH]",
		Short: "Print a node: where it is, its properties and its children",
		Long: `Prints where a node is stored, its properties with their values, and the names of its children. Long values
and long lists are abridged, unless --full is given.`,
		Example: `  holt content node segmentstore /root/hello
  holt content node segmentstore /root/hello --full`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.view(cmd, args[0], "reading", func(s *content.Store, revision segment.RecordID) error {
				p.store, p.out, p.path = s, cmd.OutOrStdout(), content.CleanPath(pathArg(args, "/"))
				n, err := s.Find(revision, p.path)
				if err != nil {
					return err
				}
				if asJSON {
					return p.printJSON(n)
				}
				return s.Locate(p.print(n))
			})
		},
	}
	cmd.Flags().BoolVar(&p.full, "full", false, "print all values and children")
	o.revisionFlag(cmd)
	o.blobFlag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// nodePrinter prints a node.
type nodePrinter struct {
	store *content.Store
	out   io.Writer
	path  string
	full  bool
}

// What is shown without --full.
const (
	shownBytes    = 80
	shownValues   = 10
	shownChildren = 20
)

func (p *nodePrinter) print(n segment.Node) error {
	line := func(name, value string) { fmt.Fprintf(p.out, "%-12s%s\n", name+":", value) }
	stable, err := n.StableID()
	if err != nil {
		return err
	}
	count, err := n.ChildCount()
	if err != nil {
		return err
	}
	line("Path", p.path)
	line("Record", n.ID().String())
	line("Stable id", stable.String())
	line("Template", n.Template().ID().String())
	line("Generation", n.Segment().Generation().String())
	line("Properties", fmt.Sprint(n.PropertyCount()))
	props := n.Properties()
	for props.Next() {
		if err := p.property(&props.Property); err != nil {
			return err
		}
	}
	if props.Err() != nil {
		return props.Err()
	}
	line("Children", fmt.Sprint(count))
	return p.children(n, count)
}

func (p *nodePrinter) children(n segment.Node, count int) error {
	c := n.Children()
	for i := 0; c.Next(); i++ {
		if i == shownChildren && !p.full {
			fmt.Fprintf(p.out, "  … and %d more\n", count-i)
			break
		}
		fmt.Fprintf(p.out, "  %s\n", text.Auto.Text(segment.AppendText(nil, c.Name)))
	}
	return c.Err()
}

func (p *nodePrinter) property(prop *segment.Property) error {
	fmt.Fprintf(p.out, "  %s %s", text.Auto.Text(segment.AppendText(nil, prop.Name)), prop.Type)
	if !prop.Type.IsArray() {
		return p.value(prop, 0, " = ")
	}
	fmt.Fprintf(p.out, " %d\n", prop.Count())
	for i := range prop.Count() {
		if i == shownValues && !p.full {
			fmt.Fprintf(p.out, "    … and %d more\n", prop.Count()-i)
			return nil
		}
		if err := p.value(prop, i, "    "); err != nil {
			return err
		}
	}
	return nil
}

func (p *nodePrinter) value(prop *segment.Property, i int, lead string) error {
	v, err := prop.Value(i)
	if err != nil {
		return err
	}
	most := shownBytes
	if p.full {
		most = maxText
	}
	shown, err := shortValue(p.store, prop.Type, v, most)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s%s\n", lead, shown)
	return err
}

// printJSON prints all there is.
func (p *nodePrinter) printJSON(n segment.Node) error {
	j, err := newNodeJSON(p.store, p.path, n)
	if err != nil {
		return p.store.Locate(err)
	}
	stable, err := n.StableID()
	names := []string{}
	c := n.Children()
	for c.Next() {
		names = append(names, string(segment.AppendText(nil, c.Name)))
	}
	if err == nil {
		err = c.Err()
	}
	if err != nil {
		return p.store.Locate(err)
	}
	return printJSON(p.out, struct {
		nodeJSON
		Record   string   `json:"record"`
		Stable   string   `json:"stable"`
		Children []string `json:"children"`
	}{j, n.ID().String(), stable.String(), names})
}
