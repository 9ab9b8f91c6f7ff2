// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Does to segment stores what it is told on standard input, a command a line, words separated by single spaces. Each is
 * answered by a line: "ok" and perhaps a result, or "err" and a reason.
 *
 * <pre>
 * open DIR [OPTION=VALUE ...]     for writing; the options are those of {@link Options}; closes what was open
 * close
 * fill NAME SEED                  one commit: content of every kind below a new node
 * large NAME SEED                 one commit: large arrays, a large map, a large binary below a new node
 * binary LENGTH SEED              one commit: a node with a binary
 * change SEED COMMITS             commits of random changes anywhere
 * checkpoint | release N          makes one | drops the N-th
 * flush
 * full | tail | cleanup           garbage collection; answers with the generation of the head
 * blobs SECONDS                   garbage collection of binaries outside, of those last written longer ago than that
 * dump FILE                       of the head, of the store that is open
 *
 * dumpdir FILE REVISION DIR [OPTION=VALUE ...]   of a store that is not; REVISION may be "head"
 * check DIR                       Oak's deep check, with binaries, of the newest revision and all checkpoints
 * compact DIR                     Oak's compaction of a store that nobody has open
 * recover DIR                     Oak's recovery of the journal
 * </pre>
 */
public final class Driver {
    private Store store; // null if none is open

    public static void main(String[] args) throws Exception {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
        PrintStream answers = System.out;
        System.setOut(System.err); // Oak's tools are talkative
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Driver driver = new Driver();
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(driver.answer(line));
            answers.flush();
        }
        System.exit(0); // whoever told us what to do is gone; threads of Oak may be left
    }

    private String answer(String line) {
        try {
            return ("ok " + run(new ArrayDeque<>(Arrays.asList(line.split(" "))))).strip();
        } catch (Exception | Error e) { // errors too: out of memory, stacks too deep, Oak's own
            e.printStackTrace();
            return "err " + e.toString().replace('\n', ' ');
        }
    }

    private String run(Deque<String> words) throws Exception {
        String command = words.pop();
        switch (command) {
            case "open":
                return open(words);
            case "dumpdir":
                return dumpDirectory(new File(words.pop()), words.pop(), new File(words.pop()), Options.parse(words));
            case "check":
                return Tools.check(new File(words.pop()));
            case "compact":
                return Tools.compact(new File(words.pop()));
            case "recover":
                return Tools.recover(new File(words.pop()));
            default:
                return runOnOpen(command, words);
        }
    }

    private String open(Deque<String> words) throws Exception {
        if (store != null) { // of a test that failed
            store.close();
            store = null;
        }
        store = new Store(new File(words.pop()), Options.parse(words));
        return "";
    }

    private static String dumpDirectory(File to, String revision, File dir, Options options) throws Exception {
        try (var files = options.builder(dir).buildReadOnly()) {
            if (!revision.equals("head")) {
                files.setRevision(revision);
            }
            Dump.write(to, files.getHead());
        }
        return "";
    }

    private String runOnOpen(String command, Deque<String> words) throws Exception {
        if (store == null) {
            throw new IllegalStateException("no store is open");
        }
        switch (command) {
            case "close":
                store.close();
                store = null;
                return "";
            case "fill":
                store.fill(words.pop(), Long.parseLong(words.pop()));
                return "";
            case "large":
                store.large(words.pop(), Long.parseLong(words.pop()));
                return "";
            case "binary":
                store.binary(Integer.parseInt(words.pop()), Long.parseLong(words.pop()));
                return "";
            case "change":
                store.change(Long.parseLong(words.pop()), Integer.parseInt(words.pop()));
                return "";
            case "checkpoint":
                return store.checkpoint();
            case "release":
                return store.release(Integer.parseInt(words.pop()));
            case "flush":
                store.flush();
                return "";
            case "full", "tail", "cleanup":
                return store.collect(command);
            case "blobs":
                store.collectBlobs(Long.parseLong(words.pop()));
                return "";
            case "dump":
                Dump.write(new File(words.pop()), store.head());
                return "";
            default:
                throw new IllegalArgumentException("no such command");
        }
    }
}
