package keeper_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

// A registry is a house that takes the default recorder's writes as an API server does:
// versions guard them, a changed spec is a new generation, and hooks may refuse.
// What it serves live has managedFields, what it serves as cached has none.
type registry struct {
	*house

	// namespace is the scope of the catalog that the test is about.
	namespace string

	mu sync.Mutex
	// hook may refuse a write.
	hook func(verb string, object client.Object) error
	// annotatedAt says since when plans are annotated.
	annotatedAt map[string]time.Time
	// writes are verb and name of all writes but the test's own.
	writes []string
	// looks counts the lists of cluster plans in the cache.
	looks atomic.Int64
	// meanwhile happens after the next look at cluster plans as they are stored.
	meanwhile func()
}

// atRegistry runs a test in a registry over the objects.
func atRegistry(t *testing.T, objects []client.Object, test func(context.Context, *registry)) {
	t.Helper()
	inHouse(t, objects, func(ctx context.Context, h *house) {
		test(ctx, &registry{
			house: h, annotatedAt: map[string]time.Time{},
			hook: func(string, client.Object) error { return nil },
		})
	})
}

// options are those of a keeper that keeps records.
func (r *registry) options() keeper.Options {
	options := r.house.options()
	options.Client, options.Live = r, liveReader{r.WithWatch, r}
	options.ServiceTypes, options.SuggestedPlans = true, true
	return options
}

// keep starts a keeper, and returns what ends it.
func (r *registry) keep(ctx context.Context) func() {
	r.t.Helper()
	return r.house.keep(ctx, r.options())
}

// refuse sets what the hooks do from now on.
func (r *registry) refuse(hook func(verb string, object client.Object) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hook = hook
}

// Create stores an object if the hooks let it.
func (r *registry) Create(ctx context.Context, object client.Object, _ ...client.CreateOption) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.hook("create", object); err != nil {
		return err
	}
	object.SetGeneration(1)
	if err := r.WithWatch.Create(ctx, object); err != nil {
		return err
	}
	r.writes = append(r.writes, "create "+object.GetName())
	return nil
}

// List reads the cache.
func (r *registry) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, plans := list.(*v1beta1.ClusterServicePlanList); plans {
		r.looks.Add(1)
	}
	return r.house.List(ctx, list, options...)
}

// Delete deletes an object.
func (r *registry) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, "delete "+object.GetName())
	return r.WithWatch.Delete(ctx, object, options...)
}

// Patch takes the default recorder's merge patches, and touches.
func (r *registry) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	data, err := patch.Data(object)
	require.NoError(r.t, err)
	if string(data) == "{}" {
		return r.house.Patch(ctx, object, patch, options...)
	}
	require.Equal(r.t, types.MergePatchType, patch.Type())
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.merge(ctx, object, data, true)
}

// merge patches an object in one write.
func (r *registry) merge(ctx context.Context, object client.Object, data []byte, hooked bool) error {
	stored, _ := object.DeepCopyObject().(client.Object)
	if err := r.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
		return err
	}
	before, err := json.Marshal(stored)
	require.NoError(r.t, err)
	merged, err := jsonpatch.MergePatch(before, data)
	require.NoError(r.t, err)
	after, _ := newLike(object).(client.Object)
	require.NoError(r.t, json.Unmarshal(merged, after))
	if after.GetResourceVersion() != stored.GetResourceVersion() {
		return apierrors.NewConflict(v1beta1.Resource("objects"), object.GetName(), nil)
	}
	if hooked {
		if err := r.hook("patch", after); err != nil {
			return err
		}
		r.writes = append(r.writes, "patch "+after.GetName())
	}
	r.stamp(stored, after)
	return r.Update(ctx, after)
}

// stamp does to a write what an API server does by itself.
func (r *registry) stamp(before, after client.Object) {
	if !apiequality.Semantic.DeepEqual(specOf(before), specOf(after)) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	r.annotatedIn(before, after)
}

func (r *registry) annotatedIn(before, after client.Object) {
	if is := isAnnotated(after); before == nil || isAnnotated(before) != is {
		r.annotatedAt[client.ObjectKeyFromObject(after).String()] = time.Now()
	}
}

// wrote are the default recorder's writes since the last time, but for those of status.
func (r *registry) wrote() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.writes = nil }()
	return r.writes
}

func isAnnotated(object client.Object) bool {
	return object.GetAnnotations()[v1beta1.AnnotationDefaultPlan] == "true"
}

func newLike(object client.Object) any {
	switch object.(type) {
	case *v1beta1.ClusterServiceType:
		return &v1beta1.ClusterServiceType{}
	case *v1beta1.ServiceType:
		return &v1beta1.ServiceType{}
	case *v1beta1.ClusterServicePlan:
		return &v1beta1.ClusterServicePlan{}
	case *v1beta1.ServicePlan:
		return &v1beta1.ServicePlan{}
	case *v1beta1.ClusterServiceClass:
		return &v1beta1.ClusterServiceClass{}
	}
	return &v1beta1.ServiceClass{}
}

func specOf(object client.Object) any {
	switch o := object.(type) {
	case *v1beta1.ClusterServiceType:
		return o.Spec
	case *v1beta1.ServiceType:
		return o.Spec
	}
	return nil
}

// A liveReader serves what the API server stores, with its managedFields.
type liveReader struct {
	client.Reader

	registry *registry
}

func (l liveReader) Get(ctx context.Context, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := l.Reader.Get(ctx, at, object, options...)
	l.manage(object)
	return err
}

func (l liveReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := l.Reader.List(ctx, list, options...)
	switch all := list.(type) {
	case *v1beta1.ClusterServicePlanList:
		for i := range all.Items {
			l.manage(&all.Items[i])
		}
		if meanwhile := l.registry.meanwhile; meanwhile != nil && len(all.Items) > 0 {
			l.registry.meanwhile = nil
			meanwhile()
		}
	case *v1beta1.ServicePlanList:
		for i := range all.Items {
			l.manage(&all.Items[i])
		}
	}
	return err
}

// manage adds what managers wrote: one the labels, just now, another the
// annotation.
func (l liveReader) manage(object client.Object) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	since, known := l.registry.annotatedAt[client.ObjectKeyFromObject(object).String()]
	if !known {
		return
	}
	entry := func(at time.Time, fields string) metav1.ManagedFieldsEntry {
		written := metav1.NewTime(at).Rfc3339Copy()
		return metav1.ManagedFieldsEntry{Manager: "someone", Operation: "Update", Time: &written, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry(bubbleStart.Add(-time.Hour), `{"f:metadata":{"f:labels":{}},"f:spec":{}}`),
		entry(since, `{"f:metadata":{"f:annotations":{".":{},"f:`+v1beta1.AnnotationDefaultPlan+`":{}}}}`),
	})
}
