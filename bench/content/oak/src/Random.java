// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

/** Splitmix64. */
final class Random {
    private long state;

    Random(long state) {
        this.state = state;
    }

    long next() {
        state += 0x9E3779B97F4A7C15L;
        return mix(state);
    }

    int below(int n) {
        return (int) ((next() >>> 33) % n);
    }

    static long mix(long z) {
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
