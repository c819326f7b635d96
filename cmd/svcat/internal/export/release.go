package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// releaseFlags are those of --release.
type releaseFlags struct {
	file, toKubeconfig, toContext string
	dryRun                        bool
	names                         moving.Names
}

func (f *releaseFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "release", "", "Let go of the objects of this file in the current cluster, where the other cluster has them Ready")
	flags.StringVar(&f.toKubeconfig, "to-kubeconfig", "", "With --release, the kubeconfig of the cluster that has them now")
	flags.StringVar(&f.toContext, "to-context", "", "With --release, the context of --to-kubeconfig")
	flags.BoolVar(&f.dryRun, "dry-run", false, "With --release, only say what would be let go")
	f.names.Bind(flags)
}

func (f *releaseFlags) validate() error {
	switch {
	case f.file == "" && (f.toKubeconfig != "" || f.toContext != "" || f.dryRun):
		return cli.Usagef("--to-kubeconfig, --to-context and --dry-run go with --release FILE; svcat export -o FILE only reads")
	case f.file != "" && f.toKubeconfig == "":
		return cli.Usagef("--release needs --to-kubeconfig FILE: the cluster that has the objects now; only what is Ready there is let go")
	}
	return f.names.Validate()
}

// run lets the objects of the file go, and reports what became of each.
func (f *releaseFlags) run(ctx context.Context, env *cli.Env, seal moving.Seal) error {
	contents, err := moving.Read(f.file, seal)
	if err != nil {
		return err
	}
	if err := f.names.Unused(contents); err != nil {
		return err
	}
	old, err := env.Client()
	if err != nil {
		return err
	}
	sure, err := exportedFrom(ctx, &contents.Header, old)
	if err != nil {
		return err
	}
	fresh, err := f.other(env)
	if err != nil {
		return fmt.Errorf("--to-kubeconfig: %w", err)
	}
	r := newReleaser(old, fresh, contents, f)
	r.sure = sure
	if err := (&watchdog{reader: old, clock: clock.RealClock{}, out: env.ErrOut}).refuse(ctx); err != nil {
		return err
	}
	r.all(ctx)
	if err := r.report.Print(env, ""); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &cli.Failure{Code: cli.ExitInterrupted, Err: errors.New("interrupted: what is not released yet stays as it is; run the same command again")}
	}
	return r.report.Failure()
}

// other is the client of the cluster that has the objects now. None of the flags of the current
// cluster counts for it.
func (f *releaseFlags) other(env *cli.Env) (client.Client, error) {
	other := cli.NewEnv(env.IOStreams)
	other.Flags = genericclioptions.NewConfigFlags(true)
	other.Flags.KubeConfig, other.Flags.Context = &f.toKubeconfig, &f.toContext
	return other.Client()
}
