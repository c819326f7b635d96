package about

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const (
	// pluginName makes a binary in the PATH `kubectl svcat`.
	pluginName = "kubectl-svcat"
	// completionName is what kubectl asks for words after `kubectl svcat`.
	completionName = "kubectl_complete-svcat"
	// completion is that program: svcat completes itself.
	completion = "#!/bin/sh\n# kubectl runs this to complete kubectl svcat.\n" +
		`exec "$(dirname "$0")/` + pluginName + `" __complete "$@"` + "\n"
)

// NewInstall returns the command `svcat install`.
func NewInstall(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "install", Short: "Install svcat as something else: a plugin of kubectl",
		Example: "  svcat install plugin",
	}
	cmd.AddCommand(newPlugin(env))
	return cmd
}

func newPlugin(env *cli.Env) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Make svcat a plugin of kubectl: kubectl svcat, with completion",
		Long: `Make svcat a plugin of kubectl: kubectl svcat, with completion.

Two files are written: ` + pluginName + `, a link to svcat (a copy where links cannot
be made), and ` + completionName + `, which kubectl runs to complete a line. The
folder is that of --plugins-path, else $KUBECTL_PLUGINS_PATH, else svcat's own; it must be in
the PATH for kubectl to find them.`,
		Example: `  svcat install plugin
  svcat install plugin --plugins-path ~/.local/bin`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			itself, err := os.Executable()
			if err != nil {
				return fmt.Errorf("cannot find svcat itself: %w", err)
			}
			p := plugin{itself: itself, folder: folder, path: filepath.SplitList(os.Getenv("PATH"))}
			if p.folder == "" {
				p.folder = os.Getenv("KUBECTL_PLUGINS_PATH")
			}
			return p.install(env)
		},
	}
	cmd.Flags().StringVarP(&folder, "plugins-path", "p", "", "The folder to install to; without it $KUBECTL_PLUGINS_PATH, or svcat's own")
	return cmd
}

// A plugin is what is installed where.
type plugin struct {
	// itself is the path of the running binary, path the folders of the PATH.
	itself string
	path   []string
	// folder is where to install to; empty: beside the binary.
	folder string
}

func (p *plugin) install(env *cli.Env) error {
	if p.folder == "" {
		p.folder = filepath.Dir(p.itself)
	}
	folder, err := filepath.Abs(p.folder)
	if err != nil {
		return fmt.Errorf("cannot find folder %q: %w", p.folder, err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // programs are there for everybody
		return fmt.Errorf("cannot make folder %q: %w", folder, err)
	}
	target := filepath.Join(folder, pluginName)
	// svcat may be called so already: a link to itself would be the end of it.
	if !p.isItself(target) {
		if err := place(target, p.link); err != nil {
			return err
		}
	}
	if err := place(filepath.Join(folder, completionName), func(at string) error {
		return os.WriteFile(at, []byte(completion), 0o755) //nolint:gosec // a program, for everybody
	}); err != nil {
		return err
	}
	if !slices.Contains(p.path, folder) {
		_, err = fmt.Fprintf(env.ErrOut, "warning: %s is not in the PATH, so kubectl does not find the plugin: add it, or name another folder with --plugins-path\n", folder)
	}
	_, told := fmt.Fprintf(env.Out, "installed %s and %s to %s: try kubectl svcat version --client\n", pluginName, completionName, folder)
	return errors.Join(err, told)
}

// link makes the plugin at a path, where nothing is.
func (p *plugin) link(at string) error {
	if err := os.Symlink(p.itself, at); err == nil {
		return nil
	}
	return duplicate(p.itself, at)
}

// isItself says whether a path leads to the running binary.
func (p *plugin) isItself(path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := os.Stat(p.itself)
	return err == nil && os.SameFile(there, own)
}

// place makes a file as create does, in one step: who runs it meanwhile finds the old
// one or the new one.
func place(file string, create func(at string) error) error {
	next := file + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot replace %q: %w", next, err)
	}
	if err := create(next); err != nil {
		return fmt.Errorf("cannot write %q: %w", file, err)
	}
	if err := os.Rename(next, file); err != nil {
		return fmt.Errorf("cannot write %q: %w", file, err)
	}
	return nil
}

// duplicate copies a program.
func duplicate(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755) //nolint:gosec // a program, for everybody
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
