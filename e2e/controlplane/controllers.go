package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// resync is how soon the garbage collector and the quotas see a CRD that was just made; kube-controller-manager's
// 30 s would make tests wait.
const resync = 2 * time.Second

// workers per controller.
const workers = 4

// controllers are the running controllers; a nil one is a part that does not run.
type controllers struct {
	config   *rest.Config
	client   kubernetes.Interface
	typed    informers.SharedInformerFactory
	metadata metadatainformer.SharedInformerFactory
	// started is closed when the informers were started.
	started chan struct{}
	synced  []func() bool
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// startControllers starts all controllers, those of workloads where they are asked for; each as the service
// account that it has in a cluster, so that admission and RBAC see the users they see there.
func startControllers(config *rest.Config, withWorkloads bool) (*controllers, error) {
	manager := as(config, "system:kube-controller-manager")
	client, err := kubernetes.NewForConfig(manager)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of the API server: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(manager)
	if err != nil {
		return nil, fmt.Errorf("cannot make a metadata client of the API server: %w", err)
	}
	c := &controllers{
		config: config, client: client,
		typed:    informers.NewSharedInformerFactory(client, 0),
		metadata: metadatainformer.NewSharedInformerFactory(metadataClient, 0),
		started:  make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	starts := c.always()
	if withWorkloads {
		maps.Copy(starts, c.workloads())
	}
	for name, start := range starts {
		if err := c.startAs(name, start); err != nil {
			c.stop()
			return nil, fmt.Errorf("cannot start controller %q: %w", name, err)
		}
	}
	c.typed.Start(c.ctx.Done())
	c.metadata.Start(c.ctx.Done())
	close(c.started)
	return c, nil
}

// always are the controllers without which objects do not come and go as in a cluster.
func (c *controllers) always() map[string]func(identity) error {
	return map[string]func(identity) error{
		"generic-garbage-collector":          c.startGarbageCollector,
		"namespace-controller":               c.startNamespace,
		"resourcequota-controller":           c.startResourceQuota,
		"service-account-controller":         c.startServiceAccount,
		"clusterrole-aggregation-controller": c.startClusterRoleAggregation,
	}
}

func (c *controllers) informers() informerfactory.InformerFactory {
	return informerfactory.NewInformerFactory(c.typed, c.metadata)
}

// goRun runs a controller's loop until stop.
func (c *controllers) goRun(loop func(context.Context)) {
	c.running.Go(func() {
		select {
		case <-c.started:
			loop(c.ctx)
		case <-c.ctx.Done():
		}
	})
}

// waitSynced returns when every controller has seen what is stored and the default service account exists.
func (c *controllers) waitSynced(ctx context.Context) error {
	c.typed.WaitForCacheSync(ctx.Done())
	c.metadata.WaitForCacheSync(ctx.Done())
	for !c.allSynced() || !c.defaultAccountExists(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot start the controllers: %w", context.Cause(ctx))
		case <-time.After(readyPoll):
		}
	}
	return nil
}

func (c *controllers) allSynced() bool {
	for _, synced := range c.synced {
		if !synced() {
			return false
		}
	}
	return true
}

func (c *controllers) defaultAccountExists(ctx context.Context) bool {
	_, err := c.client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err == nil
}

// stop ends the controllers.
func (c *controllers) stop() {
	if c == nil {
		return
	}
	c.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.running.Wait()
		c.typed.Shutdown()
		c.metadata.Shutdown()
	}()
	await(done)
}
