package relist

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// Every real catalog is taken over whole, in both scopes, and the second time writes
// nothing.
func TestRealCatalogs(t *testing.T) {
	for name, catalog := range sharedCatalogs(t) {
		for scope, namespaced := range map[string]bool{"cluster": false, "namespace": true} {
			t.Run(name+"-"+scope, func(t *testing.T) {
				w := newWorld(t, namespaced)
				w.broker.NameSuffix = scope // real catalogs share IDs with each other
				first, writes := w.relist(catalog)
				require.NoError(t, first.Err())
				assert.Empty(t, first.Skipped)
				assert.Equal(t, len(catalog.Services), first.Classes)
				assert.Equal(t, first.Writes, writes)
				assert.GreaterOrEqual(t, writes, first.Classes+first.Plans)
				second, writes := w.relist(catalog)
				require.NoError(t, second.Err())
				assert.Zero(t, writes, "an unchanged catalog writes nothing")
				assert.Equal(t, first.Plans, second.Plans)
				gone, _ := w.relist(&osb.Catalog{})
				assert.Equal(t, first.Classes+first.Plans, gone.Removed)
				remaining, err := w.engine.Sweep(t.Context(), w.broker)
				require.NoError(t, err)
				assert.Zero(t, remaining)
			})
		}
	}
}

// mysql is a catalog with suggestions of every kind; @ stands for the test's own IDs.
const mysql = `{"services":[{"id":"@db","name":"@mysql","description":"A database.","bindable":true,
	"tags":["sql","ServiceType=@sql","SuggestedPlan=small","Engine=8.0"],
	"metadata":{"displayName":"MySQL","defaultProvisionParameters":{"region":"eu","n":1.0,"none":null},
		"defaultSecretTransforms":[{"renameKey":{"from":"user","to":"username"}}]},
	"plans":[
		{"id":"@s","name":"small","description":"Small.","free":true,"metadata":{"tags":["Cores=2","Note=not a label"]}},
		{"id":"@l","name":"large","description":"Large.","free":false,"tags":["Cores=4"],
			"metadata":{"defaultBindParameters":{"role":"reader"}}}]}]}`

func (w *world) catalog(text string, replace ...string) *osb.Catalog {
	w.Helper()
	text = strings.NewReplacer(replace...).Replace(text)
	return catalogOf(w.T, strings.ReplaceAll(text, "@", w.prefix))
}

// whole is a plan and class of either scope as the tests look at them.
func (w *world) plan(id string) *found {
	_, kind := kindsOf(w.broker.Namespace)
	return see(get(w, kinds[kind].newObject(), w.prefix+id))
}

func (w *world) class(id string) *found {
	kind, _ := kindsOf(w.broker.Namespace)
	return see(get(w, kinds[kind].newObject(), w.prefix+id))
}

// absent says that there is no plan or class of an ID.
func (w *world) absent(plan bool, id string) bool {
	kind, planKind := kindsOf(w.broker.Namespace)
	if plan {
		kind = planKind
	}
	err := w.client.Get(w.Context(), client.ObjectKey{Namespace: w.broker.Namespace, Name: Name(w.prefix+id, w.broker.NameSuffix)}, kinds[kind].newObject())
	return apierrors.IsNotFound(err)
}

// edit changes an object as kubectl edit does.
func (w *world) edit(f *found, patch string) {
	w.Helper()
	patch = strings.ReplaceAll(patch, "@", w.prefix)
	object := kinds[f.kind].newObject()
	object.SetNamespace(f.GetNamespace())
	object.SetName(f.GetName())
	require.NoError(w, w.client.Patch(w.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner("kubectl-edit")))
}

func bothScopes(t *testing.T, test func(t *testing.T, w *world)) {
	for scope, namespaced := range map[string]bool{"cluster": false, "namespace": true} {
		t.Run(scope, func(t *testing.T) { test(t, newWorld(t, namespaced)) })
	}
}

