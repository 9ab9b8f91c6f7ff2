// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.jackrabbit.oak.api.PropertyState;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;

/** Random changes of what is there. */
final class Changes {
    private final NodeBuilder root;
    private final Random random;
    private final Values values;

    private Changes(NodeBuilder root, Random random) {
        this.root = root;
        this.random = random;
        this.values = new Values(root, random);
    }

    /** Makes the changes of one commit: one, or several. */
    static void make(NodeBuilder root, Random random) throws IOException {
        Changes c = new Changes(root, random);
        for (int i = random.nextInt(2) * random.nextInt(20); i >= 0; i--) {
            c.one(); // which may find nothing to do
        }
        root.setProperty("last", random.nextLong());
    }

    private void one() throws IOException {
        NodeBuilder n = somewhere();
        switch (random.nextInt(10)) {
            case 0, 1 -> n.child(Names.odd(values)).setProperty(some(Names.odd(values)));
            case 2 -> subtree(n.child(Names.odd(values)), 3);
            case 3 -> remove(n);
            case 4 -> { // fails if the target is below: no harm
                n.moveTo(somewhere(), Names.odd(values));
            }
            case 5 -> removeProperty(n);
            case 6 -> { // a map that is a leaf gets branches, or the other way round
                for (int i = random.nextInt(60); i > 0; i--) {
                    n.child("c" + random.nextInt(100)).setProperty("i", i);
                }
            }
            case 7 -> {
                for (String name : List.copyOf(names(n))) {
                    if (random.nextInt(3) == 0 && n != root) {
                        n.getChildNode(name).remove();
                    }
                }
            }
            default -> n.setProperty(some(Names.odd(values)));
        }
    }

    /** A node that is found by going down at random. */
    private NodeBuilder somewhere() {
        NodeBuilder n = root;
        for (int i = random.nextInt(8); i > 0; i--) {
            List<String> names = names(n);
            if (names.isEmpty()) {
                break;
            }
            NodeBuilder child = n.getChildNode(names.get(random.nextInt(names.size())));
            if (!child.exists()) { // its name had a lone surrogate, which is not what is on the disk
                break;
            }
            n = child;
        }
        return n;
    }

    /** In the order of their names: that of a store depends on how it came to be. */
    private static List<String> names(NodeBuilder n) {
        List<String> names = new ArrayList<>();
        n.getChildNodeNames().forEach(names::add);
        names.sort(null);
        return names;
    }

    private void remove(NodeBuilder n) {
        if (n != root) {
            n.remove();
        }
    }

    private void removeProperty(NodeBuilder n) {
        List<String> names = new ArrayList<>();
        n.getProperties().forEach(p -> names.add(p.getName()));
        if (!names.isEmpty()) {
            names.sort(null);
            n.removeProperty(names.get(random.nextInt(names.size())));
        }
    }

    private void subtree(NodeBuilder n, int depth) throws IOException {
        n.setProperty(some(Names.odd(values)));
        for (int i = random.nextInt(5); i > 0 && depth > 0; i--) {
            subtree(n.child(Names.odd(values)), depth - 1);
        }
    }

    private PropertyState some(String name) throws IOException {
        Type<?> t = Values.TYPES.get(random.nextInt(Values.TYPES.size()));
        return random.nextInt(4) > 0
            ? values.property(name, t)
            : values.array(name, t, t == Type.BINARY ? random.nextInt(4) : random.nextInt(600));
    }
}
