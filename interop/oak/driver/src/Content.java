// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.jackrabbit.oak.api.PropertyState;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.plugins.memory.PropertyStates;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;

/** Content with something of everything that the format treats in a way of its own, below one node. */
final class Content {
    private static final int[] LENGTHS = {127, 4096, 16511, 262144};
    private static final int[] COUNTS = {0, 1, 2, 254, 255, 256, 257, 510, 511};
    private static final int[] LARGE_COUNTS = {65024, 65025, 65026, 65027, 70000};

    private final NodeBuilder top;
    private final Random random;
    private final Values values;

    Content(NodeBuilder top, Random random) {
        this.top = top;
        this.random = random;
        this.values = new Values(top, random);
    }

    void fill() throws IOException {
        types(top.child("types"));
        lengths(top.child("lengths"));
        arrays(top.child("arrays"), COUNTS);
        shapes(top.child("shapes"));
        names(top.child("names"));
        maps(top.child("maps"), 1, 2, 31, 32, 33, 34, 500);
        depth(top.child("depth"));
    }

    /** What is only large. */
    void large() throws IOException {
        arrays(top.child("arrays"), LARGE_COUNTS);
        maps(top.child("maps"), 5000);
        top.setProperty(binary("binary", (3 << 20) + random.nextInt(4096)));
    }

    private void types(NodeBuilder n) throws IOException {
        for (Type<?> t : Values.TYPES) {
            for (int i = 0; i < 5; i++) {
                n.setProperty(values.property(t + "" + i, t));
            }
            for (int count : new int[] {0, 1, 2, 7}) {
                n.setProperty(values.array(t + "s" + count, t, count));
            }
        }
    }

    private void lengths(NodeBuilder n) throws IOException {
        for (int length : LENGTHS) {
            for (int i = length - 1; i <= length + 2; i++) {
                n.setProperty("text" + i, values.text(i));
                n.setProperty(binary("binary" + i, i));
            }
        }
        n.setProperty("text262144+16512", values.text(262144 + 16512));
        for (int i = 2043; i < 2048; i++) { // about where the id of a binary in its own id gets long
            n.setProperty(binary("id" + i, i));
        }
        n.setProperty("again", n.getProperty("text262145").getValue(Type.STRING));
    }

    private PropertyState binary(String name, int length) throws IOException {
        return PropertyStates.createProperty(name, values.binary(length), Type.BINARY);
    }

    private void arrays(NodeBuilder n, int... counts) throws IOException {
        for (int count : counts) {
            Type<?> t = count > 1000 ? Type.BOOLEAN : List.of(Type.LONG, Type.NAME, Type.DOUBLE).get(random.nextInt(3));
            n.setProperty(values.array("array" + count, t, count));
        }
    }

    private void shapes(NodeBuilder n) throws IOException {
        for (int count : new int[] {0, 1, 2, 254, 255, 256, 257, 510, 600}) {
            NodeBuilder many = n.child("properties" + count);
            for (int i = 0; i < count; i++) {
                many.setProperty(values.property("p" + i, Type.LONG));
            }
        }
        NodeBuilder usual = n.child("usual").setProperty("jcr:primaryType", "nt:unstructured", Type.NAME)
            .setProperty("jcr:mixinTypes", List.of("mix:b", "mix:a", "mix:b"), Type.NAMES);
        usual.child("none").setProperty("jcr:primaryType", "nt:base", Type.NAME)
            .setProperty("jcr:mixinTypes", List.<String>of(), Type.NAMES);
        usual.child("most").setProperty(values.array("jcr:mixinTypes", Type.NAME, 1023));
        NodeBuilder unusual = n.child("unusual").setProperty("jcr:primaryType", "text")
            .setProperty("jcr:mixinTypes", "mix:a", Type.NAME);
        unusual.child("strings").setProperty("jcr:primaryType", List.of("nt:a"), Type.NAMES)
            .setProperty("jcr:mixinTypes", List.of("mix:a"), Type.STRINGS);
    }

    private void names(NodeBuilder n) throws IOException {
        for (int i = 0; i < 60; i++) {
            n.child(Names.odd(values)).setProperty(values.property(Names.odd(values), Type.STRING));
            n.setProperty(Names.odd(values), i);
        }
        for (int length : new int[] {127, 128, 4096, 16511, 16512, 20000}) {
            String name = Names.ofLength(values, length);
            n.child("one" + length).child(name).setProperty(name, length);
            n.child("two" + length).child(name).setProperty(name + "x", length);
            n.child("two" + length).child("another");
        }
        // On disk they are the same, so a node has one of them.
        n.child("lone").child(Names.loneSurrogates(values)).setProperty("a", 1);
        n.child("lone").child("another");
        n.child("lone property").setProperty(Names.loneSurrogates(values), "a");
    }

    private void maps(NodeBuilder n, int... counts) {
        for (int count : counts) {
            NodeBuilder many = n.child("children" + count);
            for (int i = 0; i < count; i++) {
                many.child("child-" + i).setProperty("i", i % 7);
            }
        }
        for (int pairs = 4; pairs <= 7; pairs++) {
            NodeBuilder many = n.child("colliding" + pairs);
            Names.colliding(pairs).forEach(many::child);
            many.child("other");
        }
    }

    private void depth(NodeBuilder n) {
        for (int i = 0; i < 100; i++) {
            n.setProperty("i", i);
            n = n.child("d" + i % 3);
        }
    }
}
