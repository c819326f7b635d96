package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/about"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func commands(t *testing.T, called string) *cobra.Command {
	t.Helper()
	root, err := newRoot(cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard()), called)
	require.NoError(t, err)
	return root
}

// ours are the commands that are not cobra's.
func ours(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" && cmd.Name() != "completion" {
			all = append(all, ours(cmd)...)
		}
	}
	return all
}

// TestEveryCommandExplainsItself: in a line, with examples, and each flag.
func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	sentence := regexp.MustCompile(`^[A-Z].*[^.\n]$`)
	for _, cmd := range ours(commands(t, "svcat")) {
		assert.Regexp(t, sentence, cmd.Short, "%s: Short", cmd.CommandPath())
		assert.Contains(t, cmd.Example, "svcat ", "%s: Example", cmd.CommandPath())
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			assert.NotEmpty(t, flag.Usage, "%s --%s", cmd.CommandPath(), flag.Name)
		})
	}
}

// TestEveryArgumentIsCompleted: a command proposes words for its arguments, or no
// files at least; and its own Args would take the first.
func TestEveryArgumentIsCompleted(t *testing.T) {
	t.Parallel()
	for _, cmd := range ours(commands(t, "svcat")) {
		if !cmd.HasSubCommands() {
			assert.True(t, cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0, cmd.CommandPath())
		}
	}
}

// TestExamplesAreRight: each line of an example that calls svcat names a command,
// with flags that it has.
func TestExamplesAreRight(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, cmd := range ours(commands(t, "svcat")) {
		for line := range strings.SplitSeq(strings.ReplaceAll(cmd.Example, "\\\n", ""), "\n") {
			for _, words := range called(line) {
				calls++
				// A tree of its own: parsing leaves marks.
				root := commands(t, "svcat")
				named, rest, err := root.Find(words)
				if assert.NoError(t, err, line) && assert.True(t, named.Runnable() && (named != root || len(words) == 0), "%s: no such command: %s", cmd.CommandPath(), line) {
					named.InitDefaultHelpFlag()
					require.NoError(t, named.ParseFlags(rest), "%s: %s", cmd.CommandPath(), line)
					assert.NoError(t, named.ValidateArgs(named.Flags().Args()), "%s: %s", cmd.CommandPath(), line)
				}
			}
		}
	}
	assert.Greater(t, calls, 20)
}

// called are the arguments of each call of svcat in a line.
func called(line string) [][]string {
	var calls [][]string
	for command := range strings.SplitSeq(line, " | ") {
		command = strings.TrimSpace(command)
		if !strings.HasPrefix(command, "svcat ") {
			continue
		}
		command, _, _ = strings.Cut(command, " > ")
		command, _, _ = strings.Cut(command, " < ")
		command, _, _ = strings.Cut(command, " # ")
		calls = append(calls, split(command)[1:])
	}
	return calls
}

// split is a line in words as a shell splits it, as far as examples quote.
func split(line string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(word))
	}
	return words
}

// TestPluginIsCalledAsKubectlCallsIt: in usage and examples alike.
func TestPluginIsCalledAsKubectlCallsIt(t *testing.T) {
	t.Parallel()
	root := commands(t, "/usr/local/bin/kubectl-svcat")
	check, _, err := root.Find([]string{"check"})
	require.NoError(t, err)
	assert.Equal(t, "kubectl svcat check [flags]", check.UseLine())
	assert.Contains(t, check.Example, "  kubectl svcat check --wait")
	assert.NotContains(t, strings.ReplaceAll(check.Example, "kubectl svcat", ""), "svcat")
}

