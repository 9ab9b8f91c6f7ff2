// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/** Names of nodes and properties. */
final class Names {
    private Names() {}

    /** Any but "": that and "/" are all that Oak refuses at this level. */
    static String odd(Values values) {
        String name = legal(values.text(1 + values.random.nextInt(12)));
        return switch (values.random.nextInt(12)) {
            case 0 -> ":" + name;
            case 1 -> "jcr:" + name;
            case 2 -> legal(values.text(values.near(128)));
            default -> name;
        };
    }

    /** A name of so many bytes. */
    static String ofLength(Values values, int bytes) {
        return legal(values.text(bytes));
    }

    /** A name that is another one on the disk. */
    static String loneSurrogates(Values values) {
        return legal(values.loneSurrogates());
    }

    private static String legal(String text) {
        return text.replace('/', '|');
    }

    /** All that have one hash, of the given number of pairs: "Aa" and "BB" have the same. */
    static List<String> colliding(int pairs) {
        List<String> names = new ArrayList<>();
        for (int bits = 0; bits < 1 << pairs; bits++) {
            StringBuilder b = new StringBuilder();
            for (int i = 0; i < pairs; i++) {
                b.append((bits >> i & 1) == 0 ? "Aa" : "BB");
            }
            names.add(b.toString());
        }
        return names;
    }
}
