// The certmanager command runs cert-manager's own controllers, those of its public
// packages that issue from self-signed and CA issuers and that put authorities into hook
// configurations, against the cluster of a kubeconfig. It is for end-to-end tests: what
// they prove of cert-manager, its own code did.
//
// Left out are its webhook, which is in a private package (nothing here is defaulted or
// refused by it), ACME, Vault and Venafi, and its own leader election and metrics server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	// Not the flags of the process: a library has put its own there.
	flags := flag.NewFlagSet("certmanager", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig file of the cluster, in which cert-manager's definitions are installed")
	_ = flags.Parse(os.Args[1:]) // it ends the process
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctrl.SetLogger(klog.Background())
	if err := run(ctx, *kubeconfig); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "certmanager:", err)
		os.Exit(1)
	}
}

// run runs everything until ctx ends.
func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot find the cluster (-kubeconfig %q): %w", kubeconfig, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return issue(ctx, kubeconfig) })
	group.Go(func() error { return inject(ctx, config) })
	return group.Wait()
}
