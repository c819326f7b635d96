package relist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// What an operator set stays, however often the catalog comes and whatever it says;
// once he takes it off, the suggestion is back.
func TestOperatorsChoiceSurvives(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		w.edit(w.class("db"), `{"spec":{"defaultProvisionParameters":{"region":"us","n":null,"none":null},"defaultSecretTransforms":[{"removeKey":{"key":"x"}}]}}`)
		w.edit(w.plan("l"), `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":"true"}},"spec":{"serviceType":"@mine","weight":7}}`)
		w.edit(w.plan("s"), `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-suggested-plan":"false"},"labels":{"team":"a"}}}`)
		for i := range 10 {
			result, writes := w.relist(w.catalog(mysql, "A database.", fmt.Sprintf("A database, %d.", i), `"region":"eu"`, fmt.Sprintf(`"region":"eu-%d"`, i)))
			require.NoError(t, result.Err())
			require.Empty(t, result.Skipped)
			if i > 0 {
				assert.Equal(t, 1, writes, "only the class's facts change")
			}
		}
		class, small, large := w.class("db"), w.plan("s"), w.plan("l")
		assert.JSONEq(t, `{"region":"us"}`, string(class.defaults.DefaultProvisionParameters.Raw))
		assert.Equal(t, "x", class.defaults.DefaultSecretTransforms[0].RemoveKey.Key)
		assert.Equal(t, w.prefix+"sql", class.serviceType, "the rest is suggested still")
		assert.Equal(t, w.prefix+"mine", large.serviceType)
		assert.Equal(t, "true", large.GetAnnotations()[api.AnnotationDefaultPlan])
		assert.Equal(t, "4", large.GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
		assert.Equal(t, "false", small.GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.Equal(t, "a", small.GetLabels()["team"])

		w.edit(small, `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-suggested-plan":null}}}`)
		w.edit(large, `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":null}},"spec":{"serviceType":null}}`)
		w.relist(w.catalog(mysql))
		assert.Equal(t, "true", w.plan("s").GetAnnotations()[api.AnnotationSuggestedPlan], "released, it returns")
		assert.Equal(t, w.prefix+"sql", w.plan("l").serviceType)
	})
}

