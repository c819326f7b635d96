// Package render has the command that admits objects from files alone: render.
package render

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/files"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rendering"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A command is one run of `svcat render`.
type command struct {
	env     *cli.Env
	files   files.Files
	broker  string
	output  string
	options *options.Options
}

const long = `Show what admission would make of ServiceInstances and ServiceBindings, from files
alone: no cluster is needed, and none is connected to.

Classes, plans, types, brokers, policies and namespaces in the files are the
catalog: they are taken as they are, wherever they stand. Each instance and
binding is then sent through the webhook's own code, in the order of the files,
and printed as it would be stored; those that wait for one another are decided at
the end, as in a cluster. A broker's own catalog, as it answers at /v2/catalog,
is taken over as the controller would. Other objects, as a chart's Deployments,
are left out.

What is printed is for reading and comparing, not for applying: what a cluster
makes up at random is derived from kind, namespace and name here (externalID with
its marker, the end of a generated name), and what it adds about the write is left
out (uid, resourceVersion, generation, times, userInfo, status). Among plans of
equal weight a selector chooses by their UIDs: it chooses as your cluster does if
the catalog is from there, as by: kubectl get clusterserviceplans -o yaml

Files are read more strictly than kubectl reads them: a key that is there twice is a
mistake, where kubectl takes the last, and so is what follows the end of a YAML
document without a --- between. Nulls are kept, as kubectl create and kubectl apply
--server-side send them; client-side kubectl apply leaves them out when it creates.

It is assumed that the user who applies the files may do so, and that every Secret they
name exists; none is read. Warnings and denials go to standard error.

Exit codes: 0 admitted, 1 something is refused or cannot be read, 2 wrong usage.`

const example = `  # What would my chart get here? The operator publishes the catalog as files.
  helm template mychart | svcat render -f catalog/ -f -

  # In the namespace of the release, and as JSON
  svcat render -n shop -f catalog/ -f chart.yaml -o json

  # Against a broker's own catalog, before any cluster knows it
  curl -s -H 'X-Broker-API-Version: 2.17' "$BROKER/v2/catalog" > azure.json
  svcat render -f azure.json -f instance.yaml`

// New returns the command `svcat render`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env, files: files.Files{Reader: rendering.Reader()}, options: options.New()}
	cmd := &cobra.Command{
		Use:               "render -f FILE...",
		Short:             "Show what admission would make of objects, from files alone",
		Long:              long,
		Example:           example,
		Args:              cli.NoArguments("name files with -f"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	c.files.Bind(flags)
	flags.StringVar(&c.broker, "broker", "", "The broker that catalogs in the brokers' own form are of (default: the name of their file)")
	flags.StringVarP(&c.output, "output", "o", "yaml", "yaml (one document each) or json (one List)")
	offline.BindFlags(flags, c.options)
	complete.Flags(cmd, map[string]complete.Func{"output": complete.Words("yaml", "json")}, "broker")
	return cmd
}

// validate says what of the command line is wrong.
func (c *command) validate() error {
	if err := c.files.Validate("render"); err != nil {
		return err
	}
	if c.output != "yaml" && c.output != "json" {
		return cli.Usagef("--output is %q; allowed are yaml and json", c.output)
	}
	if err := c.options.Validate(); err != nil {
		return cli.Usagef("%w", err)
	}
	return nil
}

// namespace is where objects are that name none: that of -n, or "default". The
// kubeconfig is not looked at: files give the same everywhere.
func (c *command) namespace() string {
	if given := c.env.Flags.Namespace; given != nil && *given != "" {
		return *given
	}
	return "default"
}

// run admits what the files hold, and prints it.
func (c *command) run(ctx context.Context) error {
	if err := c.validate(); err != nil {
		return err
	}
	documents, err := c.files.Read(c.env)
	if err != nil {
		return err
	}
	r := &rendering.Rendering{Namespace: c.namespace(), Broker: c.broker, Report: func(line string) {
		// A user who wants no messages closes the stream; the objects still come.
		_, _ = fmt.Fprintln(c.env.ErrOut, line)
	}}
	objects, refused := r.Run(ctx, c.options, documents)
	if refused != nil && !errors.Is(refused, rendering.ErrRefused) {
		return refused
	}
	if err := c.print(objects); err != nil {
		return err
	}
	return refused
}
