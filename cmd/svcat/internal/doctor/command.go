package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// An options is what the flags say.
type options struct {
	output    string
	wait      bool
	namespace string
	// bundle is the file that gets what support needs, and force says that it may be there.
	bundle string
	force  bool

	rawTimeout, rawInterval string
	// timeout 0 is for ever.
	timeout, interval time.Duration
}

// New returns the command `svcat check`.
func New(env *cli.Env) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:     "check",
		Aliases: []string{"doctor"},
		Short:   "Look whether the installation is whole, and say what to do where it is not",
		Long: `Look whether the installation is whole: the definitions, the hooks and their
certificates, whether admission does its work (an instance is created in the current
namespace in dry runs: nothing is stored), the keeper and the controller, brokers,
types without a default plan, or with several.

Each finding is ok, a warning (it works, but needs a look), failed, or unknown:
what you may not look at. The exit code is 0 if nothing failed, and the definitions and
admission could be looked at; else 1. With --wait it looks again until nothing failed, and
says what it waits for as that changes; the exit code is 4 if that takes longer than
--timeout.

With --bundle it writes to a file (.tar.gz) what support needs: versions, these findings,
conditions, events, the configuration and metrics. No value of a parameter or Secret, no
address of a broker and no message that may quote one is in it; its README.txt lists what
is inside, what was left out, and what you may not read. The exit code is then 0 if the
file was written.`,
		Example: `  svcat check

  # After an installation, before anything is ordered
  svcat check --wait --timeout 2m

  # For a program
  svcat check -o json

  # For support
  svcat doctor --bundle bundle.tar.gz`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			s, err := newInstallation(env, o.namespace)
			if err != nil {
				return err
			}
			if o.bundle != "" {
				return o.writeBundle(cmd.Context(), env, s)
			}
			return o.run(cmd.Context(), env, s.round)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "", "Print the findings as json, for programs")
	flags.BoolVar(&o.wait, "wait", false, "Look again until nothing failed")
	flags.StringVar(&o.rawTimeout, "timeout", "5m", "How long to --wait, such as 30s, 1m or 1h; -1 is for ever")
	flags.StringVar(&o.rawInterval, "interval", "1s", "How long to pause between two looks with --wait")
	flags.StringVar(&o.namespace, "system-namespace", "", "The namespace of the webhook and the controller; without it that of the hooks' Service, or defaultplan-system")
	flags.StringVar(&o.bundle, "bundle", "", "Write what support needs to this file, a .tar.gz; - is standard output")
	flags.BoolVar(&o.force, "force", false, "Overwrite the file of --bundle")
	complete.Flags(cmd, map[string]complete.Func{"output": complete.Words("json"), "system-namespace": complete.Namespaces(env)})
	return cmd
}

func (o *options) validate() error {
	if o.output != "" && o.output != "table" && o.output != "json" {
		return cli.Usagef("--output is %q; allowed are table and json", o.output)
	}
	err := o.validateBundle()
	if err != nil {
		return err
	}
	if o.timeout, err = cli.Timeout(o.rawTimeout); err != nil {
		return err
	}
	o.interval, err = cli.Interval(o.rawInterval)
	return err
}

// run looks once, or until nothing failed.
func (o *options) run(ctx context.Context, env *cli.Env, look func(context.Context) []finding) error {
	limited := ctx
	if o.wait && o.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	r, err := o.rounds(limited, env, look)
	if ctx.Err() != nil {
		return &cli.Failure{Code: cli.ExitInterrupted, Err: errors.New("interrupted; nothing was written")}
	}
	if printed := r.print(env.Out, o.output); printed != nil {
		return printed
	}
	switch {
	case err != nil:
		return &cli.Failure{Code: cli.ExitTimeout, Err: fmt.Errorf("%s after %s", r.summary(), o.timeout)}
	case !r.passes():
		return errors.New(r.summary())
	case o.output != "json":
		_, err = fmt.Fprintln(env.Out, r.summary())
	}
	return err
}

// rounds looks until nothing failed; without --wait once. It returns the last whole
// round that there was time for.
func (o *options) rounds(ctx context.Context, env *cli.Env, look func(context.Context) []finding) (report, error) {
	var last report
	told := ""
	for {
		// A look that was cut short says nothing about the cluster.
		if r := reportOf(look(ctx)); ctx.Err() == nil || last.Findings == nil {
			last = r
		}
		if len(last.failed()) == 0 || !o.wait {
			return last, nil
		}
		if now := awaited(last.failed()); now != told {
			told = now
			if _, err := fmt.Fprint(env.ErrOut, told); err != nil {
				return last, nil //nolint:nilerr // there is no reader: the report still says it
			}
		}
		if err := pause(ctx, o.interval); err != nil {
			return last, err
		}
	}
}

// pause is as long as it is asked to be, unless ctx ends.
func pause(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

// awaited says what is waited for, a line each.
func awaited(failed []finding) string {
	text := &strings.Builder{}
	for _, f := range failed {
		message, _, _ := strings.Cut(f.Message, "\n")
		fmt.Fprintf(text, "waiting for %s: %s\n", f.Check, message)
	}
	return text.String()
}
