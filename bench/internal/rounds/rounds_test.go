// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"
)

type text string

func (t text) String() string { return string(t) }

func TestMeasure(t *testing.T) {
	run := 0
	count := func(_ context.Context, engine string) (text, error) {
		run++
		return text(fmt.Sprint(engine, run)), nil
	}
	tasks := []Task[text]{
		{Name: "A", Engines: []string{"x", "y"}, Run: count},
		{Name: "B", Engines: []string{"x"}, Once: true, Run: count},
		{Name: "C", Engines: []string{"x"}, Run: count},
	}
	all, err := Measure(t.Context(), &Flags{Rounds: 2, only: regexp.MustCompile("[AB]")}, tasks)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ task, engine, want string }{
		{"A", "x", "[x1 x4]"}, {"A", "y", "[y2 y5]"}, {"B", "x", "[x3]"}, {"C", "x", "[]"},
	} {
		if have := fmt.Sprint(all.Of(c.task, c.engine)); have != c.want {
			t.Errorf("%s, %s: have %s, want %s", c.task, c.engine, have, c.want)
		}
	}
}

func TestMeasureFails(t *testing.T) {
	failure := errors.New("failure")
	fail := func(context.Context, string) (text, error) { return "", failure }
	tasks := []Task[text]{{Name: "A", Engines: []string{"x"}, Run: fail}}
	_, err := Measure(t.Context(), &Flags{Rounds: 2, only: regexp.MustCompile("")}, tasks)
	if !errors.Is(err, failure) || err.Error() != "A, x, round 0: failure" {
		t.Errorf("error %v", err)
	}
}
