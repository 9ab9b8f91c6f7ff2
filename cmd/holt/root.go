// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitNote ends every help text.
const exitNote = "Exit status: 0 done, 1 failed or damage found, 2 usage error."

// newRoot makes the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "holt",
		Short: "Look into, check, repair and fill storage files",
		Long: `Holt keeps data in files: key/value databases and stacks in single ones, content stores in directories. This
command looks into them, checks, repairs and fills them. Content stores it reads and recovers.

Begin with "holt demo".`,
		Example: `  holt demo
  holt kv tree my.db
  holt kv check my.db
  holt stack info my.stack
  holt content tree segmentstore`,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		RunE:          needsSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,

		DisableFlagsInUseLine: true,
	}
	root.SetVersionTemplate("holt version {{.Version}}\n")
	root.SetHelpTemplate(root.HelpTemplate() + "\n" + exitNote + "\n")
	root.AddCommand(newDemo(), newDemoCrash(), newKV(), newStack(), newContent(), newVersion())
	addCobraCommands(root)
	return root
}

// needsSubcommand runs in place of a command that only groups others.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unknown command %q for %q", args[0], cmd.CommandPath())
	}
	return usagef("%q needs one of its commands", cmd.CommandPath())
}

// group makes a command that only groups others.
func group(use, short, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: cobra.ArbitraryArgs, RunE: needsSubcommand, DisableFlagsInUseLine: true,
	}
	cmd.AddCommand(commands...)
	return cmd
}

// addCobraCommands adds cobra's own commands now rather than at execution, and what they lack.
func addCobraCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  holt help kv check"
			cmd.Run, cmd.RunE = nil, help
		case "completion":
			cmd.Example = "  holt completion bash"
			cmd.RunE = needsSubcommand
			for _, shell := range cmd.Commands() {
				shell.Example = fmt.Sprintf("  holt completion %[1]s > holt-completion.%[1]s", shell.Name())
			}
		}
	}
}

// help runs in place of cobra's help command, which calls an unknown topic a success.
func help(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return usagef("unknown help topic %q", strings.Join(args, " "))
	}
	about.InitDefaultHelpFlag()
	return about.Help()
}
