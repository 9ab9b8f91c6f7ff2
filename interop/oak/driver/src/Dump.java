// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.jackrabbit.oak.api.Blob;
import org.apache.jackrabbit.oak.api.PropertyState;
import org.apache.jackrabbit.oak.api.Type;
import org.apache.jackrabbit.oak.segment.SegmentNodeState;
import org.apache.jackrabbit.oak.spi.state.ChildNodeEntry;

/**
 * Writes all that is below a node as text. A line for each node, "N path stable-id", is followed by those of its
 * properties, "P name type count value ...", sorted by name, and those of its children, sorted by name. Paths, names
 * and values are the hex of their UTF-8, a binary is "length:sha-256". Values of more than 200 bytes together are
 * "Hlength:sha-256" of what they would be, with a space before each.
 */
final class Dump {
    private static final HexFormat HEX = HexFormat.of();
    private static final int MOST = 200;

    private final PrintStream out;

    private Dump(PrintStream out) {
        this.out = out;
    }

    static void write(File file, SegmentNodeState head) throws IOException {
        try (var out = new PrintStream(Files.newOutputStream(file.toPath()), false, StandardCharsets.UTF_8)) {
            out.print("HEAD " + head.getRecordId() + "\n");
            new Dump(out).node("", head);
            if (out.checkError()) {
                throw new IOException("cannot write " + file);
            }
        }
    }

    private void node(String path, SegmentNodeState node) throws IOException {
        out.print("N " + path + " " + node.getStableId() + "\n");
        List<String> lines = new ArrayList<>();
        for (PropertyState p : node.getProperties()) {
            lines.add("P " + hex(p.getName()) + " " + p.getType() + " " + p.count() + values(p) + "\n");
        }
        lines.sort(null);
        lines.forEach(out::print);
        Map<String, SegmentNodeState> children = new TreeMap<>();
        for (ChildNodeEntry c : node.getChildNodeEntries()) {
            if (children.put(hex(c.getName()), (SegmentNodeState) c.getNodeState()) != null) {
                throw new IllegalStateException("two children of one name");
            }
        }
        for (var c : children.entrySet()) {
            node(path + "2f" + c.getKey(), c.getValue());
        }
    }

    private static String values(PropertyState p) throws IOException {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < p.count(); i++) {
            b.append(' ').append(value(p, i));
        }
        if (b.length() <= MOST) {
            return b.toString();
        }
        MessageDigest sum = sha256();
        sum.update(b.toString().getBytes(StandardCharsets.US_ASCII));
        return " H" + b.length() + ":" + HEX.formatHex(sum.digest());
    }

    private static String value(PropertyState p, int i) throws IOException {
        if (p.getType().tag() != Type.BINARY.tag()) {
            return hex(p.getValue(Type.STRING, i));
        }
        Blob blob = p.getValue(Type.BINARY, i);
        MessageDigest sum = sha256();
        long length;
        try (InputStream in = blob.getNewStream()) {
            length = in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), sum));
        }
        if (length != blob.length()) {
            throw new IOException("a binary of " + blob.length() + " bytes has " + length);
        }
        return length + ":" + HEX.formatHex(sum.digest());
    }

    private static String hex(String s) {
        return HEX.formatHex(s.getBytes(StandardCharsets.UTF_8));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every JVM has it
        }
    }
}
