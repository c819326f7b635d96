package ui

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

const long = `Show the marketplace in a browser: the types on offer with their default plan and
why it is that one, plans with their attributes and costs, a form for each plan's
parameters, and the instances and bindings of the namespace with where each of their
parameters came from.

The form asks the API server for a dry run, shows what admission made of it, each value
with its origin, and gives the svcat command and the YAML to copy. It stores nothing,
unless you give --allow-create: then a button creates what the dry run has shown, with
your own rights, and the page shows the progress until the instance is ready.

The page is on this machine's loopback only, with the rights of your kubeconfig. It
begins with the namespace of --namespace or of the context, and can show any other,
but creates only in that one. The address that is printed works once, in one browser.
No Secret is read. Ctrl-C ends it.

Explanations are for a webhook with its default options; where yours has others, give
them here, as for svcat explain.`

const example = `  svcat ui
  svcat ui --open --namespace shop
  svcat ui --open --allow-create

  # From a machine without a browser: on yours, ssh -L 8001:127.0.0.1:8001 MACHINE
  svcat ui --port 8001`

// A command is `svcat ui` with its flags.
type command struct {
	env         *cli.Env
	port        uint16
	open        bool
	allowCreate bool
	options     *options.Options
	// show opens a file in the user's browser.
	show func(ctx context.Context, file string) error
}

// New returns the command `svcat ui`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env, options: options.New(), show: showFile}
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show the marketplace in a browser, on this machine only",
		Long:  long, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("%s takes no arguments, not %q", cmd.CommandPath(), args[0])
			}
			if err := c.options.Validate(); err != nil {
				return cli.Usagef("%w", err)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.Uint16Var(&c.port, "port", 0, "The port on 127.0.0.1; 0 takes one that is free")
	flags.BoolVar(&c.open, "open", false, "Open it in the default browser")
	flags.BoolVar(&c.allowCreate, "allow-create", false, "Let the page create instances, with your own rights")
	offline.BindFlags(flags, c.options)
	complete.Flags(cmd, nil)
	return cmd
}

// run serves until the context ends, which is how it is meant to end.
func (c *command) run(ctx context.Context) error {
	site, err := newSite(c.env, c.options, c.allowCreate)
	if err != nil {
		return err
	}
	pages() // what cannot be parsed ends svcat here, and fails no request
	listener, err := listen(ctx, c.port)
	if err != nil {
		return err
	}
	guard := newGuard(listener.Addr().String())
	return serve(ctx, listener, guard.protect(inTime(site.routes(), answerWithin+readWithin)), func() error { return c.announce(ctx, site.layout.namespace, guard) })
}

// announce says where the page is. Only the address is on standard output.
func (c *command) announce(ctx context.Context, namespace string, guard *guard) error {
	_, err := fmt.Fprintf(c.env.ErrOut, "The marketplace of namespace %s, as your kubeconfig lets you see it. The address works once, in one browser; Ctrl-C ends it.\n", namespace)
	if err != nil {
		return fmt.Errorf("cannot print the address: %w", err)
	}
	if _, err := fmt.Fprintln(c.env.Out, guard.address()); err != nil {
		return fmt.Errorf("cannot print the address: %w", err)
	}
	if !c.open {
		return nil
	}
	if err := c.openBrowser(ctx, guard.address()); err != nil {
		_, err = fmt.Fprintf(c.env.ErrOut, "%v; open the address yourself\n", err)
		return err
	}
	return nil
}
