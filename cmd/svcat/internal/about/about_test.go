package about

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// The version is the daemons' too: what the linker stamped.
func TestVersionOfTheClient(t *testing.T) {
	t.Parallel()
	streams, _, out, errs := genericiooptions.NewTestIOStreams()
	cmd := NewVersion(cli.NewEnv(streams))
	cmd.SetArgs([]string{"--client"})
	require.NoError(t, cmd.Execute())
	assert.Equal(t, "Client Version: "+version.Line()+"\n", out.String())
	assert.Empty(t, errs.String())
}

// TestPluginReplacesAnOlderOne: whatever was called so, and without asking where the
// PATH has the folder.
func TestPluginReplacesAnOlderOne(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "svcat")
	require.NoError(t, os.WriteFile(binary, []byte("new"), 0o600))
	folder := filepath.Join(t.TempDir(), "made")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, pluginName), []byte("old"), 0o600))
	streams, _, out, errs := genericiooptions.NewTestIOStreams()
	p := plugin{itself: binary, folder: folder, path: []string{folder}}
	require.NoError(t, p.install(cli.NewEnv(streams)))
	assert.Empty(t, errs.String())
	assert.Contains(t, out.String(), "to "+folder+": try kubectl svcat")
	content, err := os.ReadFile(filepath.Join(folder, pluginName))
	require.NoError(t, err)
	assert.Equal(t, "new", string(content))
	info, err := os.Stat(filepath.Join(folder, completionName))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode().Perm()&0o111, "kubectl runs it")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing is left behind")

	p.folder = binary
	require.ErrorContains(t, p.install(cli.NewEnv(streams)), "cannot make folder")
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.NoError(t, os.WriteFile(from, []byte("program"), 0o600))
	require.NoError(t, duplicate(from, to))
	info, err := os.Stat(to)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm()&0o700, "a program")
	require.Error(t, duplicate(from, to), "nothing is written over")
	require.Error(t, duplicate(filepath.Join(to, "absent"), to))
}

func TestReference(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "svcat", Short: "Services"}
	root.PersistentFlags().String("context", "", "which `name` to use")
	run := func(*cobra.Command, []string) {}
	get := &cobra.Command{Use: "get", Short: "List <things>", Run: run, Aliases: []string{"g"}, Example: "  svcat get\n    --all"}
	get.Flags().StringP("output", "o", "table", "table|json")
	get.Flags().StringSlice("list", nil, "no default to show")
	get.Flags().Bool("secret", false, "")
	require.NoError(t, get.Flags().MarkHidden("secret"))
	root.AddCommand(get, &cobra.Command{Use: "hidden", Hidden: true, Run: run})
	want := "<!-- Generated from the commands by `make generate`. -->\n\n# The commands of svcat\n\nServices.\n\n" +
		"- [svcat get](#svcat-get): List \\<things>\n\n## Flags of every command\n\n| flag | default | meaning |\n|---|---|---|\n| `--context` |  | which name to use |\n" +
		"\n## svcat get\n\nList \\<things>\n\n```\nsvcat get [flags]\n```\n\nAlso called g.\n\n```console\nsvcat get\n  --all\n```\n\n" +
		"| flag | default | meaning |\n|---|---|---|\n| `--list` |  | no default to show |\n| `-o`, `--output` | `table` | table\\|json |\n"
	assert.Equal(t, want, Reference(root))
}
