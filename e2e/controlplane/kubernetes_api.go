package main

import (
	"context"
	"errors"

	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/informers"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

// What the packages of Kubernetes export differs between its releases, and the sources here are built with
// several (tools/matrix.sh). Each function of this file takes whichever form the release has; what cannot be
// written so that all releases compile it is in files with build tags.

// errUnknownForm is the error of a release that has none of the forms.
var errUnknownForm = errors.New("this release of Kubernetes has a form of it that is not known here")

func newServiceAccounts(core corev1.Interface, kube kubernetes.Interface) (*serviceaccount.ServiceAccountsController, error) {
	options := serviceaccount.DefaultServiceAccountsControllerOptions()
	switch construct := any(serviceaccount.NewServiceAccountsController).(type) {
	case func(klog.Logger, corev1.ServiceAccountInformer, corev1.NamespaceInformer, kubernetes.Interface,
		serviceaccount.ServiceAccountsControllerOptions) (*serviceaccount.ServiceAccountsController, error):
		return construct(klog.Background(), core.ServiceAccounts(), core.Namespaces(), kube, options)
	case func(corev1.ServiceAccountInformer, corev1.NamespaceInformer, kubernetes.Interface,
		serviceaccount.ServiceAccountsControllerOptions) (*serviceaccount.ServiceAccountsController, error): // before 1.35
		return construct(core.ServiceAccounts(), core.Namespaces(), kube, options)
	}
	return nil, errUnknownForm
}

func newQuotaConfiguration(list quota.ListerForResourceFunc, typed informers.SharedInformerFactory) (quota.Configuration, error) {
	switch construct := any(quotainstall.NewQuotaConfigurationForControllers).(type) {
	case func(quota.ListerForResourceFunc, informers.SharedInformerFactory) (quota.Configuration, error):
		return construct(list, typed)
	case func(quota.ListerForResourceFunc, informers.SharedInformerFactory) quota.Configuration: // 1.35
		return construct(list, typed), nil
	case func(quota.ListerForResourceFunc) quota.Configuration: // before 1.35
		return construct(list), nil
	}
	return nil, errUnknownForm
}

// runDisruption returns the loop of the controller.
func runDisruption(controller *disruption.DisruptionController) (func(context.Context), error) {
	switch run := any(controller.Run).(type) {
	case func(context.Context): // before 1.37
		return run, nil
	case func(context.Context, int):
		return func(ctx context.Context) { run(ctx, workers) }, nil
	}
	return nil, errUnknownForm
}