// A field that an operator takes between look and write is left to him, and the rest
// is applied.
func TestTakenInBetween(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	stale := &staleReader{Reader: w.client, at: map[string]client.Object{}}
	for _, f := range []*found{w.class("db"), w.plan("s"), w.plan("l")} {
		stale.at[f.GetName()] = f.Object
	}
	w.edit(w.plan("l"), `{"spec":{"serviceType":"@mine"}}`)
	w.engine.Reader = stale
	result, _ := w.relist(w.catalog(mysql, "Cores=4", "Cores=8"))
	require.NoError(t, result.Err())
	assert.Equal(t, w.prefix+"mine", w.plan("l").serviceType)
	assert.Equal(t, "8", w.plan("l").GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
}

// A staleReader is a cache that has not heard of some writes.
type staleReader struct {
	client.Reader

	at map[string]client.Object
}

func (s *staleReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := s.Reader.List(ctx, list, options...); err != nil {
		return err
	}
	if plans, is := list.(*api.ClusterServicePlanList); is {
		for i := range plans.Items {
			if old, has := s.at[plans.Items[i].Name].(*api.ClusterServicePlan); has {
				plans.Items[i] = *old
			}
		}
	}
	return nil
}

// User-defined classes and plans are not written, in neither scope, nor are the copies
// of a cluster's broker in a namespace.
func TestUserDefinedUntouched(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	namespace := newWorld(t, true)
	class := api.CommonServiceClassSpec{ExternalName: w.prefix + "gold", ExternalID: w.prefix + "db", Description: "Mine."}
	plan := api.CommonServicePlanSpec{ExternalName: "gold", ExternalID: w.prefix + "s"}
	mine, there := metav1.ObjectMeta{Name: w.prefix + "gold"}, metav1.ObjectMeta{Namespace: namespace.broker.Namespace, Name: w.prefix + "gold"}
	objects := []client.Object{
		&api.ClusterServiceClass{ObjectMeta: mine, Spec: api.ClusterServiceClassSpec{CommonServiceClassSpec: class, ClusterServiceBrokerName: w.broker.Name}},
		&api.ClusterServicePlan{ObjectMeta: mine, Spec: api.ClusterServicePlanSpec{CommonServicePlanSpec: plan, ClusterServiceBrokerName: w.broker.Name, ClusterServiceClassRef: api.ClusterObjectReference{Name: mine.Name}}},
		&api.ServiceClass{ObjectMeta: there, Spec: api.ServiceClassSpec{CommonServiceClassSpec: class, ClusterServiceBrokerName: w.broker.Name}},
		&api.ServicePlan{ObjectMeta: there, Spec: api.ServicePlanSpec{CommonServicePlanSpec: plan, ClusterServiceBrokerName: w.broker.Name, ServiceClassRef: api.LocalObjectReference{Name: mine.Name}}},
	}
	versions := map[client.Object]string{}
	for _, object := range objects {
		w.create(object)
		versions[object] = object.GetResourceVersion()
	}
	for _, text := range []string{mysql, strings.ReplaceAll(mysql, "Small.", "Smaller."), `{"services":[]}`, mysql} {
		w.relist(w.catalog(text))
		_, _, err := w.engine.Sweep(t.Context(), w.broker, noted)
		require.NoError(t, err)
		namespace.relist(w.catalog(text))
	}
	for object, version := range versions {
		require.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		assert.Equal(t, version, object.GetResourceVersion(), "%T", object)
	}
	// The broker goes: they are marked. It is back: they are not.
	marked, err := w.engine.MarkGone(t.Context(), w.broker, func(Marking) error { return errors.New("too few to be told") })
	require.NoError(t, err)
	assert.Equal(t, 3+4, marked)
	for _, object := range objects {
		require.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		assert.True(t, see(object).removed, "%T", object)
	}
	refs, err := w.engine.Offerings(t.Context(), w.broker)
	require.NoError(t, err)
	assert.Len(t, refs, 3+4)
	w.relist(w.catalog(mysql))
	for _, object := range objects {
		require.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		assert.False(t, see(object).removed, "%T", object)
	}
}

// What a chart made before the broker was there, under the very names, is completed and
// owned, and what it says stays; with managed: "false" it is left alone.
func TestMadeBefore(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		kind, planKind := kindsOf(w.broker.Namespace)
		meta := metav1.ObjectMeta{Namespace: w.broker.Namespace, Name: Name(w.prefix+"db", "")}
		spec := api.CommonServiceClassSpec{ExternalID: w.prefix + "db", ServiceType: w.prefix + "chart", Defaults: api.Defaults{
			DefaultProvisionParameters: &runtime.RawExtension{Raw: []byte(`{"sslEnforcement":"disabled"}`)},
		}}
		var class client.Object = &api.ClusterServiceClass{ObjectMeta: meta, Spec: api.ClusterServiceClassSpec{CommonServiceClassSpec: spec}}
		if kind == ServiceClass {
			class = &api.ServiceClass{ObjectMeta: meta, Spec: api.ServiceClassSpec{CommonServiceClassSpec: spec}}
		}
		w.create(class)
		result, _ := w.relist(w.catalog(mysql))
		require.NoError(t, result.Err())
		require.Empty(t, result.Skipped)
		whole := w.class("db")
		assert.NotEmpty(t, whole.controller())
		assert.Equal(t, w.prefix+"chart", whole.serviceType)
		assert.JSONEq(t, `{"sslEnforcement":"disabled"}`, string(whole.defaults.DefaultProvisionParameters.Raw))
		assert.Len(t, whole.defaults.DefaultSecretTransforms, 1, "what the chart does not say is suggested")
		_, writes := w.relist(w.catalog(mysql))
		assert.Zero(t, writes)

		w.edit(w.plan("l"), `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/managed":"false"}},"spec":{"description":"Mine."}}`)
		for _, text := range []string{mysql, strings.ReplaceAll(mysql, `"id":"@l"`, `"id":"@other"`)} {
			result, _ = w.relist(w.catalog(text))
			require.Empty(t, result.Skipped)
			assert.False(t, w.plan("l").removed)
		}
		require.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.broker.Namespace, Name: w.prefix + "l"}, kinds[planKind].newObject()))
	})
}

// A field that someone else applies with the same value is his from then on: ours is
// given up by one write, and a catalog that changes its mind does not even ask.
func TestSharedField(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	text := strings.ReplaceAll(`{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServicePlan","metadata":{"name":"@l"},"spec":{"serviceType":"@sql"}}`, "@", w.prefix)
	his := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: w.prefix + "l"}}
	require.NoError(t, w.client.Patch(t.Context(), his, client.RawPatch("application/apply-patch+yaml", []byte(text)), client.FieldOwner("helm")))
	_, writes := w.relist(w.catalog(mysql))
	assert.Equal(t, 1, writes)
	_, writes = w.relist(w.catalog(mysql, `"name":"large"`, `"name":"large","tags":["ServiceType=@new","Cores=4"],"x":0`, `"tags":["Cores=4"],`, ""))
	assert.Zero(t, writes)
	assert.Equal(t, w.prefix+"sql", w.plan("l").serviceType)
}
