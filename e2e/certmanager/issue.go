package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	carequests "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	selfsignedrequests "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	// The kinds of issuers register themselves.
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	"golang.org/x/sync/errgroup"
)

// issuingControllers are those that make certificates of Certificate objects.
var issuingControllers = []string{
	issuers.ControllerName,
	trigger.ControllerName, keymanager.ControllerName, requestmanager.ControllerName, issuing.ControllerName,
	readiness.ControllerName, revisionmanager.ControllerName,
	approver.ControllerName, selfsignedrequests.CRControllerName, carequests.CRControllerName,
}

// The backoff after a request that failed: cert-manager's own is an hour at first.
const (
	backoffFirst = time.Second
	backoffMost  = 10 * time.Second
)

// issue runs the controllers until ctx ends.
func issue(ctx context.Context, kubeconfig string) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:    kubeconfig,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "cert-manager"},
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: backoffFirst, CertificateRequestMaximumBackoffDuration: backoffMost,
		},
	})
	if err != nil {
		return fmt.Errorf("cannot set up the controllers: %w", err)
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("cannot set up the controllers: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	known := controller.Known()
	for _, name := range slices.Sorted(slices.Values(issuingControllers)) {
		one, err := known[name](factory)
		if err != nil {
			return fmt.Errorf("cannot set up controller %q: %w", name, err)
		}
		group.Go(func() error { return one.Run(1, ctx) })
	}
	// After all of them asked for what they watch.
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	return group.Wait()
}
