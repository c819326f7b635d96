// The osb-conformance command judges service brokers and platforms by the Open Service
// Broker API: a broker by calling it, and a platform by being a broker for it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
	"github.com/defaultplan/defaultplan/osb/conformance"
)

// The exit codes.
const (
	exitKept   = 0
	exitBroken = 1
	exitFailed = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// A second signal ends the process at once, also while what was provisioned is removed.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errBroken says that the report has something broken, and says it itself.
var errBroken = errors.New("a rule was broken")

// run is the command: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot() //nolint:contextcheck // a command is given the context when it is executed
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitKept
	case errors.Is(err, errBroken):
		return exitBroken
	}
	root.PrintErrln("osb-conformance:", err)
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "osb-conformance",
		Short: "Judge brokers and platforms by the Open Service Broker API",
		Long: "Judge brokers and platforms by the Open Service Broker API.\n\n" +
			"The exit code is 0 if all rules of level MUST that were seen are kept, 1 if one is broken,\n" +
			"and 2 if there was nothing to judge: a wrong flag, or a broker that cannot be reached.",
		Version:       version.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newBroker(), newPlatform(), newRules())
	return root
}

// newRules prints what docs/conformance.md has of a subject.
func newRules() *cobra.Command {
	return &cobra.Command{
		Use:       "rules broker|platform",
		Short:     "Print the rules as a table in Markdown",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{string(conformance.Broker), string(conformance.Platform)},
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), conformance.Page(conformance.Subject(args[0])))
			return err
		},
	}
}

// An output is how a report is printed.
type output struct {
	format string
	strict bool
}

func (o *output) bind(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "table", "format of the report: "+strings.Join(conformance.Formats(), ", "))
	cmd.Flags().BoolVar(&o.strict, "strict", false, "a broken rule of level SHOULD counts as well")
}

func (o *output) check() error {
	if !slices.Contains(conformance.Formats(), o.format) {
		return fmt.Errorf("there is no format %q: allowed are %s", o.format, strings.Join(conformance.Formats(), ", "))
	}
	return nil
}

// report prints a report, and returns errBroken if it is not a good one.
func (o *output) report(w io.Writer, report conformance.Report) error {
	if err := conformance.Write(w, &report, o.format, o.strict); err != nil {
		return fmt.Errorf("cannot print the report: %w", err)
	}
	if !report.Good(o.strict) {
		return errBroken
	}
	return nil
}

// Credentials are asked for by flags, or come from the environment, where a list of processes
// does not show them.
type credentials struct{ username, password, token string }

func (c *credentials) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.username, "username", "", "username for basic authentication")
	cmd.Flags().StringVar(&c.password, "password", "", "password for basic authentication; by default what the environment variable OSB_PASSWORD says")
	cmd.Flags().StringVar(&c.token, "token", "", "bearer token; by default what the environment variable OSB_TOKEN says")
	cmd.MarkFlagsMutuallyExclusive("username", "token")
	cmd.MarkFlagsMutuallyExclusive("password", "token")
}

// complete reads what the flags leave out.
func (c *credentials) complete() error {
	if c.token == "" && c.username == "" {
		c.token = os.Getenv("OSB_TOKEN")
	}
	if c.username != "" && c.password == "" {
		c.password = os.Getenv("OSB_PASSWORD")
	}
	if c.username == "" && c.password != "" {
		return errors.New("there is a --password without a --username")
	}
	return nil
}
