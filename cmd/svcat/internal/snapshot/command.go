package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

const long = `Write the state of the catalog into one file, which svcat simulate --snapshot reads
without a cluster: brokers, classes, plans, types, policies, the names and labels of
namespaces, and instances and bindings with how they stand.

The values of parameters are left out, and their names stay; --with-parameters keeps
the values. What users' Secrets hold is never read. Messages of brokers, dashboards and
endpoints, who asked for what, and annotations of other tools are left out as well.

Only reads are made, with your rights, and all lists are of one moment where the API
server can give that. What you may not read is listed in the header of the file, and at
the end of what simulate prints. The ClusterRole servicecatalog-view, bound in the whole
cluster, shows it all but the labels of namespaces and the options of the webhook.

The file is JSON lines: a header, and one object a line. It is compressed if its name ends
in .gz. Without -o it goes to standard output.`

const example = `  svcat snapshot -o catalog.snapshot.gz
  # With the values of parameters, so that schemas are checked, too
  svcat snapshot --with-parameters -o private.snapshot.gz`

// A command is one run of `svcat snapshot`.
type command struct {
	env        *cli.Env
	file       cli.NewFile
	parameters bool
	webhook    Flags
}

// New returns the command `svcat snapshot`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env, file: cli.NewFile{Flag: "output"}}
	cmd := &cobra.Command{
		Use:               "snapshot",
		Short:             "Write the state of the catalog into a file, for svcat simulate",
		Long:              long,
		Example:           example,
		Args:              cli.NoArguments("name the file with -o"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&c.file.Path, c.file.Flag, "o", cli.StandardOutput, "The `FILE` to write; - is standard output")
	flags.BoolVar(&c.file.Force, "force", false, "Overwrite the file")
	flags.BoolVar(&c.parameters, "with-parameters", false, "Keep the values of parameters")
	c.webhook.Bind(flags)
	complete.Flags(cmd, map[string]complete.Func{"output": complete.Files, "system-namespace": complete.Namespaces(env)})
	return cmd
}

func (c *command) run(ctx context.Context) error {
	if err := cli.InOrder(c.named, c.file.Validate, c.webhook.Validate); err != nil {
		return err
	}
	reader, err := c.env.Client()
	if err != nil {
		return err
	}
	namespace, _, err := c.env.Namespace()
	if err != nil {
		return err
	}
	taken, err := Take(ctx, Request{Reader: reader, Namespace: namespace, Parameters: c.parameters, Webhook: c.webhook, Now: time.Now()})
	if err != nil {
		return err
	}
	if err := c.save(taken); err != nil {
		return err
	}
	return c.tell(taken)
}

func (c *command) named() error {
	if c.file.Path == "" {
		return cli.Usagef("--output is empty; give the name of a file, or - for standard output")
	}
	return nil
}

// save writes the file.
func (c *command) save(taken *Snapshot) error {
	if c.file.Path == cli.StandardOutput {
		return taken.Write(c.env.Out, false)
	}
	var content bytes.Buffer
	if err := taken.Write(&content, strings.HasSuffix(c.file.Path, ".gz")); err != nil {
		return err
	}
	if err := c.file.Store(content.Bytes()); err != nil {
		return fmt.Errorf("cannot write the snapshot: %w", err)
	}
	return nil
}

// tell says what was read, and what was not.
func (c *command) tell(taken *Snapshot) error {
	for _, lacked := range taken.Unknown {
		_, _ = fmt.Fprintf(c.env.ErrOut, "left out: %s\n", termtext.Line(lacked))
	}
	if c.file.Path == cli.StandardOutput {
		return nil
	}
	_, err := fmt.Fprintf(c.env.Out, "%s: %d objects\n", termtext.Line(c.file.Path), len(taken.Objects))
	return err
}
