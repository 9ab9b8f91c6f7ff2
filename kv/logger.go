// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"runtime"
	"time"
)

// Logger receives what a database logs: errors of its file, and at the debug level every operation.
type Logger interface {
	Debug(v ...any)
	Debugf(format string, v ...any)

	Error(v ...any)
	Errorf(format string, v ...any)

	Info(v ...any)
	Infof(format string, v ...any)

	Warning(v ...any)
	Warningf(format string, v ...any)

	Fatal(v ...any)
	Fatalf(format string, v ...any)

	Panic(v ...any)
	Panicf(format string, v ...any)
}

// newLogger chooses the logger that options ask for. Where logs is false it drops everything, and calls with arguments
// that cost something are better left out.
func newLogger(o *Options) (l Logger, logs bool) {
	switch {
	case o.Logger != nil:
		return o.Logger, o.Logger != Logger(discardLogger{})
	case o.Slog != nil && o.Slog.Handler() != slog.DiscardHandler:
		return slogLogger{o.Slog}, true
	}
	return discardLogger{}, false
}

// DefaultLogger is a [Logger] that writes lines with the level in front to a [log.Logger]. Panic and Panicf are those
// of the latter.
type DefaultLogger struct {
	*log.Logger
	debug bool
}

// EnableTimestamps puts date and time in front of each line.
func (l *DefaultLogger) EnableTimestamps() { l.SetFlags(l.Flags() | log.Ldate | log.Ltime) }

// EnableDebug lets Debug and Debugf write, which they do not by default.
func (l *DefaultLogger) EnableDebug() { l.debug = true }

// Debug logs what only a search for a fault needs.
func (l *DefaultLogger) Debug(v ...any) {
	if l.debug {
		l.line("DEBUG", fmt.Sprint(v...))
	}
}

// Debugf is Debug with a format.
func (l *DefaultLogger) Debugf(format string, v ...any) {
	if l.debug {
		l.line("DEBUG", fmt.Sprintf(format, v...))
	}
}

// Info logs what is worth knowing.
func (l *DefaultLogger) Info(v ...any) { l.line("INFO", fmt.Sprint(v...)) }

// Infof is Info with a format.
func (l *DefaultLogger) Infof(format string, v ...any) { l.line("INFO", fmt.Sprintf(format, v...)) }

// Warning logs what may become a problem.
func (l *DefaultLogger) Warning(v ...any) { l.line("WARN", fmt.Sprint(v...)) }

// Warningf is Warning with a format.
func (l *DefaultLogger) Warningf(format string, v ...any) { l.line("WARN", fmt.Sprintf(format, v...)) }

// Error logs what failed.
func (l *DefaultLogger) Error(v ...any) { l.line("ERROR", fmt.Sprint(v...)) }

// Errorf is Error with a format.
func (l *DefaultLogger) Errorf(format string, v ...any) { l.line("ERROR", fmt.Sprintf(format, v...)) }

// Fatal logs and ends the process with status 1.
func (l *DefaultLogger) Fatal(v ...any) {
	l.line("FATAL", fmt.Sprint(v...))
	os.Exit(1)
}

// Fatalf is Fatal with a format.
func (l *DefaultLogger) Fatalf(format string, v ...any) {
	l.line("FATAL", fmt.Sprintf(format, v...))
	os.Exit(1)
}

// line writes one line on behalf of the caller's caller. Like log.Logger it has nowhere to report that it cannot.
func (l *DefaultLogger) line(level, msg string) { _ = l.Output(3, level+": "+msg) }

// discardLogger drops everything, except that Fatal still exits and Panic still panics.
type discardLogger struct{}

func (discardLogger) Debug(...any)            {}
func (discardLogger) Debugf(string, ...any)   {}
func (discardLogger) Error(...any)            {}
func (discardLogger) Errorf(string, ...any)   {}
func (discardLogger) Info(...any)             {}
func (discardLogger) Infof(string, ...any)    {}
func (discardLogger) Warning(...any)          {}
func (discardLogger) Warningf(string, ...any) {}

func (discardLogger) Fatal(...any)                   { os.Exit(1) }
func (discardLogger) Fatalf(string, ...any)          { os.Exit(1) }
func (discardLogger) Panic(v ...any)                 { panic(fmt.Sprint(v...)) }
func (discardLogger) Panicf(format string, v ...any) { panic(fmt.Sprintf(format, v...)) }

// slogLogger passes messages on to a slog.Logger, which has no levels above error.
type slogLogger struct{ to *slog.Logger }

func (l slogLogger) Debug(v ...any)                 { l.print(slog.LevelDebug, v) }
func (l slogLogger) Debugf(format string, v ...any) { l.printf(slog.LevelDebug, format, v) }

func (l slogLogger) Error(v ...any)                 { l.print(slog.LevelError, v) }
func (l slogLogger) Errorf(format string, v ...any) { l.printf(slog.LevelError, format, v) }

func (l slogLogger) Info(v ...any)                 { l.print(slog.LevelInfo, v) }
func (l slogLogger) Infof(format string, v ...any) { l.printf(slog.LevelInfo, format, v) }

func (l slogLogger) Warning(v ...any)                 { l.print(slog.LevelWarn, v) }
func (l slogLogger) Warningf(format string, v ...any) { l.printf(slog.LevelWarn, format, v) }

func (l slogLogger) Fatal(v ...any) {
	l.print(slog.LevelError, v)
	os.Exit(1)
}

func (l slogLogger) Fatalf(format string, v ...any) {
	l.printf(slog.LevelError, format, v)
	os.Exit(1)
}

func (l slogLogger) Panic(v ...any) {
	l.print(slog.LevelError, v)
	panic(fmt.Sprint(v...))
}

func (l slogLogger) Panicf(format string, v ...any) {
	l.printf(slog.LevelError, format, v)
	panic(fmt.Sprintf(format, v...))
}

func (l slogLogger) print(level slog.Level, v []any) {
	if ctx := context.Background(); l.to.Enabled(ctx, level) {
		l.handle(ctx, level, fmt.Sprint(v...))
	}
}

func (l slogLogger) printf(level slog.Level, format string, v []any) {
	if ctx := context.Background(); l.to.Enabled(ctx, level) {
		l.handle(ctx, level, fmt.Sprintf(format, v...))
	}
}

// handle makes a record whose source is the caller of the exported method. What a handler fails to write is lost, as
// with slog itself.
func (l slogLogger) handle(ctx context.Context, level slog.Level, msg string) {
	var pc [1]uintptr
	runtime.Callers(4, pc[:]) // behind Callers, handle, print or printf, and the method
	_ = l.to.Handler().Handle(ctx, slog.NewRecord(time.Now(), level, msg, pc[0]))
}