// All that a catalog says and suggests is there after one relist, and the next writes
// nothing.
func TestRelistWritesAll(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		result, writes := w.relist(w.catalog(mysql))
		require.NoError(t, result.Err())
		require.Empty(t, result.Skipped)
		assert.Equal(t, 3*2+1, writes, "facts and suggestions of each, and the class's counts")
		class, small, large := w.class("db"), w.plan("s"), w.plan("l")
		assert.Equal(t, w.broker.kind()+" "+w.broker.Name, class.controller())
		owner := metav1.GetControllerOf(small)
		assert.Equal(t, w.broker.UID, owner.UID)
		assert.False(t, *owner.BlockOwnerDeletion)
		assert.Equal(t, []any{w.prefix + "sql", w.prefix + "sql", w.prefix + "sql"}, []any{class.serviceType, small.serviceType, large.serviceType})
		assert.Equal(t, []int32{1, 1}, []int32{class.freePlans, class.paidPlans})
		assert.Equal(t, "8.0", class.GetLabels()["attributes.servicecatalog.k8s.io/Engine"])
		assert.Equal(t, "2", small.GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
		assert.Equal(t, "not a label", small.GetAnnotations()["attributes.servicecatalog.k8s.io/Note"])
		assert.Equal(t, "true", small.GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.Empty(t, large.GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.JSONEq(t, `{"region":"eu","n":1,"none":null}`, string(class.defaults.DefaultProvisionParameters.Raw))
		assert.JSONEq(t, `{"role":"reader"}`, string(large.defaults.DefaultBindParameters.Raw))
		assert.Equal(t, "username", class.defaults.DefaultSecretTransforms[0].RenameKey.To)
		assert.NotEmpty(t, class.GetLabels()[api.LabelExternalID], "admission saw it")
		for range 2 {
			_, writes = w.relist(w.catalog(mysql))
			assert.Zero(t, writes)
		}
	})
}

// A suggestion that a catalog has no more is gone, a new one is there, a changed one
// changes; nothing else is written.
func TestSuggestionsComeAndGo(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		_, writes := w.relist(w.catalog(mysql, `"SuggestedPlan=small"`, `"SuggestedPlan=large"`))
		assert.Equal(t, 3, writes, "the class's tags are a fact, and both plans change")
		assert.Empty(t, w.plan("s").GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.Equal(t, "true", w.plan("l").GetAnnotations()[api.AnnotationSuggestedPlan])
		_, writes = w.relist(w.catalog(mysql, `"SuggestedPlan=small"`, `"SuggestedPlan=large"`, `"role":"reader"`, `"role":"writer"`, "Cores=4", "Cores=8"))
		assert.Equal(t, 2, writes, "the metadata is a fact, its default a suggestion")
		assert.JSONEq(t, `{"role":"writer"}`, string(w.plan("l").defaults.DefaultBindParameters.Raw))
		assert.Equal(t, "8", w.plan("l").GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
		w.relist(w.catalog(mysql, `"tags":["sql","ServiceType=@sql","SuggestedPlan=small","Engine=8.0"],`, ""))
		class, small := w.class("db"), w.plan("s")
		assert.Empty(t, class.serviceType+small.serviceType)
		assert.Empty(t, class.GetLabels()["attributes.servicecatalog.k8s.io/Engine"])
		assert.Equal(t, "2", small.GetLabels()["attributes.servicecatalog.k8s.io/Cores"], "what is suggested still stays")
	})
}

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

// A fact that anyone overwrote or took away is put right, though the catalog is the
// same, by one write.
func TestFactsAreRepaired(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		for name, damage := range map[string]string{
			"Changed": `{"spec":{"description":"Mine."}}`, "Removed": `{"spec":{"description":null}}`, "Hash": `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/catalog-hash":"x"}}}`,
			"HashRemoved": `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/catalog-hash":null}}}`, "Free": `{"spec":{"free":false}}`, "Orphaned": `{"metadata":{"ownerReferences":null}}`,
		} {
			w.edit(w.plan("s"), damage)
			_, writes := w.relist(w.catalog(mysql))
			assert.Equal(t, 1, writes, name)
			_, writes = w.relist(w.catalog(mysql))
			assert.Zero(t, writes, name)
		}
		small := w.plan("s")
		assert.NotEmpty(t, small.controller())
		w.edit(small, `{"spec":{"instanceCreateParameterSchema":{"type":"object"}}}`)
		_, writes := w.relist(w.catalog(mysql))
		assert.Zero(t, writes, "what the catalog says nothing of is not a fact of it")
	})
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
		_, err := w.engine.Sweep(t.Context(), w.broker)
		require.NoError(t, err)
		namespace.relist(w.catalog(text))
	}
	for object, version := range versions {
		require.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		assert.Equal(t, version, object.GetResourceVersion(), "%T", object)
	}
	// The broker goes: they are marked. It is back: they are not.
	marked, err := w.engine.MarkGone(t.Context(), w.broker)
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

// Another broker's objects, other IDs and other classes under a name are not written;
// it is said whose the name is, and what helps.
func TestTakenNames(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		first := w.broker
		w.relist(w.catalog(mysql))
		before := w.plan("s").GetResourceVersion()
		w.object.SetName(w.prefix + "second")
		w.object.SetResourceVersion("")
		w.object.SetUID("")
		w.create(w.object)
		w.broker, _ = BrokerOf(w.object)
		result, writes := w.relist(w.catalog(mysql))
		require.NoError(t, result.Err())
		assert.Zero(t, writes)
		require.Len(t, result.Skipped, 3)
		for _, skipped := range result.Skipped {
			assert.Contains(t, skipped.Reason, "belongs to "+first.kind()+" "+first.Name)
			assert.Contains(t, skipped.Reason, "nameSuffix")
		}
		w.broker.NameSuffix = "two"
		result, _ = w.relist(w.catalog(mysql))
		assert.Empty(t, result.Skipped)
		assert.NotEqual(t, before, w.plan("s").GetResourceVersion())
		w.broker = first
		assert.Equal(t, before, w.plan("s").GetResourceVersion())

		moved := w.catalog(`{"services":[{"id":"@db","name":"a","plans":[{"id":"@l","name":"large"}]},{"id":"@other","name":"b","plans":[{"id":"@s","name":"small"}]}]}`)
		result, _ = w.relist(moved)
		assert.Contains(t, Summary(result.Skipped), "belongs to class")
		assert.True(t, w.plan("s").removed)
		assert.True(t, w.absent(false, "other"), "a class without a plan is not made")
		_, err := w.engine.Sweep(t.Context(), w.broker)
		require.NoError(t, err)
		result, _ = w.relist(moved)
		assert.Empty(t, result.Skipped)
		assert.Equal(t, w.prefix+"other", w.plan("s").class)
	})
}

