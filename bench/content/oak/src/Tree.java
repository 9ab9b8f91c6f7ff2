// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;

/** The content of ../../tree/tree.go, and must be changed along with that. */
final class Tree {
    private static final int ROOT = 0;
    private static final int SECTION = 1;
    private static final int FOLDER = 2;
    private static final int PAGE = 3;
    private static final int CONTENT = 4;
    private static final int COMPONENT = 5;

    private static final int FOLDERS_IN_SECTION = 100;
    private static final int PAGES_IN_FOLDER = 100;
    private static final int COMPONENTS_IN_CONTENT = 8;

    private static final String[] KINDS = {"text", "image", "title", "list", "teaser", "data"};

    private final int folders;

    Tree(int folders) {
        this.folders = folders;
    }

    void fill(NodeBuilder root) {
        fill(root, ROOT, 0);
    }

    private void fill(NodeBuilder node, int level, int serial) {
        properties(new Draft(node, (long) level << 40 | serial), level);
        for (int i = 0; i < children(level, serial); i++) {
            int child = child(level, serial, i);
            fill(node.child(name(level + 1, child)), level + 1, child);
        }
    }

    private int children(int level, int serial) {
        return switch (level) {
            case ROOT -> (folders + FOLDERS_IN_SECTION - 1) / FOLDERS_IN_SECTION;
            case SECTION -> Math.min(FOLDERS_IN_SECTION, folders - serial * FOLDERS_IN_SECTION);
            case FOLDER -> PAGES_IN_FOLDER;
            case PAGE -> 1;
            case CONTENT -> COMPONENTS_IN_CONTENT;
            default -> 0;
        };
    }

    private static int child(int level, int serial, int i) {
        return switch (level) {
            case SECTION -> serial * FOLDERS_IN_SECTION + i;
            case FOLDER -> serial * PAGES_IN_FOLDER + i;
            case CONTENT -> serial * COMPONENTS_IN_CONTENT + i;
            default -> serial + i;
        };
    }

    private static String name(int level, int serial) {
        return switch (level) {
            case SECTION -> "section-" + serial;
            case FOLDER -> "folder-" + serial;
            case PAGE -> "page-" + serial;
            case CONTENT -> "jcr:content";
            default -> "par-" + serial % COMPONENTS_IN_CONTENT;
        };
    }

    private static void properties(Draft d, int level) {
        switch (level) {
            case ROOT, SECTION, FOLDER -> {
                d.set("jcr:primaryType", "sling:OrderedFolder", Type.NAME);
                d.set("jcr:title", d.words(2, 6), Type.STRING);
                created(d);
            }
            case PAGE -> {
                d.set("jcr:primaryType", "cq:Page", Type.NAME);
                created(d);
            }
            case CONTENT -> page(d);
            default -> component(d);
        }
    }

    private static void created(Draft d) {
        d.set("jcr:created", d.date(), Type.DATE);
        d.set("jcr:createdBy", d.one("user", 50), Type.STRING);
    }

    private static void modified(Draft d) {
        d.set("jcr:lastModified", d.date(), Type.DATE);
        d.set("jcr:lastModifiedBy", d.one("user", 50), Type.STRING);
    }

    private static void page(Draft d) {
        d.set("jcr:primaryType", "cq:PageContent", Type.NAME);
        if (d.random.below(2) == 0) {
            d.set("jcr:mixinTypes", List.of("mix:versionable", "mix:lockable"), Type.NAMES);
        }
        created(d);
        modified(d);
        d.set("jcr:title", d.words(3, 9), Type.STRING);
        d.set("jcr:description", d.words(10, 40), Type.STRING);
        d.set("cq:template", d.one("/conf/site/settings/wcm/templates/page-", 5), Type.STRING);
        d.set("cq:tags", d.some("topic:", 200, 5), Type.STRINGS);
        d.set("jcr:uuid", d.id(), Type.STRING);
        d.set("hideInNav", d.flag(), Type.BOOLEAN);
        d.set("order", d.number(1_000_000), Type.LONG);
    }

    private static void component(Draft d) {
        int kind = d.random.below(KINDS.length);
        d.set("jcr:primaryType", "nt:unstructured", Type.NAME);
        d.set("sling:resourceType", "site/components/" + KINDS[kind], Type.STRING);
        created(d);
        modified(d);
        d.set("order", d.number(1000), Type.LONG);
        switch (kind) {
            case 0 -> {
                d.set("text", d.words(10, 60), Type.STRING);
                d.set("textIsRich", d.flag(), Type.BOOLEAN);
                d.set("style", d.one("style-", 20), Type.STRING);
                d.set("tags", d.some("topic:", 200, 5), Type.STRINGS);
            }
            case 1 -> {
                d.set("fileReference", d.one("/content/dam/site/images/img-", 20_000), Type.STRING);
                d.set("alt", d.words(2, 8), Type.STRING);
                d.set("width", d.number(4000), Type.LONG);
                d.set("height", d.number(4000), Type.LONG);
            }
            case 2 -> {
                d.set("jcr:title", d.words(3, 9), Type.STRING);
                d.set("level", d.number(6), Type.LONG);
                d.set("link", d.one("/content/site/page-", 100_000), Type.STRING);
                d.set("hidden", d.flag(), Type.BOOLEAN);
            }
            case 3 -> {
                d.set("pages", d.some("/content/site/page-", 100_000, 8), Type.STRINGS);
                d.set("limit", d.number(100), Type.LONG);
                d.set("orderBy", d.one("by-", 4), Type.NAME);
                d.set("ratio", d.fraction(), Type.DOUBLE);
            }
            case 4 -> {
                d.set("text", d.words(20, 80), Type.STRING);
                d.set("tags", d.some("topic:", 200, 5), Type.STRINGS);
                d.set("weight", d.fraction(), Type.DOUBLE);
                d.set("hidden", d.flag(), Type.BOOLEAN);
            }
            default -> {
                d.set("score", d.fraction(), Type.DOUBLE);
                List<Long> values = new ArrayList<>();
                for (int i = d.random.below(11); i > 0; i--) {
                    values.add(d.number(1_000_000_000));
                }
                d.set("values", values, Type.LONGS);
                d.set("uuid", d.id(), Type.STRING);
                d.set("label", d.one("label-", 1000), Type.NAME);
            }
        }
    }
}
