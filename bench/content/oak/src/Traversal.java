// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import org.apache.jackrabbit.oak.api.PropertyState;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.spi.state.ChildNodeEntry;
import org.apache.jackrabbit.oak.spi.state.NodeState;

/** Reads every name and value below a node. ../../sum.go does the same. */
final class Traversal {
    long nodes;
    long properties;
    long sum;

    void node(NodeState node) {
        nodes++;
        for (PropertyState p : node.getProperties()) {
            properties++;
            property(p);
        }
        for (ChildNodeEntry c : node.getChildNodeEntries()) {
            sum += text(c.getName());
            node(c.getNodeState());
        }
    }

    private void property(PropertyState p) {
        Type<?> type = p.getType();
        sum += text(p.getName()) + type.tag();
        switch (type.tag()) {
            case 3 -> numbers(p);
            case 4 -> fractions(p);
            case 6 -> flags(p);
            default -> texts(p);
        }
    }

    private void texts(PropertyState p) {
        if (!p.isArray()) {
            sum += text(p.getValue(Type.STRING));
            return;
        }
        for (String s : p.getValue(Type.STRINGS)) {
            sum += text(s);
        }
    }

    private void numbers(PropertyState p) {
        if (!p.isArray()) {
            sum += p.getValue(Type.LONG);
            return;
        }
        for (long n : p.getValue(Type.LONGS)) {
            sum += n;
        }
    }

    private void fractions(PropertyState p) {
        if (!p.isArray()) {
            sum += Double.doubleToLongBits(p.getValue(Type.DOUBLE));
            return;
        }
        for (double f : p.getValue(Type.DOUBLES)) {
            sum += Double.doubleToLongBits(f);
        }
    }

    private void flags(PropertyState p) {
        if (!p.isArray()) {
            sum += p.getValue(Type.BOOLEAN) ? 1 : 0;
            return;
        }
        for (boolean b : p.getValue(Type.BOOLEANS)) {
            sum += b ? 1 : 0;
        }
    }

    /** The text was read already: this makes sure of it. */
    private static long text(String s) {
        int n = s.length();
        return n == 0 ? 0 : 31L * n + 7L * s.charAt(0) + s.charAt(n - 1);
    }
}