// What a catalog lists no more is marked, comes back unmarked, and is deleted once
// nothing refers to it.
func TestRemoved(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		fewer := w.catalog(mysql, `{"id":"@s","name":"small","description":"Small.","free":true,"metadata":{"tags":["Cores=2","Note=not a label"]}},`, "")
		result, writes := w.relist(fewer)
		assert.Equal(t, 1, result.Removed)
		assert.Equal(t, 2, writes, "the mark, and the class's counts")
		assert.True(t, w.plan("s").removed)
		assert.Equal(t, "it has no plan of that name", strings.Split(Summary(result.Skipped), ": ")[2])
		_, writes = w.relist(fewer)
		assert.Zero(t, writes)
		w.relist(w.catalog(mysql))
		assert.False(t, w.plan("s").removed)
		assert.Equal(t, int32(1), w.class("db").freePlans)

		namespace := w.broker.Namespace
		if namespace == "" {
			namespace = "default"
		}
		instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.prefix + "i"}}
		if w.broker.Namespace == "" {
			instance.Spec.ClusterServicePlanName, instance.Spec.ClusterServiceClassName = w.prefix+"s", w.prefix+"db"
		} else {
			instance.Spec.ServicePlanName, instance.Spec.ServiceClassName = w.prefix+"s", w.prefix+"db"
		}
		w.create(instance)
		w.relist(&osb.Catalog{})
		for range 2 {
			remaining, err := w.engine.Sweep(t.Context(), w.broker)
			require.NoError(t, err)
			assert.Equal(t, 2, remaining, "the plan in use, and its class")
		}
		assert.True(t, w.absent(true, "l"))
		require.NoError(t, w.client.Patch(t.Context(), instance, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
		require.NoError(t, w.client.Delete(t.Context(), instance))
		remaining, err := w.engine.Sweep(t.Context(), w.broker)
		require.NoError(t, err)
		assert.Zero(t, remaining)
		assert.True(t, w.absent(true, "s") && w.absent(false, "db"))
	})
}

// A part of a catalog that cannot be taken any more is said; what was made of it before
// stays as it is.
func TestUnfitStays(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	for name, text := range map[string]string{
		"Unfit":  strings.ReplaceAll(mysql, `"name":"small"`, `"name":"`+strings.Repeat("x", 64)+`"`),
		"Unread": strings.ReplaceAll(mysql, `"name":"small",`, `"name":"small","free":"maybe","x":`),
		"Whole":  strings.ReplaceAll(mysql, `"bindable":true`, `"bindable":"maybe"`),
	} {
		if name == "Unread" {
			text = strings.ReplaceAll(mysql, `"free":true`, `"free":"maybe"`)
		}
		result, _ := w.relist(w.catalog(text))
		assert.NotEmpty(t, result.Skipped, name)
		assert.False(t, w.plan("s").removed, name)
		assert.Zero(t, result.Removed, name)
	}
}

// Whatever a broker writes is stored as it wrote it.
func TestStrangeText(t *testing.T) {
	w := newWorld(t, false)
	strange := `a \"b\" \\ \u0000 \u007f \u0085 \u009f \u2028 \ufeff \ufffe \ufffd \ud83d\ude00 é <b>&amp; # : - {x} [y] *z !t %`
	catalog := w.catalog(`{"services":[{"id":"@ID Z.9-/","name":"My Service ☃","description":"` + strange + `","tags":["` + strange + `"],
		"metadata":{"` + strange + `":[1,1.0,1.5,1e21,9007199254740993,12345678901234567890,-0.0,null,true,{"<<":"x","y":"yes","n":"0x10","t":"2001-01-01","":{}}]},
		"plans":[{"id":"@P","name":"Plan Ü","description":"` + strange + `","schemas":{"service_instance":{"create":{"parameters":{"$schema":"` + strange + `","default":null}}}}}]}]}`)
	result, _ := w.relist(catalog)
	require.NoError(t, result.Err())
	require.Empty(t, result.Skipped)
	class := &api.ClusterServiceClass{}
	get(w, class, w.prefix+"ID Z.9-/")
	assert.Equal(t, catalog.Services[0].Description, class.Spec.Description)
	assert.Equal(t, catalog.Services[0].Tags, class.Spec.Tags)
	value, err := decode(catalog.Services[0].Metadata)
	require.NoError(t, err)
	stored, err := decode(class.Spec.ExternalMetadata.Raw)
	require.NoError(t, err)
	assert.Equal(t, string(applied(value)), string(applied(stored)))
	_, writes := w.relist(catalog)
	assert.Zero(t, writes)
}
