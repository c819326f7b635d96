package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Releaser takes our finalizer off instances that are being deleted. It
// stands in for the controller, which will do so once the broker has
// deprovisioned; until there is one, nothing would ever finish deleting. Like
// the controller it sends a patch of metadata alone: the hooks must not be
// called for it.
type Releaser struct {
	client metadata.Interface
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	store  cache.Store
}

// NewReleaser returns a Releaser that connects by config.
func NewReleaser(config *rest.Config) (*Releaser, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the releaser: %w", err)
	}
	return &Releaser{client: client, queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())}, nil
}

// Run works until ctx ends. A patch that fails is tried again.
func (r *Releaser) Run(ctx context.Context) error {
	instances := metadatainformer.NewFilteredMetadataInformer(r.client, instanceResource,
		metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	r.store = instances.GetStore()
	_, err := instances.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    r.enqueue,
		UpdateFunc: func(_, now any) { r.enqueue(now) },
	})
	if err != nil {
		return fmt.Errorf("cannot watch instances: %w", err)
	}
	go instances.RunWithContext(ctx)
	go func() {
		<-ctx.Done()
		r.queue.ShutDown()
	}()
	for r.next(ctx) {
	}
	return nil
}

var instanceResource = api.GroupVersion.WithResource("serviceinstances")

func (r *Releaser) enqueue(object any) {
	if instance, ok := object.(*metav1.PartialObjectMetadata); ok && held(instance) {
		r.queue.Add(types.NamespacedName{Namespace: instance.Namespace, Name: instance.Name})
	}
}

func held(instance *metav1.PartialObjectMetadata) bool {
	return instance.DeletionTimestamp != nil && slices.Contains(instance.Finalizers, api.FinalizerServiceCatalog)
}

// next releases one instance; it is false when there will be no more.
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

func (r *Releaser) release(ctx context.Context, key types.NamespacedName) error {
	object, exists, err := r.store.GetByKey(key.String())
	if err != nil || !exists {
		return err
	}
	instance, ok := object.(*metav1.PartialObjectMetadata)
	if !ok || !held(instance) {
		return nil
	}
	patch, err := releasePatch(instance)
	if err != nil {
		return err
	}
	_, err = r.client.Resource(instanceResource).Namespace(key.Namespace).
		Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "defaultplan-releaser"})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// releasePatch names the revision that it is made for: a finalizer that somebody
// added meanwhile must not be lost.
func releasePatch(instance *metav1.PartialObjectMetadata) ([]byte, error) {
	rest := slices.DeleteFunc(slices.Clone(instance.Finalizers), func(name string) bool {
		return name == api.FinalizerServiceCatalog
	})
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": rest, "resourceVersion": instance.ResourceVersion,
	}})
	return patch, errors.Join(err)
}
