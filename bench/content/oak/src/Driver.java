// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.jackrabbit.oak.api.PropertyState;
import org.apache.jackrabbit.oak.segment.SegmentNodeStore;
import org.apache.jackrabbit.oak.segment.SegmentNodeStoreBuilders;
import org.apache.jackrabbit.oak.segment.file.FileStore;
import org.apache.jackrabbit.oak.segment.file.FileStoreBuilder;
import org.apache.jackrabbit.oak.segment.file.ReadOnlyFileStore;
import org.apache.jackrabbit.oak.spi.commit.CommitInfo;
import org.apache.jackrabbit.oak.spi.commit.EmptyHook;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;
import org.apache.jackrabbit.oak.spi.state.NodeState;

/**
 * Does what it is told by lines of standard input, and answers each with a line of JSON:
 *
 * <pre>
 * open DIR                opens a store to be traversed
 * traverse                reads everything in it
 * write DIR FOLDERS       makes a store with a tree
 * </pre>
 *
 * With the arguments DIR and PATH it reads one node instead.
 */
final class Driver {
    private ReadOnlyFileStore store;

    private Driver() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 2) {
            one(new File(args[0]), args[1]);
            return;
        }
        Driver d = new Driver();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            System.out.println(d.command(words));
        }
    }

    private String command(String[] words) throws Exception {
        long start = System.nanoTime();
        switch (words[0]) {
            case "open" -> {
                store = builder(new File(words[1])).buildReadOnly();
                return "{}";
            }
            case "traverse" -> {
                Traversal t = new Traversal();
                t.node(store.getHead());
                return "{\"ns\":%d,\"nodes\":%d,\"properties\":%d,\"sum\":%d}"
                    .formatted(System.nanoTime() - start, t.nodes, t.properties, t.sum);
            }
            case "write" -> {
                write(new File(words[1]), Integer.parseInt(words[2]));
                return "{\"ns\":%d}".formatted(System.nanoTime() - start);
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static FileStoreBuilder builder(File dir) {
        return FileStoreBuilder.fileStoreBuilder(dir).withMemoryMapping(true);
    }

    private static void write(File dir, int folders) throws Exception {
        try (FileStore files = builder(dir).build()) {
            SegmentNodeStore nodes = SegmentNodeStoreBuilders.builder(files).build();
            NodeBuilder root = nodes.getRoot().builder();
            new Tree(folders).fill(root.child("tree"));
            nodes.merge(root, EmptyHook.INSTANCE, CommitInfo.EMPTY);
        }
    }

    private static void one(File dir, String path) throws Exception {
        try (ReadOnlyFileStore files = builder(dir).buildReadOnly()) {
            NodeState n = files.getHead();
            for (String name : path.substring(1).split("/")) {
                n = n.getChildNode(name);
            }
            for (PropertyState p : n.getProperties()) {
                System.out.println(p);
            }
        }
    }
}
