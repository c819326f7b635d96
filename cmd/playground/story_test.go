package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryStoryCanBeTold(t *testing.T) {
	t.Parallel()
	told, err := chooseStories(allStories)
	require.NoError(t, err)
	require.NotEmpty(t, told)
	assert.Equal(t, mainStory, told[0].Name, "the main story comes first")

	used := map[string]bool{}
	for _, file := range exampleFiles {
		used[file] = true
	}
	for _, story := range told {
		for _, step := range story.Steps {
			for _, file := range step.Files {
				used[file] = true
			}
		}
	}
	files, err := fs.Glob(manifests, "manifests/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		assert.True(t, used[filepath.Base(file)], "%s is in no story", file)
	}
}

func TestChooseStories(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		value  string
		want   []string
		err    string
	}{
		"Empty":   {reason: "make passes STORY on even if it is not set", value: "", want: []string{"main"}},
		"Main":    {reason: "the default", value: "main", want: []string{"main"}},
		"Another": {reason: "one by name", value: "wait", want: []string{"wait"}},
		"All":     {reason: "each once", value: "all", want: []string{"main", "adopt", "broker", "claim", "controllers", "defaults", "endpoints", "null", "once", "policy", "quota", "rotation", "share", "svcat", "wait"}},
		"Unknown": {reason: "it says what there is", value: "x", err: `cannot find story "x": there are main, adopt, broker, claim, controllers, defaults, endpoints, null, once, policy, quota, rotation, share, svcat, wait, or all`},
		"Path":    {reason: "a name is no path", value: "../main", err: "cannot find story"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := chooseStories(tc.value)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
			var names []string
			for _, story := range found {
				names = append(names, story.Name)
			}
			assert.Equal(t, tc.want, names, tc.reason)
		})
	}
}

func TestStoryThatCannotFailIsRefused(t *testing.T) {
	t.Parallel()
	good := Command{Run: "true", Expect: []string{"x"}}
	cases := map[string]struct {
		reason string
		step   Step
		want   string
	}{
		"NoExpectation": {reason: "a step that expects nothing proves nothing", step: Step{Heading: "h", Says: "s", Commands: []Command{{Run: "true"}}}, want: "needs run and expect"},
		"NoCommand":     {reason: "nothing is shown", step: Step{Heading: "h", Says: "s"}, want: "needs a heading, says and commands"},
		"NoFile":        {reason: "a name that is wrong", step: Step{Heading: "h", Says: "s", Commands: []Command{good}, Files: []string{"none.yaml"}}, want: `cannot find manifest "none.yaml"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, Story{Title: "t", Steps: []Step{tc.step}}.validate(), tc.want, tc.reason)
		})
	}
}

func TestTellStopsWhereTheAnswerIsAnother(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		command Command
		want    string
	}{
		"AsTold":      {reason: "both outputs are read", command: Command{Run: "echo out; echo err >&2", Expect: []string{"out\nerr"}}},
		"ExitAsTold":  {reason: "a refusal may be what the story is about", command: Command{Run: "echo no; exit 1", Exit: 1, Expect: []string{"no"}}},
		"Exit":        {reason: "it worked, but should not have", command: Command{Run: "echo yes", Exit: 1, Expect: []string{"yes"}}, want: "ended with exit code 0; the story says 1"},
		"Missing":     {reason: "the text is not there", command: Command{Run: "echo yes", Expect: []string{"no"}}, want: `did not answer "no"`},
		"Rejected":    {reason: "the text must not be there", command: Command{Run: "echo yes", Expect: []string{"yes"}, Reject: []string{"ye"}}, want: `answered "ye"`},
		"File":        {reason: "manifests are beside the command", command: Command{Run: "cat mydb.yaml", Expect: []string{"serviceType: mysql"}}},
		"Environment": {reason: "the commands are led to the stack", command: Command{Run: "echo $KUBECONFIG", Expect: []string{"/the/kubeconfig"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			teller := player{out: &out, dir: t.TempDir(), environment: []string{"PATH=" + os.Getenv("PATH"), "KUBECONFIG=/the/kubeconfig"}}
			story := Story{Name: "s", Steps: []Step{
				{Heading: "First", Says: "one", Files: []string{"mydb.yaml"}, Commands: []Command{tc.command}},
				{Heading: "Second", Says: "two", Commands: []Command{{Run: "echo second", Expect: []string{"second"}}}},
			}}
			err := teller.tell(t.Context(), story)
			assert.Contains(t, out.String(), "\n$ "+tc.command.Run+"\n", "what is typed is shown")
			if tc.want != "" {
				require.ErrorContains(t, err, tc.want, tc.reason)
				assert.NotContains(t, out.String(), "Second", "the story ends there")
				return
			}
			require.NoError(t, err, tc.reason)
			assert.Contains(t, out.String(), "2. Second")
		})
	}
}
