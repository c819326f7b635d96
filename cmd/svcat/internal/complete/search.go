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
	// timeout is how long a person at a prompt waits for words.
	timeout = 3 * time.Second
	// maxWords is how many words are proposed: more are not read, and shells are slow with
	// thousands.
	maxWords = 500
)

// A search looks in the cluster for words that begin with what was typed.
type search struct {
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
func of(env *cli.Env, find func(context.Context, *search) error) Func {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
		defer cancel()
		s := &search{cmd: cmd, typed: typed, described: map[string]string{}}
		if err := s.open(env); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		if err := find(ctx, s); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return s.words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// open connects, as far as that needs no cluster, and reads the flags.
func (s *search) open(env *cli.Env) (err error) {
	flags := cli.ScopeFlags{Cluster: s.flag("cluster") == "true", AllNamespaces: s.flag("all-namespaces") == "true", Scope: s.flag("scope")}
	if s.cmd.Flags().Lookup("scope") == nil {
		// As with provision: -n is where something goes, not where to look.
		flags.Scope = "all"
	}
	if s.scope, err = flags.Resolve(env); err != nil {
		return err
	}
	if s.namespace, _, err = env.Namespace(); err != nil {
		return err
	}
	s.reader, err = env.QuietClient()
	return err
}

// flag is what was typed for a flag, empty where the command has none of that name.
func (s *search) flag(name string) string {
	if flag := s.cmd.Flags().Lookup(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// add proposes a word if it goes on with what was typed. The first description
// stays: nearer scopes come first. A word that a terminal would obey is none.
func (s *search) add(word, description string) {
	if _, known := s.described[word]; !known && strings.HasPrefix(word, s.typed) && termtext.Is(word) {
		s.described[word] = description
	}
}

// words are the proposals, sorted: the first of very many, with a hint that there are
// more. A shell shows one line for each.
func (s *search) words() []cobra.Completion {
	found := slices.Sorted(maps.Keys(s.described))
	words := make([]cobra.Completion, 0, min(len(found), maxWords)+1)
	for _, word := range found[:min(len(found), maxWords)] {
		if line, _, _ := strings.Cut(s.described[word], "\n"); line != "" {
			word = cobra.CompletionWithDesc(word, termtext.Line(line))
		}
		words = append(words, word)
	}
	if len(found) > maxWords {
		words = cobra.AppendActiveHelp(words, fmt.Sprintf("the first %d of %d: type more of the name", maxWords, len(found)))
	}
	return words
}
