// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.nio.file.Files;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.apache.jackrabbit.oak.api.CommitFailedException;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.plugins.blob.MarkSweepGarbageCollector;
import org.apache.jackrabbit.oak.plugins.blob.datastore.DataStoreBlobStore;
import org.apache.jackrabbit.oak.plugins.memory.PropertyStates;
import org.apache.jackrabbit.oak.segment.SegmentBlobReferenceRetriever;
import org.apache.jackrabbit.oak.segment.SegmentNodeState;
import org.apache.jackrabbit.oak.segment.SegmentNodeStore;
import org.apache.jackrabbit.oak.segment.SegmentNodeStoreBuilders;
import org.apache.jackrabbit.oak.segment.file.FileStore;
import org.apache.jackrabbit.oak.spi.commit.CommitInfo;
import org.apache.jackrabbit.oak.spi.commit.EmptyHook;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;

/** A store that is open for writing. */
final class Store {
    private final File dir;
    private final Options options;
    private FileStore files;
    private SegmentNodeStore nodes;

    Store(File dir, Options options) throws Exception {
        this.dir = dir;
        this.options = options;
        open();
    }

    private void open() throws Exception {
        files = options.builder(dir).build();
        nodes = SegmentNodeStoreBuilders.builder(files).build();
    }

    void close() {
        files.close();
    }

    void flush() throws Exception {
        files.flush();
    }

    SegmentNodeState head() {
        return files.getHead();
    }

    void fill(String name, long seed) throws Exception {
        NodeBuilder root = nodes.getRoot().builder();
        new Content(root.child(name), new Random(seed)).fill();
        merge(root);
    }

    void large(String name, long seed) throws Exception {
        NodeBuilder root = nodes.getRoot().builder();
        new Content(root.child(name), new Random(seed)).large();
        merge(root);
    }

    void binary(int length, long seed) throws Exception {
        NodeBuilder root = nodes.getRoot().builder();
        NodeBuilder node = root.child("binary" + length);
        Object value = new Values(node, new Random(seed)).binary(length);
        node.setProperty(PropertyStates.createProperty("binary", value, Type.BINARY));
        merge(root);
    }

    void change(long seed, int commits) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < commits; i++) {
            NodeBuilder root = nodes.getRoot().builder();
            Changes.make(root, random);
            merge(root);
        }
    }

    private void merge(NodeBuilder root) throws CommitFailedException {
        nodes.merge(root, EmptyHook.INSTANCE, CommitInfo.EMPTY);
    }

    String checkpoint() {
        return nodes.checkpoint(Long.MAX_VALUE, Map.of("of", "driver", "odd \u00e9 name", "\ud83d\ude00"));
    }

    String release(int n) {
        String name = checkpoints()[n];
        return String.valueOf(nodes.release(name));
    }

    private String[] checkpoints() {
        TreeSet<String> names = new TreeSet<>();
        nodes.checkpoints().forEach(names::add);
        return names.toArray(new String[0]);
    }

    /** Opens the store anew before: until then Oak declines, for ten hours, to collect after it has collected. */
    String collect(String kind) throws Exception {
        files.close();
        open();
        switch (kind) {
            case "full" -> files.fullGC();
            case "tail" -> files.tailGC();
            default -> files.cleanup();
        }
        var g = files.getHead().getGcGeneration();
        return g.getGeneration() + " " + g.getFullGeneration() + " " + g.isCompacted();
    }

    /** Deletes binaries kept outside that are not in use, and were last written longer ago than that. */
    void collectBlobs(long seconds) throws Exception {
        files.close();
        open(); // whatever is in memory refers to nothing
        DataStoreBlobStore blobs = options.blobStore();
        blobs.setRepositoryId("driver");
        File temp = Files.createTempDirectory("blobs").toFile();
        new MarkSweepGarbageCollector(new SegmentBlobReferenceRetriever(files), blobs, Runnable::run,
            temp.getPath(), 2048, seconds, "driver").collectGarbage(false);
    }
}
