package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/resolve"
)

// OneName says that a command takes the name of one object of a kind, which it gets without
// the kind if it was typed as KIND/NAME. What was typed instead is not repeated: it may be a
// parameter that lost its flag.
func OneName(kind string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return Usagef("%s takes the name of one %s, not %d arguments; see %s --help", cmd.CommandPath(), kind, len(args), cmd.CommandPath())
		case args[0] == "":
			return Usagef("%s takes the name of one %s, and the name that was given is empty; see %s --help", cmd.CommandPath(), kind, cmd.CommandPath())
		}
		args[0] = WithoutKind(kind, args[0])
		return nil
	}
}

// NoArguments refuses the arguments of a command; instead is what to give in their place.
func NoArguments(instead string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef("%s takes no arguments, and was given %q; %s", cmd.CommandPath(), args[0], instead)
		}
		return nil
	}
}

// OnName runs a command that changes the object which its one argument names.
func OnName(run func(ctx context.Context, name string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return Untouched(run(cmd.Context(), args[0])) }
}

// InOrder takes steps one after the other until one fails.
func InOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// kinds are what commands call each kind: the word for one, that for several, and the short
// ones, which are svcat's own and kubectl's of both scopes.
var kinds = [][]string{
	{"broker", "brokers", "brk", "csb", "sbr"},
	{"class", "classes", "cl", "csc", "scl"},
	{"plan", "plans", "pl", "csp", "spl"},
	{"instance", "instances", "inst", "si"},
	{"binding", "bindings", "bnd", "sb"},
	{"type", "types", "cst", "sty"},
	{"policy", "policies", "spp", "sbp", "provisioningpolicy", "provisioningpolicies", "bindingpolicy", "bindingpolicies"},
}

// Aliases are the other words for a kind that a command is named after.
func Aliases(name string) []string {
	for _, words := range kinds {
		if slices.Contains(words, name) {
			return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == name })
		}
	}
	return nil
}

// KindOf is the word for one of the kind that a word means, empty if it means none. Words are
// those of svcat, and those by which kubectl takes and prints the kinds of both scopes, as
// in clusterserviceplan.servicecatalog.k8s.io.
func KindOf(word string) string {
	word, _, _ = strings.Cut(strings.ToLower(word), ".")
	if long, is := strings.CutPrefix(strings.TrimPrefix(word, "cluster"), "service"); is {
		word = long
	}
	for _, words := range kinds {
		if slices.Contains(words, word) {
			return words[0]
		}
	}
	return ""
}

// DidYouMean asks, after a semicolon, for the known kind that a word probably meant, which may
// be that of KIND/NAME. It is empty if none is near.
func DidYouMean(word string, kinds []string) string {
	word, _, _ = strings.Cut(word, "/")
	near := resolve.Nearest(word, kinds)
	if near == "" {
		return ""
	}
	return " did you mean " + near + "?"
}

// WithoutKind is a name that may be written as KIND/NAME.
func WithoutKind(kind, name string) string {
	if word, rest, is := strings.Cut(name, "/"); is && rest != "" && KindOf(word) == kind {
		return rest
	}
	return name
}

// SplitKinds takes apart KIND/NAME where a command, such as get or describe, has one command
// below it for each kind, so that `get instance/mydb` is `get instance mydb`, and
// `get serviceinstances` is `get instances`.
func SplitKinds(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() {
		return args
	}
	for _, argument := range rest {
		word, name, is := strings.Cut(argument, "/")
		at := slices.Index(args, argument)
		// A kind alone may be the value of a flag, unless it comes right after the command.
		if !is && (at == 0 || args[at-1] != cmd.Name()) {
			continue
		}
		if child := childOf(cmd, KindOf(word)); child != "" {
			words := []string{child}
			if is {
				words = append(words, name)
			}
			return slices.Concat(args[:at], words, args[at+1:])
		}
	}
	return args
}

// childOf is the command below cmd for a kind, empty if there is none.
func childOf(cmd *cobra.Command, kind string) string {
	for _, child := range cmd.Commands() {
		if kind != "" && KindOf(child.Name()) == kind {
			return child.Name()
		}
	}
	return ""
}
