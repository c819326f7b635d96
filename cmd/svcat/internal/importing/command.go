package importing

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// importing is the command.
type importing struct {
	env *cli.Env

	seal             moving.Seal
	names            moving.Names
	secrets          secretFlags
	dryRun           bool
	createNamespaces bool
	wait             time.Duration
	output           string
}

// New returns the command `svcat import`.
func New(env *cli.Env) *cobra.Command {
	i := &importing{env: env}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make the objects of a file of svcat export live here",
		Long: `Make the objects of a file of svcat export live in this cluster, without a request that
changes anything at a broker. Brokers are registered first, or those used that have the
same address here, and their catalogs are compared with the file by the IDs of classes
and plans. Then instances are adopted by the IDs that they have at the broker, and compared
with what the broker says where it can be asked. Then bindings are adopted: their
credentials are fetched, or are those of the Secret that the file carries.

It requires the verb adopt (ClusterRole servicecatalog-adopt). What is here already as it
should be stays unchanged; what is here otherwise is a conflict, and never overwritten. At
the end it reports what was moved, and what was not and why; it exits with 1 if anything
was not. It can be interrupted, and goes on when it is run again.`,
		Example: `  svcat import shop.export --dry-run
  svcat import shop.export --map shop=store --create-namespaces --broker-secret brokers/azure=brokers/azure-here
  svcat import all.age --identity key.txt --wait 10m -o json`,
		Args:              oneFile,
		ValidArgsFunction: complete.Files,
		RunE:              func(cmd *cobra.Command, args []string) error { return i.run(cmd.Context(), args[0]) },
	}
	flags := cmd.Flags()
	i.seal.BindOpen(flags)
	i.names.Bind(flags)
	i.secrets.bind(flags)
	flags.BoolVar(&i.dryRun, "dry-run", false, "Say what would be done, as far as admission can be asked, and write nothing")
	flags.BoolVar(&i.createNamespaces, "create-namespaces", false, "Create the namespaces that are missing")
	flags.DurationVar(&i.wait, "wait", 5*time.Minute, "How long to wait for the brokers, for the instances and for the bindings, such as 30s or 10m")
	flags.StringVarP(&i.output, "output", "o", "table", "How to print the report: table or json")
	complete.Flags(cmd, map[string]complete.Func{
		"output": complete.Words("table", "json"), "identity": complete.Files, "passphrase-file": complete.Files,
	}, "map", "broker-secret", "wait")
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("%s takes one file of svcat export, not %d arguments; see %s --help", cmd.CommandPath(), len(args), cmd.CommandPath())
	}
	return nil
}

func (i *importing) validate() error {
	switch {
	case i.output != "table" && i.output != "json":
		return cli.Usagef("--output is %q; allowed are table and json", i.output)
	case i.wait <= 0:
		return cli.Usagef("--wait is %s; it must be more than nothing", i.wait)
	}
	return nil
}

func (i *importing) run(ctx context.Context, path string) error {
	if err := cli.InOrder(i.validate, i.seal.Validate, i.names.Validate, i.secrets.validate); err != nil {
		return err
	}
	contents, err := moving.Read(path, i.seal)
	if err != nil {
		return err
	}
	if err := errors.Join(i.names.Unused(contents), i.secrets.unused(contents)); err != nil {
		return err
	}
	// The warnings of admission say of each object that it was taken as decided.
	c, err := i.env.QuietClient()
	if err != nil {
		return err
	}
	s := &side{env: i.env, client: c, names: &i.names, wait: i.wait, dryRun: i.dryRun, report: &moving.Report{DryRun: i.dryRun}, ready: i.ready}
	if err := s.namespaces(ctx, contents, i.createNamespaces); err != nil {
		return cli.Untouched(err)
	}
	moved := move(ctx, s, contents, &i.secrets)
	if err := s.report.Print(i.env, i.output); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &cli.Failure{Code: cli.ExitInterrupted, Err: errors.New("interrupted: what was imported stands; run the same command again to go on")}
	}
	return errors.Join(moved, s.report.Failure())
}

// ready waits until objects can be used, or failed.
func (i *importing) ready(ctx context.Context, limit time.Duration, objects ...client.Object) error {
	return cli.Silently(limit).Ready(ctx, i.env, objects...)
}

// move takes the steps in their order: each needs what the one before has made. An interrupt goes
// through all of them, so that the report has every object.
func move(ctx context.Context, s *side, contents *moving.Contents, secrets *secretFlags) error {
	brokers := moveBrokers(ctx, s, contents, secrets)
	offers, err := compare(ctx, s, contents, brokers)
	if err != nil && ctx.Err() == nil {
		return err
	}
	moveBindings(ctx, s, contents, moveInstances(ctx, s, contents, offers))
	return nil
}
