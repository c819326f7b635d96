package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// endpointsPerSlice is kube-controller-manager's default.
const endpointsPerSlice = 100

// workloads are the controllers that make pods of what a chart says, and
// Services of pods. They are not needed where no pod runs, and they cost time
// and memory.
func (c *controllers) workloads() map[string]func(identity) error {
	return map[string]func(identity) error{
		"deployment-controller":    c.startDeployment,
		"replicaset-controller":    c.startReplicaSet,
		"job-controller":           c.startJob,
		"endpointslice-controller": c.startEndpointSlice,
		"disruption-controller":    c.startDisruption,
	}
}

func (c *controllers) startDeployment(id identity) error {
	controller, err := deployment.NewDeploymentController(c.ctx, c.typed.Apps().V1().Deployments(),
		c.typed.Apps().V1().ReplicaSets(), c.typed.Core().V1().Pods(), id.kube)
	if err != nil {
		return err
	}
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startReplicaSet(id identity) error {
	controller := replicaset.NewReplicaSetController(c.ctx, c.typed.Apps().V1().ReplicaSets(), c.typed.Core().V1().Pods(),
		id.kube, replicaset.BurstReplicas)
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startJob(id identity) error {
	controller, err := c.newJobs(id)
	if err != nil {
		return err
	}
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startEndpointSlice(id identity) error {
	core := c.typed.Core().V1()
	controller := endpointslice.NewController(c.ctx, core.Pods(), core.Services(), core.Nodes(),
		c.typed.Discovery().V1().EndpointSlices(), endpointsPerSlice, id.kube, 0)
	c.goRun(func(ctx context.Context) { controller.Run(ctx, workers) })
	return nil
}

func (c *controllers) startDisruption(id identity) error {
	discovery := memory.NewMemCacheClient(id.kube.Discovery())
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(discovery)
	scales, err := scale.NewForConfig(id.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(discovery))
	if err != nil {
		return fmt.Errorf("cannot make a client of scales: %w", err)
	}
	apps := c.typed.Apps().V1()
	controller := disruption.NewDisruptionController(c.ctx, c.typed.Core().V1().Pods(), c.typed.Policy().V1().PodDisruptionBudgets(),
		c.typed.Core().V1().ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(),
		id.kube, mapper, scales, id.kube.Discovery())
	run, err := runDisruption(controller)
	if err != nil {
		return err
	}
	c.goRun(run)
	return nil
}
