package keeper_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// A registry is a house that takes the recorder's writes as an API server does:
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

// Patch takes the recorder's merge patches, and touches.
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
	if err := r.WithWatch.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
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
	return r.WithWatch.Update(ctx, after)
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

// wrote are the recorder's writes since the last time, but for those of status.
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
		return metav1.ManagedFieldsEntry{Manager: "someone", Operation: "Update", Time: &written, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry(bubbleStart.Add(-time.Hour), `{"f:metadata":{"f:labels":{}},"f:spec":{}}`),
		entry(since, `{"f:metadata":{"f:annotations":{".":{},"f:`+v1beta1.AnnotationDefaultPlan+`":{}}}}`),
	})
}

// planAt is a plan of class c1, without a type of its own, in the scope.
func planAt(namespace, name string) client.Object {
	if namespace != "" {
		p := plan(namespace, "")
		p.Name, p.UID, p.Spec.ExternalName = name, types.UID(name), name
		return p
	}
	p := clusterPlan("")
	p.Name, p.UID, p.Spec.ExternalName = name, types.UID(name), name
	return p
}

func classAt(namespace, serviceType string) client.Object {
	if namespace != "" {
		return class(namespace, serviceType)
	}
	return clusterClass(serviceType)
}

// offering is class c1 of type mysql with plans, in the scope.
func offering(namespace string, plans ...string) []client.Object {
	objects := []client.Object{classAt(namespace, "mysql")}
	for _, name := range plans {
		objects = append(objects, planAt(namespace, name))
	}
	return objects
}

func typeAt(namespace, name string) client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	if namespace != "" {
		return &v1beta1.ServiceType{ObjectMeta: meta}
	}
	return &v1beta1.ClusterServiceType{ObjectMeta: meta}
}

// edit is a write of the test's own, which no hook sees.
func (r *registry) edit(ctx context.Context, object client.Object, format string, args ...any) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NoError(r.t, r.merge(ctx, object, fmt.Appendf(nil, format, args...), false))
}

func (r *registry) annotate(ctx context.Context, plan string) {
	r.t.Helper()
	r.edit(ctx, planAt(r.namespace, plan), `{"metadata":{"annotations":{%q:"true"}}}`, v1beta1.AnnotationDefaultPlan)
}

func (r *registry) takeOff(ctx context.Context, plan string) {
	r.t.Helper()
	r.edit(ctx, planAt(r.namespace, plan), `{"metadata":{"annotations":{%q:null}}}`, v1beta1.AnnotationDefaultPlan)
}

// record is what `svcat set plan --default` does first.
func (r *registry) record(ctx context.Context, plan string) {
	r.t.Helper()
	r.edit(ctx, typeAt(r.namespace, "mysql"), `{"spec":{"defaultPlanRef":{"name":%q}}}`, plan)
}

func (r *registry) retype(ctx context.Context, plan, serviceType string) {
	r.t.Helper()
	r.edit(ctx, planAt(r.namespace, plan), `{"spec":{"serviceType":%q}}`, serviceType)
}

// remove deletes an object as the test's own write.
func (r *registry) remove(ctx context.Context, object client.Object) {
	r.t.Helper()
	require.NoError(r.t, r.WithWatch.Delete(ctx, object))
}

func (r *registry) add(ctx context.Context, objects ...client.Object) {
	r.t.Helper()
	for _, object := range objects {
		r.mu.Lock()
		object.SetGeneration(1)
		r.annotatedIn(nil, object)
		require.NoError(r.t, r.WithWatch.Create(ctx, object))
		r.mu.Unlock()
	}
}

// typeStatus is a type as stored; nil if there is none.
func (r *registry) typeStatus(ctx context.Context, name string) (*v1beta1.ServiceTypeSpec, *v1beta1.ServiceTypeStatus, int64) {
	r.t.Helper()
	object := typeAt(r.namespace, name)
	err := r.WithWatch.Get(ctx, client.ObjectKeyFromObject(object), object)
	if apierrors.IsNotFound(err) {
		return nil, nil, 0
	}
	require.NoError(r.t, err)
	switch o := object.(type) {
	case *v1beta1.ClusterServiceType:
		return &o.Spec, &o.Status, o.Generation
	case *v1beta1.ServiceType:
		return &o.Spec, &o.Status, o.Generation
	}
	return nil, nil, 0
}

// defaults is what there is of a type's default, in words: what is recorded and
// confirmed, and which plans are annotated, of whatever type.
func (r *registry) defaults(ctx context.Context, name string) string {
	r.t.Helper()
	spec, status, generation := r.typeStatus(ctx, name)
	words := "no object"
	switch {
	case spec == nil:
	case spec.DefaultPlanRef == nil:
		words = "none recorded"
	default:
		words = spec.DefaultPlanRef.Name + " recorded"
		if status.Confirmed && status.ObservedGeneration == generation {
			words += " and confirmed"
		}
	}
	annotated := "none"
	if names := r.annotated(ctx); len(names) > 0 {
		annotated = strings.Join(names, " ")
	}
	return words + ", " + annotated + " annotated"
}

func (r *registry) annotated(ctx context.Context) []string {
	r.t.Helper()
	var names []string
	keep := func(object client.Object) {
		if object.GetNamespace() == r.namespace && isAnnotated(object) {
			names = append(names, object.GetName())
		}
	}
	var cluster v1beta1.ClusterServicePlanList
	require.NoError(r.t, r.WithWatch.List(ctx, &cluster))
	for i := range cluster.Items {
		keep(&cluster.Items[i])
	}
	var local v1beta1.ServicePlanList
	require.NoError(r.t, r.WithWatch.List(ctx, &local))
	for i := range local.Items {
		keep(&local.Items[i])
	}
	slices.Sort(names)
	return names
}
