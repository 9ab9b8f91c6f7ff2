// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/testdata"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"holt": main})
}

// TestScripts runs the sessions of testdata/script; testdata/README.md describes their commands.
func TestScripts(t *testing.T) {
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TMPDIR", env.WorkDir)
			env.Setenv("SOURCE", filepath.ToSlash(source))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each command otherwise
			env.Values[rememberedKey{}] = map[string][]byte{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     noNegation(scriptExits),
			"db":        noNegation(scriptDB),
			"torn":      noNegation(scriptTorn),
			"damage":    noNegation(scriptDamage),
			"truncate":  noNegation(scriptTruncate),
			"remember":  noNegation(scriptRemember),
			"unchanged": noNegation(scriptUnchanged),
			"outside":   noNegation(scriptOutside),
		},
	})
}

// TestScriptsCoverEveryFlag demands that the scripts use every command, and every flag with it.
func TestScriptsCoverEveryFlag(t *testing.T) {
	paths, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(content), "\n")...)
	}
	used := func(command, flag string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, command) && strings.Contains(line+" ", flag+" ")
		})
	}
	eachCommand(newRoot(), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if !used(path, "") {
			t.Errorf("%s is in no script", path)
		}
		if strings.HasPrefix(path, "holt completion ") {
			return // cobra's own
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !used(path, "--"+f.Name) && (f.Shorthand == "" || !used(path, "-"+f.Shorthand)) {
				t.Errorf("%s --%s is in no script", path, f.Name)
			}
		})
	})
}

func noNegation(fn func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		fn(ts, args)
	}
}

// scriptExits runs a program that must end with a status: exits 1 holt kv info missing.db
func scriptExits(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		status = exit.ExitCode()
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d\n%s%s", status, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// scriptDB unpacks a database: db nested my.db
func scriptDB(ts *testscript.TestScript, args []string) {
	content, err := database(filepath.Join(ts.Getenv("SOURCE"), "testdata"), args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), content, 0o600))
}

// database gives the bytes of a test database.
func database(dir, name string) ([]byte, error) {
	packed := testdata.EtcdSmall
	if name != "etcd-small" {
		var err error
		if packed, err = os.ReadFile(filepath.Join(dir, name+".db.gz")); err != nil {
			return nil, err
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// scriptTorn makes a database whose last commit, with a single sync, is there but for a page: torn my.db
func scriptTorn(ts *testscript.TestScript, args []string) {
	path := ts.MkAbs(args[0])
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: 4096, SingleSync: true})
	ts.Check(err)
	var before, after []byte
	for _, value := range []string{"first", "old", "new"} {
		before = after
		ts.Check(db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put([]byte("k"), []byte(value))
		}))
		after, err = os.ReadFile(path)
		ts.Check(err)
	}
	ts.Check(db.Close())
	copy(before, after[:4096]) // transaction 4, an even one
	ts.Check(os.WriteFile(path, before, 0o600))
}

// scriptDamage overwrites bytes: damage my.db 0x1000 ffff
func scriptDamage(ts *testscript.TestScript, args []string) {
	content := []byte(ts.ReadFile(args[0]))
	off, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	patch, err := hex.DecodeString(args[2])
	ts.Check(err)
	if n := copy(content[off:], patch); n < len(patch) {
		ts.Fatalf("%s ends before offset %d", args[0], off+int64(len(patch)))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o600))
}

// scriptTruncate cuts a file: truncate my.db 100
func scriptTruncate(ts *testscript.TestScript, args []string) {
	size, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// rememberedKey is where the script keeps the contents of remembered files by their paths.
type rememberedKey struct{}

// scriptRemember notes the contents of files: remember my.db
func scriptRemember(ts *testscript.TestScript, args []string) {
	remembered := ts.Value(rememberedKey{}).(map[string][]byte)
	for _, path := range args {
		remembered[path] = []byte(ts.ReadFile(path))
	}
}

// scriptUnchanged compares remembered files with their contents now.
func scriptUnchanged(ts *testscript.TestScript, args []string) {
	remembered := ts.Value(rememberedKey{}).(map[string][]byte)
	for _, path := range args {
		before, ok := remembered[path]
		if !ok {
			ts.Fatalf("%s was not remembered", path)
		}
		if !bytes.Equal(before, []byte(ts.ReadFile(path))) {
			ts.Fatalf("%s has changed", path)
		}
	}
}
