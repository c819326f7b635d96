package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/defaultplan/defaultplan/e2e/controlplane/folder"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubeoptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// readyPoll is how often a starting part is asked whether it is ready.
const readyPoll = 25 * time.Millisecond

// errStopped is the error of an API server that ended without one.
var errStopped = errors.New("it stopped by itself")

// An apiServer is a running kube-apiserver; a nil one is a part that does not run.
type apiServer struct {
	access folder.Access
	cancel context.CancelFunc
	// done is closed when it has ended; err says how.
	done chan struct{}
	err  error
}

// launchAPIServer runs kube-apiserver on the listener until stop.
func launchAPIServer(args []string, listener net.Listener, l *logs) (*apiServer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	config, err := completeAPIServer(ctx, args, listener, l)
	if err != nil {
		cancel()
		return nil, err
	}
	a := &apiServer{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.err = cmp.Or(app.Run(ctx, config), errStopped)
	}()
	return a, nil
}

// completeAPIServer does what kube-apiserver's own command does before it runs, but for two things: signals
// stay ours, and the listener is opened before, so that no other process can take the port meanwhile.
func completeAPIServer(ctx context.Context, args []string, listener net.Listener, l *logs) (kubeoptions.CompletedOptions, error) {
	none := kubeoptions.CompletedOptions{}
	o := kubeoptions.NewServerRunOptions()
	registry := o.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := parseAPIServerFlags(o, args); err != nil {
		return none, err
	}
	if err := registry.Set(); err != nil {
		return none, fmt.Errorf("cannot set feature gates: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	streams := &logsapi.LoggingOptions{ErrorStream: l.file, InfoStream: l.file}
	if err := logsapi.ValidateAndApplyWithOptions(o.Logs, streams, registry.FeatureGateFor(compatibility.DefaultKubeComponent)); err != nil {
		return none, fmt.Errorf("cannot set up logging: %w", err)
	}
	o.SecureServing.Listener = listener
	completed, err := o.Complete(ctx)
	if err != nil {
		return none, fmt.Errorf("cannot complete kube-apiserver flags: %w", err)
	}
	if err := errors.Join(completed.Validate()...); err != nil {
		return none, fmt.Errorf("cannot use kube-apiserver flags: %w", err)
	}
	return completed, nil
}

// waitReady returns when /readyz is ok.
func (a *apiServer) waitReady(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(a.clientConfig())
	if err != nil {
		return fmt.Errorf("cannot make a client of the API server: %w", err)
	}
	for {
		err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		if err == nil {
			return nil
		}
		select {
		case <-a.done:
			return fmt.Errorf("cannot start the API server: %w", a.err)
		case <-ctx.Done():
			return fmt.Errorf("cannot start the API server: %w (last answer: %w)", context.Cause(ctx), err)
		case <-time.After(readyPoll):
		}
	}
}

// ended is closed when the API server ended by itself.
func (a *apiServer) ended() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.done
}

// stop ends the API server gracefully.
func (a *apiServer) stop() {
	if a == nil {
		return
	}
	a.cancel()
	await(a.done)
}
