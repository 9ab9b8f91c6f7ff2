// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
)

func TestDefaultLogger(t *testing.T) {
	var out bytes.Buffer
	l := &kv.DefaultLogger{Logger: log.New(&out, "", 0)}
	l.Debug("not yet")
	l.Debugf("not %s", "yet")
	l.EnableDebug()
	l.Debug("a", 1)
	l.Debugf("b%d", 2)
	l.Info("a", 1, 2)
	l.Infof("b%d", 2)
	l.Warning("c")
	l.Warningf("c%d", 3)
	l.Error("d", 1)
	l.Errorf("d%d", 4)
	func() {
		defer func() {
			if r := recover(); r != "e5" {
				t.Errorf("Panicf panics with %v, want e5", r)
			}
		}()
		l.Panicf("e%d", 5)
	}()
	want := "DEBUG: a1\nDEBUG: b2\nINFO: a1 2\nINFO: b2\nWARN: c\nWARN: c3\nERROR: d1\nERROR: d4\ne5\n"
	if out.String() != want {
		t.Errorf("have\n%swant\n%s", &out, want)
	}
}

// TestDefaultLoggerHeader looks at what stands in front of the level.
func TestDefaultLoggerHeader(t *testing.T) {
	var out bytes.Buffer
	l := &kv.DefaultLogger{Logger: log.New(&out, "", log.Lshortfile)}
	l.EnableTimestamps()
	l.Info("here")
	want := regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d logger_test\.go:\d+: INFO: here\n$`)
	if !want.Match(out.Bytes()) {
		t.Errorf("have %q, want a match of %s", &out, want)
	}
}

// recorder is a slog handler that keeps level and message of the records.
func recorder(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{AddSource: true, Level: level}))
}

type record struct {
	Level, Msg string
	Source     struct{ File string }
}

func records(t *testing.T, out *bytes.Buffer) (all []record) {
	t.Helper()
	for d := json.NewDecoder(out); ; {
		var r record
		switch err := d.Decode(&r); err {
		case nil:
			all = append(all, r)
		case io.EOF:
			return all
		default:
			t.Fatal(err)
		}
	}
}

func TestSlog(t *testing.T) {
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true, Slog: recorder(&out, slog.LevelDebug)})
	must(t, err)
	must(t, db.Update(func(tx *kv.Tx) error {
		_, err := tx.CreateBucket([]byte("b"))
		return err
	}))
	wantErr(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("none")) }), kv.ErrBucketNotFound)
	must(t, db.Close())

	all := records(t, &out)
	for _, want := range []struct{ level, msg string }{
		{"INFO", "Opening bbolt db (" + path + ") successfully"},
		{"DEBUG", `Creating bucket "b" successfully`},
		{"DEBUG", "Committing transaction 2 successfully"},
		{"ERROR", `Deleting bucket "none" failed: bucket not found`},
	} {
		i := slices.IndexFunc(all, func(r record) bool { return r.Level == want.level && r.Msg == want.msg })
		if i < 0 {
			t.Errorf("%s %q is not logged", want.level, want.msg)
		} else if file := filepath.Base(all[i].Source.File); strings.Contains(file, "logger") {
			t.Errorf("%q: the source is %s, want the place that logs", want.msg, file)
		}
	}
}

// TestCompactLogs has the logger told of the beginning and of the end of each transaction of a copy.
func TestCompactLogs(t *testing.T) {
	var out bytes.Buffer
	src := openTemp(t, nil)
	must(t, src.Update(putNumbered("b", 1000, 100)))
	dst := openTemp(t, &kv.Options{NoSync: true, Slog: recorder(&out, slog.LevelDebug)})
	must(t, kv.Compact(dst, src, 10_000))
	begun, committed := 0, 0
	for _, r := range records(t, &out) {
		switch {
		case r.Msg == "Starting a new transaction [writable: true] successfully":
			begun++
		case strings.HasPrefix(r.Msg, "Committing transaction ") && strings.HasSuffix(r.Msg, " successfully"):
			committed++
		}
	}
	if begun != committed || begun < 10 {
		t.Errorf("%d transactions are said to begin, %d to be committed", begun, committed)
	}
}

// TestSlogBridge looks at the methods that the engine does not use.
func TestSlogBridge(t *testing.T) {
	var out bytes.Buffer
	db := openTemp(t, &kv.Options{NoSync: true, Slog: recorder(&out, slog.LevelInfo)})
	out.Reset()
	l := db.Logger()
	l.Debug("below the level")
	l.Info("a", 1, 2)
	l.Warningf("b%d", 2)
	l.Error("c", 3)
	func() {
		defer func() {
			if r := recover(); r != "d4" {
				t.Errorf("Panic panics with %v, want d4", r)
			}
		}()
		l.Panic("d", 4)
	}()
	var have []string
	for _, r := range records(t, &out) {
		have = append(have, r.Level+" "+r.Msg)
		if file := filepath.Base(r.Source.File); file != "logger_test.go" {
			t.Errorf("%s: the source is %s, want logger_test.go", r.Msg, file)
		}
	}
	if want := []string{"INFO a1 2", "WARN b2", "ERROR c3", "ERROR d4"}; !slices.Equal(have, want) {
		t.Errorf("have %q, want %q", have, want)
	}
}

// TestLoggerOfOptions looks at which logger is in use.
func TestLoggerOfOptions(t *testing.T) {
	own := &kv.DefaultLogger{Logger: log.New(io.Discard, "", 0)}
	for _, test := range []struct {
		name string
		o    kv.Options
		want kv.Logger
	}{
		{"own", kv.Options{NoSync: true, Logger: own}, own},
		{"both", kv.Options{NoSync: true, Logger: own, Slog: slog.Default()}, own},
	} {
		if have := openTemp(t, &test.o).Logger(); have != test.want {
			t.Errorf("%s: have %T, want the logger of the options", test.name, have)
		}
	}
	if openTemp(t, nil).Logger() == nil {
		t.Error("no logger without options, want one that discards")
	}
}

// TestDiscardingLogger drops everything, but is not deaf to a panic.
func TestDiscardingLogger(t *testing.T) {
	l := openTemp(t, nil).Logger()
	l.Debug("a")
	l.Debugf("%s", "a")
	l.Info("a")
	l.Infof("%s", "a")
	l.Warning("a")
	l.Warningf("%s", "a")
	l.Error("a")
	l.Errorf("%s", "a")
	for want, call := range map[string]func(){
		"a1": func() { l.Panic("a", 1) },
		"b2": func() { l.Panicf("b%d", 2) },
	} {
		func() {
			defer func() {
				if r := recover(); r != want {
					t.Errorf("recovered %v, want %v", r, want)
				}
			}()
			call()
		}()
	}
}

// TestFatal runs itself in processes that are to exit.
func TestFatal(t *testing.T) {
	calls := map[string]func(){
		"default":    func() { (&kv.DefaultLogger{Logger: log.Default()}).Fatal("f", 1) },
		"defaultf":   func() { (&kv.DefaultLogger{Logger: log.Default()}).Fatalf("f%d", 1) },
		"slog":       func() { openTemp(t, &kv.Options{Slog: slog.Default()}).Logger().Fatal("f", 1) },
		"slogf":      func() { openTemp(t, &kv.Options{Slog: slog.Default()}).Logger().Fatalf("f%d", 1) },
		"discarding": func() { openTemp(t, nil).Logger().Fatal("f", 1) },
	}
	const variable = "HOLT_TEST_FATAL"
	if call := calls[os.Getenv(variable)]; call != nil {
		call()
		os.Exit(0)
	}
	for name := range calls {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFatal$")
		c.Env = append(os.Environ(), variable+"="+name, "TMPDIR="+t.TempDir()) // it leaves its files behind
		out, err := c.CombinedOutput()
		if c.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: %v, want exit code 1", name, err)
		}
		if said := strings.Contains(string(out), "f1\n"); said != (name != "discarding") {
			t.Errorf("%s: logged %q", name, out)
		}
	}
}
