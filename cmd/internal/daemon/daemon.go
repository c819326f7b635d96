// Package daemon has what the commands that run in the cluster share: startup,
// logging, the connection to the cluster, and readiness.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-logr/zapr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/defaultplan/defaultplan/cmd/internal/tracing"
	"github.com/defaultplan/defaultplan/cmd/internal/version"
	"github.com/defaultplan/defaultplan/cmd/internal/watchfreshness"
)

// A Daemon is a command's flags, and what it does.
type Daemon interface {
	// Bind adds its options to flags.
	Bind(flags *pflag.FlagSet)
	// Validate says which flag has an invalid value, and why.
	Validate() error
	// Run works until ctx ends.
	Run(ctx context.Context) error
}

// Main starts a daemon with the arguments of the process, and exits with 1 if
// that fails.
func Main(name string, d Daemon) {
	if err := Start(name, d, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Start parses the arguments and runs until a signal ends it. With --version it only
// prints that.
func Start(name string, d Daemon, args []string) error {
	return start(name, d, args, os.Stdout)
}

func start(name string, d Daemon, args []string, out io.Writer) error {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	d.Bind(flags)
	onlyVersion := flags.Bool("version", false, "print the version, and end")
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; see --help", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; see --help", flags.Arg(0))
	}
	if *onlyVersion {
		_, err := fmt.Fprintln(out, name, version.Line())
		return err
	}
	if err := d.Validate(); err != nil {
		return err
	}
	if err := countBuild(metrics.Registry); err != nil {
		return err
	}
	return d.Run(ctrl.SetupSignalHandler())
}

// countBuild exports the version and the Go release that built it as labels of
// a gauge that is always 1, so that queries can join it.
func countBuild(registry prometheus.Registerer) error {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "defaultplan_build_info", Help: "Always 1; the labels tell the version of the program, and the Go that built it.",
		ConstLabels: prometheus.Labels{"version": version.String(), "go_version": runtime.Version()},
	})
	build.Set(1)
	if err := registry.Register(build); err != nil {
		return fmt.Errorf("cannot register the metric of the version: %w", err)
	}
	return nil
}

// LogTo makes all loggers write JSON to standard error, without sampling,
// because each decision is logged once. The first line has the version. Call
// the returned function at the end.
func LogTo(level zapcore.Level) (sync func(), err error) {
	config := zap.NewProductionConfig()
	config.Level = zap.NewAtomicLevelAt(level)
	config.Sampling = nil
	config.EncoderConfig.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	logger, err := config.Build()
	if err != nil {
		return nil, fmt.Errorf("cannot make a logger: %w", err)
	}
	ctrl.SetLogger(zapr.NewLogger(logger))
	logStandardTo(logger)
	logger.Info("starting", zap.String("program", program()), zap.String("version", version.String()), zap.String("goVersion", runtime.Version()))
	return func() { _ = logger.Sync() }, nil
}

// ClusterConfig is how to reach the cluster of a kubeconfig, or, if that is empty, the one
// that the pod runs in. It sets no client-side rate limit: the API server's priority and
// fairness decides which requests wait.
func ClusterConfig(kubeconfig string) (*rest.Config, error) {
	var config *rest.Config
	var err error
	if kubeconfig == "" {
		config, err = rest.InClusterConfig()
	} else {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the cluster (--kubeconfig %q): %w", kubeconfig, err)
	}
	config.QPS = -1
	config.UserAgent = version.UserAgent(program())
	config.Wrap(watchfreshness.OfWatches)
	config.Wrap(tracing.ToAPIServer)
	return config, nil
}

// program is the name of this program, as client-go would find it.
func program() string { return filepath.Base(os.Args[0]) }

// AddChecks adds a liveness check to a manager, and a readiness check that
// requires all requested caches to be synced.
func AddChecks(mgr manager.Manager) error {
	alive := func(*http.Request) error { return nil }
	return errors.Join(mgr.AddHealthzCheck("ping", alive), mgr.AddReadyzCheck("caches", Synced(mgr.GetCache())))
}

// syncLook is how long a readiness probe waits for caches that have not synced.
const syncLook = 100 * time.Millisecond

// Synced is the check that all requested caches are synced.
func Synced(caches cache.Cache) func(*http.Request) error {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), syncLook)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches have not synced")
		}
		return nil
	}
}

// A LogLevel lets a zap level be a flag.
type LogLevel struct{ *zapcore.Level }

// MarshalText gives the level's name.
func (l LogLevel) MarshalText() ([]byte, error) {
	if l.Level == nil {
		return []byte(zapcore.InfoLevel.String()), nil
	}
	return l.Level.MarshalText() //nolint:wrapcheck // never fails
}
