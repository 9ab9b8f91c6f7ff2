// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.jackrabbit.oak.api.PropertyState;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.plugins.memory.PropertyStates;
import org.apache.jackrabbit.oak.spi.state.NodeBuilder;

/** Random values of properties. */
final class Values {
    static final List<Type<?>> TYPES = List.of(Type.STRING, Type.BINARY, Type.LONG, Type.DOUBLE, Type.DATE,
        Type.BOOLEAN, Type.NAME, Type.PATH, Type.REFERENCE, Type.WEAKREFERENCE, Type.URI, Type.DECIMAL);

    private static final int[] LENGTHS = {0, 1, 127, 128, 4096, 8192, 16511, 16512, 2 * 16512, 262144};
    private static final int[] CODE_POINTS = {0, 1, '\n', ' ', '"', '/', 'A', 'B', 'a', 0x7f, 0x80, 0xe9, 0x7ff, 0x800,
        0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff};
    private static final int[] LONE = {0xd800, 0xdbff, 0xdc00, 0xdfff};

    private final NodeBuilder blobs; // what makes binaries
    final Random random;

    Values(NodeBuilder blobs, Random random) {
        this.blobs = blobs;
        this.random = random;
    }

    /** A length where something may change, or one beside it; or a small one. */
    int length() {
        return random.nextInt(4) > 0 ? random.nextInt(40) : near(LENGTHS[random.nextInt(LENGTHS.length)]);
    }

    int near(int n) {
        return Math.max(0, n - 1 + random.nextInt(3));
    }

    /** Text of so many bytes, of ASCII if it is long. */
    String text(int bytes) {
        StringBuilder b = new StringBuilder(bytes);
        int left = bytes;
        for (; left > 4 && b.length() < 100; left -= width(b.codePointAt(b.offsetByCodePoints(b.length(), -1)))) {
            b.appendCodePoint(CODE_POINTS[random.nextInt(CODE_POINTS.length)]);
        }
        while (left-- > 0) {
            b.append((char) (' ' + random.nextInt(95)));
        }
        return b.toString();
    }

    private static int width(int codePoint) {
        return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    }

    /** Text with halves of surrogate pairs, which UTF-8 has no bytes for. */
    String loneSurrogates() {
        return text(random.nextInt(5)) + (char) LONE[random.nextInt(LONE.length)] + text(random.nextInt(5));
    }

    PropertyState property(String name, Type<?> base) throws IOException {
        return PropertyStates.createProperty(name, value(base), base);
    }

    PropertyState array(String name, Type<?> base, int count) throws IOException {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(base == Type.STRING && count > 3 ? text(random.nextInt(40)) : value(base));
        }
        return PropertyStates.createProperty(name, values, base.getArrayType());
    }

    Object value(Type<?> base) throws IOException {
        return switch (base.toString()) {
            case "BINARY" -> binary(length());
            case "LONG" -> number();
            case "DOUBLE" -> fraction();
            case "BOOLEAN" -> random.nextBoolean();
            case "DECIMAL" -> new BigDecimal(new BigInteger(random.nextInt(200), random), random.nextInt(60) - 30);
            case "DATE" -> OffsetDateTime.ofInstant(java.time.Instant.ofEpochMilli(random.nextLong() >> 21),
                ZoneOffset.ofHours(random.nextInt(25) - 12)).toString();
            case "STRING" -> random.nextInt(20) == 0 ? loneSurrogates() : text(length());
            default -> text(random.nextInt(60));
        };
    }

    Object binary(int length) throws IOException {
        byte[] b = new byte[length];
        random.nextBytes(b);
        return blobs.createBlob(new ByteArrayInputStream(b));
    }

    private long number() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextBoolean() ? Long.MIN_VALUE : Long.MAX_VALUE;
            default -> random.nextInt(1000) - 500;
        };
    }

    private double fraction() {
        return switch (random.nextInt(4)) {
            case 0 -> Double.longBitsToDouble(random.nextLong());
            case 1 -> new double[] {Double.NaN, 1 / 0d, -1 / 0d, Double.MIN_VALUE, -0d, 2e23}[random.nextInt(6)];
            default -> random.nextInt(1000) / 8d;
        };
    }
}
