package relist

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb"
)

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
	w.editBy("kubectl-edit", f, patch)
}

func (w *world) editBy(manager string, f *found, patch string) {
	w.Helper()
	patch = strings.ReplaceAll(patch, "@", w.prefix)
	object := kinds[f.kind].newObject()
	object.SetNamespace(f.GetNamespace())
	object.SetName(f.GetName())
	require.NoError(w, w.client.Patch(w.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner(manager)))
}

func bothScopes(t *testing.T, test func(t *testing.T, w *world)) {
	for scope, namespaced := range map[string]bool{"cluster": false, "namespace": true} {
		t.Run(scope, func(t *testing.T) { test(t, newWorld(t, namespaced)) })
	}
}
