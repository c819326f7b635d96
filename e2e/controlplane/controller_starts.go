package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	quota "k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

// quotaRecount is how often quotas are counted again without an event. A quota for a kind that was just
// defined is not counted before, and admission refuses the kind until it is: kube-controller-manager's five
// minutes would make a test wait for them.
const quotaRecount = resync

// idleResync is kube-controller-manager's default for what needs no hurry.
const idleResync = 5 * time.Minute

// An identity is a controller's own pair of clients, and what further ones are made of.
type identity struct {
	config   *rest.Config
	kube     kubernetes.Interface
	metadata metadata.Interface
}

// as is config on behalf of another user.
func as(config *rest.Config, user string, groups ...string) *rest.Config {
	impersonating := rest.CopyConfig(config)
	impersonating.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return impersonating
}

// startAs starts a controller with the identity of its service account.
func (c *controllers) startAs(name string, start func(identity) error) error {
	config := as(c.config, "system:serviceaccount:kube-system:"+name,
		"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a metadata client: %w", err)
	}
	return start(identity{config: config, kube: kube, metadata: meta})
}

func (c *controllers) startGarbageCollector(id identity) error {
	// The mapper has its own cache of the discovery: the collector drops it when kinds come or go.
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(id.kube.Discovery()))
	collector, err := garbagecollector.NewGarbageCollector(c.ctx, id.kube, id.metadata, mapper,
		garbagecollector.DefaultIgnoredResources(), c.informers(), c.started)
	if err != nil {
		return err
	}
	c.goRun(func(ctx context.Context) { collector.Run(ctx, workers, resync) })
	c.goRun(func(ctx context.Context) { collector.Sync(ctx, id.kube.Discovery(), resync) })
	c.synced = append(c.synced, func() bool { return collector.IsSynced(klog.Background()) })
	return nil
}

func (c *controllers) startNamespace(id identity) error {
	controller := namespace.NewNamespaceController(c.ctx, id.kube, id.metadata, id.kube.Discovery().ServerPreferredNamespacedResources,
		c.typed.Core().V1().Namespaces(), idleResync, corev1.FinalizerKubernetes)
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startServiceAccount(id identity) error {
	controller, err := newServiceAccounts(c.typed.Core().V1(), id.kube)
	if err != nil {
		return err
	}
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startClusterRoleAggregation(id identity) error {
	controller := clusterroleaggregation.NewClusterRoleAggregation(c.typed.Rbac().V1().ClusterRoles(), id.kube.RbacV1())
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startResourceQuota(id identity) error {
	configuration, err := newQuotaConfiguration(quota.ListerFuncForResourceFunc(c.typed.ForResource), c.typed)
	if err != nil {
		return err
	}
	discover := id.kube.Discovery().ServerPreferredNamespacedResources
	controller, err := resourcequota.NewController(c.ctx, &resourcequota.ControllerOptions{
		QuotaClient:               id.kube.CoreV1(),
		ResourceQuotaInformer:     c.typed.Core().V1().ResourceQuotas(),
		ResyncPeriod:              func() time.Duration { return quotaRecount },
		Registry:                  quota.NewRegistry(configuration.Evaluators()),
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      configuration.IgnoredResources,
		InformersStarted:          c.started,
		InformerFactory:           c.informers(),
		ReplenishmentResyncPeriod: func() time.Duration { return idleResync },
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return err
	}
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	c.goRun(func(ctx context.Context) { controller.Sync(ctx, discover, resync) })
	return nil
}
