package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

// strict makes what cobra finds wrong with a command line a wrong command line for
// callers that read the exit code, of a command and all below it; and a word that is no
// command one, at any depth.
func strict(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args, cmd.RunE, cmd.DisableFlagsInUseLine = isCommand, help, true
	}
	judge := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if judge != nil {
			if err := judge(cmd, args); err != nil {
				return usage(cmd, err)
			}
		}
		// Cobra asks these itself, a moment later, and returns plain errors.
		return usage(cmd, errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()))
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = cobra.NoFileCompletions // no argument is a file
	}
	if propose := cmd.ValidArgsFunction; propose != nil && judge != nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if !takesMore(judge, cmd, args) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return propose(cmd, args, typed)
		}
	}
	for _, child := range cmd.Commands() {
		strict(child)
	}
}

// usage is an error as one of the command line.
func usage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*cli.Failure](err); ok {
		return failure
	}
	return cli.Usagef("%w; see %s --help", err, cmd.CommandPath())
}

// flagError is usage for what is wrong with a flag. Whose command is misspelt is
// told that, whatever flags come after it.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return isCommand(cmd, cmd.Flags().Args())
	}
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return cli.Usagef("%w; did you mean --%s? See %s --help", err, near, cmd.CommandPath())
		}
	}
	return usage(cmd, err)
}

// nearestFlag is the flag that a command has, also of those above it, and that was probably
// meant by a name; empty if none is near. One letter is nearly every other.
func nearestFlag(cmd *cobra.Command, name string) string {
	if len(name) < 2 {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			known = append(known, flag.Name)
		}
	})
	return resolve.Nearest(name, known)
}

// isCommand refuses words after a command that only has commands below it.
func isCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("%s has no command %q;", cmd.CommandPath(), args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += " did you mean " + strings.Join(near, " or ") + "?"
	}
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return cli.Usagef("%s commands: %s", text, strings.Join(names, ", "))
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// takesMore says whether a command may have another argument: it does not propose
// words that it would refuse. The words of some take two more.
func takesMore(judge cobra.PositionalArgs, cmd *cobra.Command, args []string) bool {
	const word = "word"
	more := slices.Clone(args)
	for range 2 {
		if more = append(more, word); judge(cmd, more) == nil {
			return true
		}
	}
	return false
}

// typedSvcat is where an example calls svcat.
var typedSvcat = regexp.MustCompile(`(?m)(^ *|\| |\$\()svcat `)

// asPlugin has a command's examples, and those below it, call svcat as kubectl does.
func asPlugin(cmd *cobra.Command) {
	cmd.Example = typedSvcat.ReplaceAllString(cmd.Example, "${1}kubectl svcat ")
	for _, child := range cmd.Commands() {
		asPlugin(child)
	}
}
