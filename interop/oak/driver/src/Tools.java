// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.apache.jackrabbit.oak.segment.tool.Check;
import org.apache.jackrabbit.oak.segment.tool.Compact;
import org.apache.jackrabbit.oak.segment.tool.RecoverJournal;

/** Oak's tools for stores that nobody has open. */
final class Tools {
    private Tools() {}

    static String check(File dir) {
        var said = new ByteArrayOutputStream();
        var out = new PrintWriter(said, true, StandardCharsets.UTF_8);
        int status = Check.builder()
            .withPath(dir)
            .withMmap(false)
            .withJournal(new File(dir, "journal.log"))
            .withDebugInterval(Long.MAX_VALUE)
            .withCheckBinaries(true)
            .withCheckHead(true)
            .withCheckpoints(Set.of("all"))
            .withRevisionsCount(1)
            .withFilterPaths(Set.of("/"))
            .withIOStatistics(false)
            .withOutWriter(out)
            .withErrWriter(out)
            .build()
            .run();
        return result(status, said);
    }

    static String compact(File dir) {
        int status = Compact.builder()
            .withPath(dir)
            .withMmap(false)
            .withOs("")
            .withForce(true)
            .withSegmentCacheSize(32)
            .withGCLogInterval(Long.MAX_VALUE)
            .build()
            .run();
        return result(status, new ByteArrayOutputStream());
    }

    static String recover(File dir) {
        var said = new ByteArrayOutputStream();
        var out = new PrintStream(said, true, StandardCharsets.UTF_8);
        int status = RecoverJournal.builder().withPath(dir).withOut(out).withErr(out).build().run();
        return result(status, said);
    }

    private static String result(int status, ByteArrayOutputStream said) {
        String text = said.toString(StandardCharsets.UTF_8).strip().replaceAll("\\s*\\R\\s*", " | ");
        if (status != 0) {
            throw new IllegalStateException("status " + status + ": " + text);
        }
        return text;
    }
}
