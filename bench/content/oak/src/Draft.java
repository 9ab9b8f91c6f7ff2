// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;

/** The properties of a node. */
final class Draft {
    private static final String[] WORDS = words();

    final Random random;
    private final NodeBuilder node;

    Draft(NodeBuilder node, long seed) {
        this.node = node;
        this.random = new Random(Random.mix(seed));
    }

    <T> void set(String name, T value, Type<T> type) {
        node.setProperty(name, value, type);
    }

    /** One of n texts that begin alike. */
    String one(String prefix, int n) {
        return prefix + random.below(n);
    }

    /** Up to that many of n texts that begin alike. */
    List<String> some(String prefix, int n, int most) {
        List<String> values = new ArrayList<>();
        for (int i = random.below(most + 1); i > 0; i--) {
            values.add(one(prefix, n));
        }
        return values;
    }

    long number(int n) {
        return random.below(n);
    }

    double fraction() {
        return random.below(100_000) / 8.0;
    }

    boolean flag() {
        return random.below(2) == 0;
    }

    String words(int least, int most) {
        StringBuilder b = new StringBuilder();
        int count = least + random.below(most - least + 1);
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                b.append(' ');
            }
            b.append(WORDS[random.below(WORDS.length)]);
        }
        return b.toString();
    }

    String id() {
        StringBuilder b = new StringBuilder();
        for (int half = 0; half < 2; half++) {
            long x = random.next();
            for (int i = 0; i < 16; i++) {
                b.append("0123456789abcdef".charAt((int) (x >>> 60)));
                x <<= 4;
            }
        }
        return b.toString();
    }

    String date() {
        StringBuilder b = new StringBuilder(32);
        padded(b, 2010 + random.below(15), 4).append('-');
        padded(b, 1 + random.below(12), 2).append('-');
        padded(b, 1 + random.below(28), 2).append('T');
        padded(b, random.below(24), 2).append(':');
        padded(b, random.below(60), 2).append(':');
        padded(b, random.below(60), 2).append('.');
        padded(b, random.below(1000), 3).append("+01:00");
        return b.toString();
    }

    private static StringBuilder padded(StringBuilder b, int n, int digits) {
        String s = Integer.toString(n);
        return b.append("0".repeat(digits - s.length())).append(s);
    }

    private static String[] words() {
        String[] list = new String[1024];
        for (int i = 0; i < list.length; i++) {
            StringBuilder b = new StringBuilder();
            long x = Random.mix(i);
            for (int j = i % 3; j >= 0; j--) {
                b.append("bcdfghjklmnprstv".charAt((int) (x & 15)));
                b.append("aeiou".charAt((int) Long.remainderUnsigned(x >>> 4, 5)));
                x >>>= 8;
            }
            list[i] = b.toString();
        }
        return list;
    }
}
