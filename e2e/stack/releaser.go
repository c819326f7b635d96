package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Releaser takes our finalizer off brokers, instances and bindings that are
// being deleted. It stands in for the controller, which will do so once the broker
// has deprovisioned; until there is one, nothing would ever finish deleting. Like
// the controller it sends a patch of metadata alone: the hooks must not be called
// for it.
type Releaser struct {
	client metadata.Interface
	queue  workqueue.TypedRateLimitingInterface[finalized]
	stores map[schema.GroupVersionResource]cache.Store
}

// A finalized is an object that may have our finalizer.
type finalized struct {
	resource schema.GroupVersionResource
	types.NamespacedName
}

// finalizedResources are the resources whose objects have our finalizer.
var finalizedResources = []string{"clusterservicebrokers", "servicebrokers", "serviceinstances", "servicebindings"}

// NewReleaser returns a Releaser that connects by config.
func NewReleaser(config *rest.Config) (*Releaser, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the releaser: %w", err)
	}
	return &Releaser{
		client: client, stores: map[schema.GroupVersionResource]cache.Store{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[finalized]()),
	}, nil
}

// startReleaser runs a Releaser until the function that it returns is called.
func startReleaser(config *rest.Config) (stop func(context.Context) error, err error) {
	releaser, err := NewReleaser(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- releaser.Run(ctx) }()
	return func(context.Context) error {
		cancel()
		return <-done
	}, nil
}

// Run works until ctx ends. A patch that fails is tried again.
func (r *Releaser) Run(ctx context.Context) error {
	for _, name := range finalizedResources {
		if err := r.watch(ctx, api.GroupVersion.WithResource(name)); err != nil {
			return err
		}
	}
	go func() {
		<-ctx.Done()
		r.queue.ShutDown()
	}()
	for r.next(ctx) {
	}
	return nil
}

func (r *Releaser) watch(ctx context.Context, resource schema.GroupVersionResource) error {
	informer := metadatainformer.NewFilteredMetadataInformer(r.client, resource,
		metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	r.stores[resource] = informer.GetStore()
	enqueue := func(object any) {
		if o, ok := object.(*metav1.PartialObjectMetadata); ok && held(o) {
			r.queue.Add(finalized{resource, types.NamespacedName{Namespace: o.Namespace, Name: o.Name}})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, now any) { enqueue(now) },
	})
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", resource.Resource, err)
	}
	go informer.RunWithContext(ctx)
	return nil
}

func held(object *metav1.PartialObjectMetadata) bool {
	return object.DeletionTimestamp != nil && slices.Contains(object.Finalizers, api.FinalizerServiceCatalog)
}

// next releases one object; it is false when there will be no more.
func (r *Releaser) next(ctx context.Context) bool {
	key, ended := r.queue.Get()
	if ended {
		return false
	}
	defer r.queue.Done(key)
	if err := r.release(ctx, key); err != nil {
		r.queue.AddRateLimited(key)
		return true
	}
	r.queue.Forget(key)
	return true
}

func (r *Releaser) release(ctx context.Context, key finalized) error {
	stored, exists, err := r.stores[key.resource].GetByKey(cache.NamespacedNameAsObjectName(key.NamespacedName).String())
	if err != nil || !exists {
		return err
	}
	object, ok := stored.(*metav1.PartialObjectMetadata)
	if !ok || !held(object) {
		return nil
	}
	patch, err := releasePatch(object)
	if err != nil {
		return err
	}
	_, err = r.client.Resource(key.resource).Namespace(key.Namespace).
		Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "defaultplan-releaser"})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// releasePatch names the revision that it is made for: a finalizer that a
// client added meanwhile must not be lost.
func releasePatch(object *metav1.PartialObjectMetadata) ([]byte, error) {
	rest := slices.DeleteFunc(slices.Clone(object.Finalizers), func(name string) bool {
		return name == api.FinalizerServiceCatalog
	})
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": rest, "resourceVersion": object.ResourceVersion,
	}})
	return patch, errors.Join(err)
}
