package keeper_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

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

// editf is a write of the test's own, which no hook sees.
func (r *registry) editf(ctx context.Context, object client.Object, format string, args ...any) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NoError(r.t, r.merge(ctx, object, fmt.Appendf(nil, format, args...), false))
}

func (r *registry) annotate(ctx context.Context, plan string) {
	r.t.Helper()
	r.editf(ctx, planAt(r.namespace, plan), `{"metadata":{"annotations":{%q:"true"}}}`, v1beta1.AnnotationDefaultPlan)
}

func (r *registry) takeOff(ctx context.Context, plan string) {
	r.t.Helper()
	r.editf(ctx, planAt(r.namespace, plan), `{"metadata":{"annotations":{%q:null}}}`, v1beta1.AnnotationDefaultPlan)
}

// record is what `svcat set plan --default` does first.
func (r *registry) record(ctx context.Context, plan string) {
	r.t.Helper()
	r.editf(ctx, typeAt(r.namespace, "mysql"), `{"spec":{"defaultPlanRef":{"name":%q}}}`, plan)
}

func (r *registry) retype(ctx context.Context, plan, serviceType string) {
	r.t.Helper()
	r.editf(ctx, planAt(r.namespace, plan), `{"spec":{"serviceType":%q}}`, serviceType)
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
	err := r.Get(ctx, client.ObjectKeyFromObject(object), object)
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
