package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forEver is the --timeout that never ends.
const forEver = "-1"

// WaitFlags are --wait, --timeout and --interval.
type WaitFlags struct {
	Wait bool

	// silent says that the way of the objects is not printed.
	silent                  bool
	rawTimeout, rawInterval string
	timeout, interval       time.Duration
}

// Silently is the wait of a command that always waits, and says itself what for.
func Silently(limit time.Duration) *WaitFlags {
	return &WaitFlags{Wait: true, silent: true, timeout: limit, interval: time.Second}
}

// Bind adds the flags.
func (w *WaitFlags) Bind(flags *pflag.FlagSet) {
	flags.BoolVar(&w.Wait, "wait", false, "Wait until it is done; exit with 3 if it failed, with 4 if --timeout was over first")
	flags.StringVar(&w.rawTimeout, "timeout", "5m", "How long to --wait, such as 30s, 1m or 1h; -1 is for ever")
	flags.StringVar(&w.rawInterval, "interval", "1s", "How often to poll if the API server does not allow a watch, such as 30s")
}

// Validate says which flag has a value that is not allowed.
func (w *WaitFlags) Validate() error {
	var err error
	if w.timeout, err = Timeout(w.rawTimeout); err != nil {
		return err
	}
	w.interval, err = Interval(w.rawInterval)
	return err
}

// Timeout is the value of a flag --timeout; 0 is for ever.
func Timeout(text string) (time.Duration, error) {
	if text == forEver {
		return 0, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout <= 0 {
		return 0, Usagef("--timeout is %q; allowed are times such as 30s, 1m and 1h, and -1 for ever", text)
	}
	return timeout, nil
}

// Interval is the value of a flag --interval.
func Interval(text string) (time.Duration, error) {
	interval, err := time.ParseDuration(text)
	if err != nil || interval <= 0 {
		return 0, Usagef("--interval is %q; allowed are times such as 1s and 1m", text)
	}
	return interval, nil
}

// Ready waits, with --wait, until objects can be used as their spec is now. They
// are then as they were last seen, also with an error: a *Failure with
// ExitObjectFailed, ExitTimeout or ExitInterrupted, or the API server's. Objects
// are instances, bindings and brokers.
func (w *WaitFlags) Ready(ctx context.Context, env *Env, objects ...client.Object) error {
	return w.all(ctx, env, ready, objects)
}

// Gone is as Ready, until objects are not there any more.
func (w *WaitFlags) Gone(ctx context.Context, env *Env, objects ...client.Object) error {
	return w.all(ctx, env, gone, objects)
}

// errTimeout is the cause of a context whose --timeout is over.
var errTimeout = errors.New("the time of --timeout is over")

func (w *WaitFlags) all(ctx context.Context, env *Env, goal goal, objects []client.Object) error {
	if !w.Wait || len(objects) == 0 {
		return nil
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, w.timeout, errTimeout)
		defer cancel()
	}
	progress := &progress{out: env.ErrOut, started: time.Now()}
	if w.silent {
		progress.out = io.Discard
	}
	for _, object := range objects {
		progress.linef("waiting for %s %s (%s)", nameOf(object), goal, w.limit())
	}
	failures := make([]error, len(objects))
	var each sync.WaitGroup
	for i, object := range objects {
		each.Go(func() {
			one := &wait{object: object, goal: goal, source: &clusterSource{c, object}, progress: progress, interval: w.interval, timeout: w.timeout}
			failures[i] = one.run(ctx)
		})
	}
	each.Wait()
	return errors.Join(failures...)
}

// limit is how long it waits, in words.
func (w *WaitFlags) limit() string {
	if w.timeout > 0 {
		return "at most " + w.timeout.String()
	}
	return "until Ctrl-C"
}

// nameOf is an object in a sentence, such as `instance "mydb"`.
func nameOf(object client.Object) string {
	return fmt.Sprintf("%s %q", stateOf(object).kind, object.GetName())
}
