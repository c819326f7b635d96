package simulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/internal/heap"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/snapshot"
)

// The exit codes, which are those of svcat diff.
const (
	exitChanges = 1
	exitFailed  = 2
)

const long = `Tell what a change would do before it is made: which plan each type means now and
then, and by which rule; which instances and bindings could not be edited any more,
would be decided, or would lose their plan; which limits would be over; what would be
refused, with its text; and what it costs now and then. Nothing is written.

  --default CLASS/PLAN    the plan becomes the default of its type, as by svcat set plan
                          --default; with -n the default of that namespace
  -f FILE                 manifests that are applied
  --delete KIND/NAME      an object that is deleted; KIND/NAMESPACE/NAME is one of a
                          namespace, as with -n
  --catalog BROKER=FILE   what the broker lists at its next relist, as it answers at
                          /v2/catalog; NAMESPACE/BROKER is one of a namespace

Several are made one after the other, in the order of the command line.

The state is that of the cluster, read with your rights, or that of --snapshot: a file of
svcat snapshot, for which no cluster is needed. The changes go through the webhook's own
code in memory, then what the keeper and a relist would do follows until nothing changes
any more. What cannot be known is listed at the end, not guessed.

The ClusterRole servicecatalog-view, bound in the whole cluster, is enough to read the
state; reading namespaces as well lets policies that select by labels be judged.

Exit codes, as those of svcat diff: 0 nothing changes, 1 something changes, 2 a change is
refused, something cannot be read, or wrong usage.`

const example = `  # Who is concerned if small becomes the default of its type?
  svcat simulate --default azure-mysql/small

  # In a pull request, without a cluster: a new policy, and what the broker will list
  svcat simulate --snapshot catalog.snapshot.gz -f policy.yaml --catalog azure=azure.json -o markdown`

// A command is one run of `svcat simulate`.
type command struct {
	env       *cli.Env
	steps     []step
	recursive bool
	snapshot  string
	output    string
	webhook   snapshot.Flags
	// leftOut says what the files have that is no part of this.
	leftOut []string
	// applied is where the manifests of objects of one -f are.
	applied map[simulation.Object]string
}

// New returns the command `svcat simulate`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:               "simulate",
		Short:             "Tell what a change would do: types, instances, limits, refusals, costs",
		Long:              long,
		Example:           example,
		Args:              cli.NoArguments("say what changes with --default, -f, --delete or --catalog"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return coded(c.run(cmd.Context())) },
	}
	flags := cmd.Flags()
	flags.Var(&stepFlag{&c.steps, stepDefault}, stepDefault, "Make this plan, `CLASS/PLAN`, the default of its type; may be given several times")
	flags.VarP(&stepFlag{&c.steps, stepFile}, stepFile, "f", "Apply the manifests of this `FILE` or folder; - is standard input")
	flags.Var(&stepFlag{&c.steps, stepDelete}, stepDelete, "Delete this object, `KIND/NAME`; may be given several times")
	flags.Var(&stepFlag{&c.steps, stepCatalog}, stepCatalog, "Take this catalog over at the next relist: `BROKER=FILE`")
	flags.BoolVarP(&c.recursive, "recursive", "R", false, "Read the folders inside folders, too")
	flags.StringVar(&c.snapshot, "snapshot", "", "The `FILE` of svcat snapshot to take the state from; without it, that of the cluster")
	flags.StringVarP(&c.output, "output", "o", outputTable, "How to print it: "+strings.Join(outputs, ", "))
	c.webhook.Bind(flags)
	complete.Flags(cmd, map[string]complete.Func{
		"output": complete.Words(outputs...), "snapshot": complete.Files, stepFile: complete.Files, "system-namespace": complete.Namespaces(env),
		stepDefault: complete.Plans(env), stepDelete: objects(env), stepCatalog: catalogs(env),
	})
	return cmd
}

// coded is an error with the exit code of svcat diff: 1 is that of changes.
func coded(err error) error {
	if _, is := errors.AsType[*cli.Failure](err); is || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &cli.Failure{Code: exitFailed, Err: err}
}

func (c *command) validate() error {
	if len(c.steps) == 0 {
		return cli.Usagef("say what changes: --default CLASS/PLAN, -f FILE, --delete KIND/NAME or --catalog BROKER=FILE")
	}
	if _, is := printers[c.output]; !is {
		return cli.Usagef("--output is %q; allowed are %s", c.output, strings.Join(outputs, ", "))
	}
	return c.webhook.Validate()
}

func (c *command) run(ctx context.Context) error {
	if err := c.validate(); err != nil {
		return err
	}
	at, err := c.place()
	if err != nil {
		return err
	}
	changes, err := c.changes(at)
	if err != nil {
		return err
	}
	state, err := c.state(ctx, at)
	if err != nil {
		return err
	}
	if err := settleDeletions(changes, state); err != nil {
		return err
	}
	report, err := simulation.Run(ctx, *state, made(changes))
	if err != nil {
		return err
	}
	if err := printers[c.output](c.env.Out, report); err != nil {
		return err
	}
	switch {
	case report.Refused():
		return &cli.Failure{Code: exitFailed}
	case report.Changes():
		return &cli.Failure{Code: exitChanges}
	}
	return nil
}

// A place is where what names no namespace is. given says that the user chose it.
type place struct {
	namespace string
	given     bool
}

// place is that of -n, or of the kubeconfig. With a snapshot that is not looked at: a file gives
// the same everywhere.
func (c *command) place() (place, error) {
	if c.snapshot == "" {
		namespace, given, err := c.env.Namespace()
		return place{namespace, given}, err
	}
	if flag := c.env.Flags.Namespace; flag != nil && *flag != "" {
		return place{*flag, true}, nil
	}
	return place{"default", false}, nil
}

// state reads the snapshot, or the cluster.
func (c *command) state(ctx context.Context, at place) (*simulation.State, error) {
	heap.Grow(heapGrowth)
	taken, err := c.taken(ctx, at)
	if err != nil {
		return nil, err
	}
	options, err := taken.Options()
	if err != nil {
		return nil, err
	}
	return &simulation.State{JSON: taken.Objects, Options: c.webhook.Over(options), Unknown: slices.Concat(taken.Unknown, c.leftOut), ParametersUnknown: !taken.Parameters}, nil
}

func (c *command) taken(ctx context.Context, at place) (*snapshot.Snapshot, error) {
	if c.snapshot == "" {
		reader, err := c.env.Client()
		if err != nil {
			return nil, err
		}
		return snapshot.Take(ctx, snapshot.Request{Reader: reader, Namespace: at.namespace, Parameters: true, Webhook: c.webhook, Now: time.Now()})
	}
	file, err := os.Open(c.snapshot)
	if err != nil {
		return nil, fmt.Errorf("cannot read the snapshot: %w", err)
	}
	taken, err := snapshot.Read(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("cannot read snapshot %q: %w", c.snapshot, err)
	}
	return taken, nil
}
