// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package tree makes content to be measured with: a site of pages, the same whenever and wherever it is made.
// ../oak/src/Tree.java makes it too, and must be changed along with this.
//
// A tree has sections of up to 100 folders, of 100 pages each. A page has one child, with eight components: so a folder
// is 1001 nodes, with about ten properties each. A node depends on its level and on its number within that, and on
// nothing else.
package tree

import (
	"strconv"

	"github.com/holtdb/holt/content/segment"
)

// A Node is a node of a tree of so many folders.
type Node struct {
	folders int
	level   level
	serial  int // number within the level
}

type level int

const (
	root level = iota
	section
	folder
	page
	content
	component
)

const (
	foldersInSection    = 100
	pagesInFolder       = 100
	componentsInContent = 8
)

// Root is the topmost node of a tree.
func Root(folders int) Node { return Node{folders, root, 0} }

// Children is the number of children.
func (n Node) Children() int {
	switch n.level {
	case root:
		return (n.folders + foldersInSection - 1) / foldersInSection
	case section:
		return min(foldersInSection, n.folders-n.serial*foldersInSection)
	case folder:
		return pagesInFolder
	case page:
		return 1
	case content:
		return componentsInContent
	}
	return 0
}

// Child is the i-th child.
func (n Node) Child(i int) Node {
	c := Node{n.folders, n.level + 1, n.serial}
	switch n.level {
	case root:
		c.serial = i
	case section:
		c.serial = n.serial*foldersInSection + i
	case folder:
		c.serial = n.serial*pagesInFolder + i
	case content:
		c.serial = n.serial*componentsInContent + i
	}
	return c
}

// Name is the name of the node in its parent.
func (n Node) Name() string {
	switch n.level {
	case section:
		return "section-" + strconv.Itoa(n.serial)
	case folder:
		return "folder-" + strconv.Itoa(n.serial)
	case page:
		return "page-" + strconv.Itoa(n.serial)
	case content:
		return "jcr:content"
	case component:
		return "par-" + strconv.Itoa(n.serial%componentsInContent)
	}
	return ""
}

// Properties sets d to the properties of the node.
func (n Node) Properties(d *Draft) {
	d.begin(uint64(n.level)<<40 | uint64(n.serial))
	switch n.level {
	case root, section, folder:
		d.add("jcr:primaryType", segment.TypeName).text("sling:OrderedFolder")
		d.add("jcr:title", segment.TypeString).words(2, 6)
		d.created()
	case page:
		d.add("jcr:primaryType", segment.TypeName).text("cq:Page")
		d.created()
	case content:
		d.page()
	case component:
		d.component()
	}
	d.end()
}

func (d *Draft) created() {
	d.add("jcr:created", segment.TypeDate).date()
	d.add("jcr:createdBy", segment.TypeString).one("user", 50)
}

func (d *Draft) modified() {
	d.add("jcr:lastModified", segment.TypeDate).date()
	d.add("jcr:lastModifiedBy", segment.TypeString).one("user", 50)
}

func (d *Draft) page() {
	d.add("jcr:primaryType", segment.TypeName).text("cq:PageContent")
	if d.rng.below(2) == 0 {
		d.add("jcr:mixinTypes", segment.TypeNames).text("mix:versionable").text("mix:lockable")
	}
	d.created()
	d.modified()
	d.add("jcr:title", segment.TypeString).words(3, 9)
	d.add("jcr:description", segment.TypeString).words(10, 40)
	d.add("cq:template", segment.TypeString).one("/conf/site/settings/wcm/templates/page-", 5)
	d.add("cq:tags", segment.TypeStrings).some("topic:", 200, 5)
	d.add("jcr:uuid", segment.TypeString).id()
	d.add("hideInNav", segment.TypeBoolean).flag()
	d.add("order", segment.TypeLong).number(1_000_000)
}

var kinds = []string{"text", "image", "title", "list", "teaser", "data"}

func (d *Draft) component() {
	kind := d.rng.below(len(kinds))
	d.add("jcr:primaryType", segment.TypeName).text("nt:unstructured")
	d.add("sling:resourceType", segment.TypeString).text("site/components/" + kinds[kind])
	d.created()
	d.modified()
	d.add("order", segment.TypeLong).number(1000)
	switch kind {
	case 0:
		d.add("text", segment.TypeString).words(10, 60)
		d.add("textIsRich", segment.TypeBoolean).flag()
		d.add("style", segment.TypeString).one("style-", 20)
		d.add("tags", segment.TypeStrings).some("topic:", 200, 5)
	case 1:
		d.add("fileReference", segment.TypeString).one("/content/dam/site/images/img-", 20_000)
		d.add("alt", segment.TypeString).words(2, 8)
		d.add("width", segment.TypeLong).number(4000)
		d.add("height", segment.TypeLong).number(4000)
	case 2:
		d.add("jcr:title", segment.TypeString).words(3, 9)
		d.add("level", segment.TypeLong).number(6)
		d.add("link", segment.TypeString).one("/content/site/page-", 100_000)
		d.add("hidden", segment.TypeBoolean).flag()
	case 3:
		d.add("pages", segment.TypeStrings).some("/content/site/page-", 100_000, 8)
		d.add("limit", segment.TypeLong).number(100)
		d.add("orderBy", segment.TypeName).one("by-", 4)
		d.add("ratio", segment.TypeDouble).fraction()
	case 4:
		d.add("text", segment.TypeString).words(20, 80)
		d.add("tags", segment.TypeStrings).some("topic:", 200, 5)
		d.add("weight", segment.TypeDouble).fraction()
		d.add("hidden", segment.TypeBoolean).flag()
	case 5:
		d.add("score", segment.TypeDouble).fraction()
		d.add("values", segment.TypeLongs).numbers(1_000_000_000, 10)
		d.add("uuid", segment.TypeString).id()
		d.add("label", segment.TypeName).one("label-", 1000)
	}
}
