package export

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// export is the command.
type export struct {
	env *cli.Env

	all, allBrokers, withSecrets bool
	output                       string
	seal                         moving.Seal
	release                      releaseFlags
}

// New returns the command `svcat export`.
func New(env *cli.Env) *cobra.Command {
	e := &export{env: env}
	cmd := &cobra.Command{
		Use:   "export (-o FILE | --release FILE --to-kubeconfig FILE)",
		Short: "Write instances and bindings into a file, to be moved to another cluster",
		Long: `Write instances and bindings into a file, with their brokers, classes and plans, so that
svcat import makes them live in another cluster. It only reads, from any cluster that
serves servicecatalog.k8s.io/v1beta1, that of the retired catalog included. It tells
which objects cannot be moved as they are, and what to do about it.

Parameters that are in a spec are in the file. The Secrets that the objects use are only
listed; --with-secrets carries their contents, and then the file must be encrypted with
age: to a --recipient, or with the passphrase of --passphrase-file.

With --release it lets go of the objects of FILE in the current cluster, which is the old
one, where the cluster of --to-kubeconfig has them Ready under the same ID: bindings
first, then instances, without a call to a broker. The Secrets of bindings stay. The new
object is then annotated so that its deletion removes what is at the broker, if the
deletion of the old one would have done so. Stop the controller of the old cluster first.
It can be interrupted and run again.`,
		Example: `  svcat export -n shop -o shop.export
  svcat export -A -o all.age --with-secrets --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p

  # after svcat import on the new side
  svcat export --release shop.export --to-kubeconfig new.kubeconfig --dry-run
  svcat export --release shop.export --to-kubeconfig new.kubeconfig --map shop=store`,
		Args:              cli.NoArguments("name the file with -o FILE"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.BoolVarP(&e.all, "all-namespaces", "A", false, "Export every namespace")
	flags.BoolVar(&e.allBrokers, "all-brokers", false, "Export every broker that can be used there, with its whole catalog, also without instances")
	flags.StringVarP(&e.output, "output", "o", "", "The file to write, which only its owner can read; one that is there is replaced")
	flags.BoolVar(&e.withSecrets, "with-secrets", false, "Carry the contents of the Secrets that the objects use; needs --recipient or --passphrase-file")
	e.seal.BindClose(flags)
	e.seal.BindOpen(flags)
	e.release.bind(flags)
	complete.Flags(cmd, map[string]complete.Func{
		"output": complete.Files, "release": complete.Files, "identity": complete.Files, "passphrase-file": complete.Files, "to-kubeconfig": complete.Files,
	}, "recipient", "to-context", "map")
	return cmd
}

func (e *export) run(ctx context.Context) error {
	if err := cli.InOrder(e.seal.Validate, e.validate, e.release.validate); err != nil {
		return err
	}
	if e.release.file != "" {
		return e.release.run(ctx, e.env, e.seal)
	}
	return cli.Untouched(e.write(ctx))
}

// validate says which flags are missing, or go not together.
func (e *export) validate() error {
	switch {
	case e.release.file != "" && (e.output != "" || e.all || e.allBrokers || e.withSecrets || len(e.seal.Recipients) > 0):
		return cli.Usagef("--release lets the objects of its file go, and goes without -o, -A, --all-brokers, --with-secrets and --recipient")
	case e.release.file != "":
		return nil
	case e.output == "":
		return cli.Usagef("-o FILE is required: the file to write")
	case e.seal.IdentityFile != "":
		return cli.Usagef("--identity opens the file of --release; to encrypt one, give --recipient or --passphrase-file")
	case e.withSecrets && !e.seal.Encrypts():
		return cli.Usagef("--with-secrets carries the contents of Secrets, and the file would be readable: give --recipient age1… (of age-keygen), or --passphrase-file FILE")
	}
	return nil
}

// write gathers the objects and writes the file.
func (e *export) write(ctx context.Context) error {
	namespace, _, err := e.env.Namespace()
	if err != nil {
		return err
	}
	if e.all {
		namespace = ""
	}
	reader, err := e.env.Client()
	if err != nil {
		return err
	}
	g := newGatherer(reader)
	contents, err := g.gather(ctx, namespace, e.allBrokers)
	if err != nil {
		return err
	}
	if err := g.secrets(ctx, e.withSecrets); err != nil {
		return err
	}
	contents.Header.Exported, contents.Header.Svcat = metav1.Now(), version.String()
	if err := moving.Write(e.output, contents, e.seal); err != nil {
		return err
	}
	return e.summarize(contents, g.notes)
}

// summarize says what was written, and what of it cannot be moved.
func (e *export) summarize(contents *moving.Contents, notes []string) error {
	for _, note := range notes {
		const most = 500 // characters: the names in it are users', and of any length
		_, _ = fmt.Fprintln(e.env.ErrOut, termtext.Short(note, most))
	}
	report := &moving.Report{}
	for _, object := range contents.Objects() {
		if why := contents.Obstacle(object); why != "" {
			report.Add(object, &moving.Names{}, moving.NotMoved, why)
		}
	}
	if len(report.Objects) > 0 {
		if err := report.Print(e.env, ""); err != nil {
			return err
		}
	}
	hint := ""
	if !e.withSecrets {
		hint = "; --with-secrets carries their contents"
	}
	_, err := fmt.Fprintf(e.env.Out, "%s was written (instances: %d, bindings: %d, brokers: %d, classes: %d, plans: %d); Secrets listed: %d, carried: %d%s\n", e.output,
		len(contents.Instances), len(contents.Bindings), len(contents.Brokers), len(contents.Classes), len(contents.Plans),
		len(contents.Header.Secrets), len(contents.Secrets), hint)
	return err
}
