package complete

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

const (
	// patience is how long a person at a prompt waits for words.
	patience = 3 * time.Second
	// most is how many words are proposed: more are not read, and shells are slow with
	// thousands.
	most = 500
)

// A look is one look into the cluster for words that begin with what was typed.
type look struct {
	reader client.Reader
	// scope is where the flags typed so far say to look, namespace the current one.
	scope     cli.Scope
	namespace string
	cmd       *cobra.Command
	typed     string

	described map[string]string
}

// of makes a Func of what finds the words. Whatever goes wrong, nothing is said:
// the person is in the middle of a line.
func of(env *cli.Env, find func(context.Context, *look) error) Func {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), patience)
		defer cancel()
		l := &look{cmd: cmd, typed: typed, described: map[string]string{}}
		if err := l.open(env); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		if err := find(ctx, l); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return l.words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// open connects, as far as that needs no cluster, and reads the flags.
func (l *look) open(env *cli.Env) (err error) {
	flags := cli.ScopeFlags{Cluster: l.flag("cluster") == "true", AllNamespaces: l.flag("all-namespaces") == "true", Scope: l.flag("scope")}
	if l.cmd.Flags().Lookup("scope") == nil {
		// As with provision: -n is where something goes, not where to look.
		flags.Scope = "all"
	}
	if l.scope, err = flags.Resolve(env); err != nil {
		return err
	}
	if l.namespace, _, err = env.Namespace(); err != nil {
		return err
	}
	l.reader, err = env.QuietClient()
	return err
}

// flag is what was typed for a flag, empty where the command has none of that name.
func (l *look) flag(name string) string {
	if flag := l.cmd.Flags().Lookup(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// add proposes a word if it goes on with what was typed. The first description
// stays: nearer scopes come first. A word that a terminal would obey is none.
func (l *look) add(word, description string) {
	if _, known := l.described[word]; !known && strings.HasPrefix(word, l.typed) && termtext.Is(word) {
		l.described[word] = description
	}
}

// words are the proposals, sorted: the first of very many, with a hint that there are
// more. A shell shows one line for each.
func (l *look) words() []cobra.Completion {
	found := slices.Sorted(maps.Keys(l.described))
	words := make([]cobra.Completion, 0, min(len(found), most)+1)
	for _, word := range found[:min(len(found), most)] {
		if line, _, _ := strings.Cut(l.described[word], "\n"); line != "" {
			word = cobra.CompletionWithDesc(word, termtext.Line(line))
		}
		words = append(words, word)
	}
	if len(found) > most {
		words = cobra.AppendActiveHelp(words, fmt.Sprintf("the first %d of %d: type more of the name", most, len(found)))
	}
	return words
}