// TestReferenceIsTheSameEverywhere: twice the same, with each command and nothing of
// this machine.
func TestReferenceIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	page := about.Reference(commands(t, "svcat"))
	assert.Equal(t, page, about.Reference(commands(t, "svcat")))
	for _, cmd := range ours(commands(t, "svcat"))[1:] {
		assert.Equal(t, !cmd.Hidden, strings.Contains(page, "\n## "+cmd.CommandPath()+"\n"), cmd.CommandPath())
	}
	assert.NotContains(t, page, "/root")
	assert.NotContains(t, page, "/home")
	assert.Contains(t, page, "| `--cache-dir` | `$HOME/.kube/cache` |")
}

// TestWrongCommandLineEndsWithTwo: in the process as a whole; what is right ends with 0.
func TestWrongCommandLineEndsWithTwo(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"Nothing":        {reason: "help is what there is to say", want: "Usage:"},
		"Group":          {reason: "and below", args: []string{"install"}, want: "Usage:"},
		"UnknownCommand": {reason: "with what may have been meant", args: []string{"chekc", "--wait"}, code: 2, want: `error: svcat has no command "chekc"; did you mean check? commands: `},
		"FlagFirst":      {reason: "a flag of no command", args: []string{"--wait"}, code: 2, want: "error: unknown flag: --wait; see svcat --help"},
		"NearDescribed":  {reason: "kinds too", args: []string{"describe", "instnce/mydb"}, code: 2, want: `error: cannot describe "instnce/mydb"; did you mean instance? allowed are broker, class,`},
		"NearCreated":    {reason: "kinds too", args: []string{"create", "clss"}, code: 2, want: `error: svcat create has no "clss"; did you mean class? allowed are class and plan`},
		"NearSet":        {reason: "kinds too", args: []string{"set", "plann", "x"}, code: 2, want: `error: svcat set has no "plann"; did you mean plan? allowed are class and plan`},
		"NearExplained":  {reason: "kinds too", args: []string{"explain", "instanc/x"}, code: 2, want: `error: "instanc/x" is nothing that explain knows; did you mean instance? allowed are TYPE, `},
		"NearFlag":       {reason: "with what may have been meant", args: []string{"check", "--timeuot"}, code: 2, want: "error: unknown flag: --timeuot; did you mean --timeout? See svcat check --help"},
		"NearOfAll":      {reason: "flags of every command count", args: []string{"version", "--namspace", "x"}, code: 2, want: "error: unknown flag: --namspace; did you mean --namespace? See svcat version --help"},
		"Letter":         {reason: "one letter is near to every other", args: []string{"version", "-z"}, code: 2, want: "error: unknown shorthand flag: 'z' in -z; see svcat version --help"},
		"Alias":          {reason: "check has another name", args: []string{"doctor", "--bundle", "x", "--wait"}, code: 2, want: "--bundle goes without --wait"},
		"Arguments":      {reason: "cobra's own rules", args: []string{"version", "now"}, code: 2, want: "see svcat version --help"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, _, out, errs := genericiooptions.NewTestIOStreams()
			assert.Equal(t, tc.code, run(append([]string{"svcat"}, tc.args...), streams), tc.reason)
			told := out
			if tc.code != 0 {
				told = errs
			}
			assert.Contains(t, told.String(), tc.want, tc.reason)
		})
	}
}

// TestRequiredFlagsAreOfTheCommandLine: what cobra asks for after Args.
func TestRequiredFlagsAreOfTheCommandLine(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "order", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.Flags().String("url", "", "")
	cmd.Flags().Bool("a", false, "")
	cmd.Flags().Bool("b", false, "")
	require.NoError(t, cmd.MarkFlagRequired("url"))
	cmd.MarkFlagsMutuallyExclusive("a", "b")
	strict(cmd)
	cmd.SetOut(&bytes.Buffer{})
	cmd.SetArgs([]string{"x"})
	err := cmd.Execute()
	require.EqualError(t, err, `required flag(s) "url" not set; see order --help`)
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	cmd.SetArgs([]string{"--url", "u", "--a", "--b"})
	err = cmd.Execute()
	require.ErrorContains(t, err, "[a b]")
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
}
