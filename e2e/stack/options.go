package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack/process"
)

// Options say what a stack is made of.
type Options struct {
	// Dir is the folder for state, kubeconfigs and logs; it is made if absent.
	// A control plane that ran there before goes on with its data.
	Dir string
	// Bin is the folder of the binaries controlplane, kubectl, webhook and controller.
	Bin string
	// Webhooks is how many webhook processes run. With none, the hooks are not
	// installed; with two or more, they are reached through a Balancer.
	Webhooks int
	// ManagedCerts has the webhooks make their certificates themselves, and put their
	// authority into the hook configurations, as shipped: each has a serving folder of
	// its own, and the Secret of certificates is empty at first. Otherwise all are given
	// the same files.
	ManagedCerts bool
	// WebhookArgs are further flags of each webhook process, and of the stack's own
	// keeper; they come last. If --keeper= is among them, the stack has none.
	WebhookArgs []string
	// Controller is the one that runs beside the webhooks; nil: none does.
	Controller *ControllerOptions
	// ControlPlaneArgs are further arguments of controlplane; behind "--" come
	// flags of kube-apiserver.
	ControlPlaneArgs []string
	// Whole installs also what a cluster can do without: the shipped validating
	// admission policies and the priority levels.
	Whole bool
	// Endpoints installs the rights to the Services of bindings, which a controller with
	// --endpoints needs.
	Endpoints bool
	// Bare is the control plane alone: no definitions, no rights, no webhook. It is
	// for who installs as a user does.
	Bare bool
	// Apart runs etcd as a process of its own, so that it can be paused, and the API
	// server be stopped and started again.
	Apart bool
	// Releaser runs a Releaser, for tests that delete objects where no controller runs.
	Releaser bool
	// Detached lets the processes outlive this one. Otherwise they end when it
	// does, even if it is killed (on Linux). A keeper that ends by itself is started
	// again only while this process lives.
	Detached bool
	// ReadyWithin is how long webhook, keeper and controller take at most to fill their
	// caches; 0: a minute.
	ReadyWithin time.Duration
	// Progress gets one line about each start. Nil: nothing is reported.
	Progress io.Writer
}

// validate makes paths absolute and says what is missing.
func (o *Options) validate() error {
	if o.Dir == "" || o.Bin == "" {
		return errors.New("cannot start a stack: Dir and Bin are required: the folder for its state and the folder of the binaries")
	}
	if o.Webhooks < 0 {
		return fmt.Errorf("cannot start a stack: Webhooks is %d; allowed is 0 or more", o.Webhooks)
	}
	if o.Bare && (o.Webhooks > 0 || o.Whole || o.Controller != nil) {
		return errors.New("cannot start a stack: Bare goes with neither Webhooks, Whole nor Controller: it installs nothing")
	}
	// A balancer is part of this process, so it cannot outlive it.
	if o.Detached && o.Webhooks > 1 {
		return fmt.Errorf("cannot start a stack: Detached goes with at most one webhook, not %d", o.Webhooks)
	}
	var dirErr, binErr error
	o.Dir, dirErr = filepath.Abs(o.Dir)
	o.Bin, binErr = filepath.Abs(o.Bin)
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return errors.Join(dirErr, binErr, o.binariesAbsent())
}

func (o *Options) binariesAbsent() error {
	needed := []string{"controlplane", "kubectl"}
	if o.Webhooks > 0 {
		needed = append(needed, "webhook")
	}
	if o.Controller != nil {
		needed = append(needed, "controller")
	}
	var absent []error
	for _, name := range needed {
		if _, err := os.Stat(filepath.Join(o.Bin, name)); err != nil {
			absent = append(absent, fmt.Errorf("cannot find binary %q: run `make build`: %w", name, err))
		}
	}
	return errors.Join(absent...)
}

func (o *Options) path(names ...string) string {
	return filepath.Join(append([]string{o.Dir}, names...)...)
}

func (o *Options) sayf(format string, args ...any) {
	// A caller may close the writer; the stack still starts.
	_, _ = fmt.Fprintf(o.Progress, format+"\n", args...)
}

// start starts a process of the stack. It does not end with ctx, but by End.
func (o *Options) start(ctx context.Context, c process.Command) (*process.Process, error) {
	return process.Launcher{Dir: o.Dir, Detached: o.Detached}.Start(ctx, c)
}
