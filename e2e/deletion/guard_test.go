package deletion_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// guarded annotates an instance against deletion.
func guarded(i *api.ServiceInstance) {
	i.Annotations = map[string]string{api.AnnotationPreventDeletion: "true"}
}

const unguard = `{"metadata":{"annotations":{"` + api.AnnotationPreventDeletion + `":null}}}`

// TestPreventDeletion: the annotation, on a stack of its own that has the policies and loses its webhook
// at the end.
func TestPreventDeletion(t *testing.T) { //nolint:tparallel // its webhook is killed for the last case
	t.Parallel()
	s := suite.New(t, stack.Options{Webhooks: 1, Releaser: true})
	require.NoError(t, stack.InstallVAP(t.Context(), s.Client()))
	for _, tc := range []struct {
		name string
		run  func(*env.Env)
	}{
		{"GuardedStays", guardedStays},
		{"OfAccounts", guardsOfAccounts},
		{"PlanGuards", planGuards},
		{"GarbageCollectorIsRefused", garbageCollectorIsRefused},
		{"WithoutTheWebhook", guardsWithoutTheWebhook},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(env.On(t, s)) })
	}
}

// guardedStays: an annotated instance is deleted by no user, alone or with others, until its
// annotation is removed, as the message says. Another value, and an object that is being deleted
// already, are not protected.
func guardedStays(e *env.Env) {
	e.Helper()
	e.AddPlans(env.Class{Name: e.Name("class"), ServiceType: e.Name("type")}, env.Plan{Name: e.Name("plan"), Default: true})
	db := e.CreateInstance("db", env.OfType(e.Name("type")), guarded)
	e.CreateInstance("other", env.OfType(e.Name("type")), func(i *api.ServiceInstance) {
		i.Annotations = map[string]string{api.AnnotationPreventDeletion: "false"}
	})
	said := e.KubectlFails("", "delete", "serviceinstance", "db")
	assert.Contains(e, said, "kubectl annotate serviceinstances db -n "+e.Namespace+" "+api.AnnotationPreventDeletion+"-")
	err := e.Client().DeleteAllOf(e.Context(), &api.ServiceInstance{}, client.InNamespace(e.Namespace))
	require.True(e, apierrors.IsForbidden(err), "%v", err)
	deletes(e, "other")
	e.Get(db)
	assert.Nil(e, db.DeletionTimestamp)

	misspelled := e.TryPatch(db, `{"metadata":{"annotations":{"`+api.AnnotationPreventDeletion+`":"yes"}}}`)
	require.ErrorContains(e, misspelled, `neither "true" nor "false"`)

	e.Kubectl("", "annotate", "serviceinstances", "db", "-n", e.Namespace, api.AnnotationPreventDeletion+"-")
	deletes(e, "db")

	held := e.CreateInstance("held", env.OfType(e.Name("type")), env.WithFinalizer("example.org/hold"))
	e.Delete(held)
	e.Patch(held, `{"metadata":{"annotations":{"`+api.AnnotationPreventDeletion+`":"true"}}}`)
	require.NoError(e, e.Client().Delete(e.Context(), held), "it is being deleted already")
	e.Patch(held, `{"metadata":{"finalizers":null}}`)
	untilGone(e, held)
}

// guardsOfAccounts: controllers may delete a guarded binding, and an account whose name only begins as
// theirs may not.
func guardsOfAccounts(e *env.Env) {
	e.Helper()
	e.AddPlans(env.Class{Name: e.Name("class"), ServiceType: e.Name("type")}, env.Plan{Name: e.Name("plan"), Default: true})
	e.CreateInstance("db", env.OfType(e.Name("type")))
	b := e.Binding("creds", "db", func(b *api.ServiceBinding) { b.Annotations = map[string]string{api.AnnotationPreventDeletion: "true"} })
	e.Create(b)
	for account, may := range map[string]bool{"": true, "-east": true, "s": false, "2": false} {
		user := env.ControllerUser + account
		e.GrantClusterRole(user, "cluster-admin")
		err := e.As(user).Client().Delete(e.Context(), b, client.DryRunAll)
		assert.Equal(e, !may, apierrors.IsForbidden(err), "%s: %v", user, err)
	}
}

// planGuards: what is decided on a plan that says so is annotated, and a namespace that is deleted
// takes it along.
func planGuards(e *env.Env) {
	e.Helper()
	plan := env.Plan{Name: e.Name("plan"), Default: true}
	e.AddPlans(env.Class{Name: e.Name("class"), ServiceType: e.Name("type")}, plan)
	stored := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: plan.Name}}
	e.Patch(stored, `{"metadata":{"annotations":{"`+api.AnnotationPreventDeletion+`":"true"}}}`)
	e.Eventually(func() (bool, error) { // the webhook learns of it by a watch
		trial := e.Instance("trial", env.OfType(e.Name("type")))
		if err := e.Client().Create(e.Context(), trial, client.DryRunAll); err != nil {
			return true, err
		}
		if trial.Annotations[api.AnnotationPreventDeletion] != "true" {
			return false, fmt.Errorf("not annotated: %v", trial.Annotations)
		}
		return true, nil
	})
	db := e.CreateInstance("db", env.OfType(e.Name("type")))
	err := e.Client().Delete(e.Context(), db)
	require.True(e, apierrors.IsForbidden(err), "%v", err)
	deletesNamespace(e)
}

// garbageCollectorIsRefused: an annotated instance outlives its owner, whose other instance goes,
// and goes once its annotation is removed.
func garbageCollectorIsRefused(e *env.Env) {
	e.Helper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "owner"}}
	e.Create(owner)
	owned := func(i *api.ServiceInstance) {
		i.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	}
	e.AddPlans(env.Class{Name: e.Name("class"), ServiceType: e.Name("type")}, env.Plan{Name: e.Name("plan"), Default: true})
	stays := e.CreateInstance("stays", env.OfType(e.Name("type")), owned, guarded)
	goes := e.CreateInstance("goes", env.OfType(e.Name("type")), owned)
	e.Delete(owner)
	untilGone(e, goes)
	e.Get(stays)
	assert.Nil(e, stays.DeletionTimestamp)
	e.Patch(stays, unguard)
	untilGone(e, stays)
}

// guardsWithoutTheWebhook: the guard needs no webhook, and neither does its way out.
func guardsWithoutTheWebhook(e *env.Env) {
	e.Helper()
	e.AddPlans(env.Class{Name: e.Name("class"), ServiceType: e.Name("type")}, env.Plan{Name: e.Name("plan"), Default: true})
	db := e.CreateInstance("db", env.OfType(e.Name("type")), guarded)
	beside := e.CreateInstance("beside", env.OfType(e.Name("type")), guarded)
	require.NoError(e, e.StopWebhook(e.Context(), 0, syscall.SIGKILL))
	for _, i := range []*api.ServiceInstance{db, beside} {
		err := e.Client().Delete(e.Context(), i)
		require.True(e, apierrors.IsForbidden(err), "%v", err)
	}
	e.Patch(db, unguard)
	deletes(e, "db")
	deletesNamespace(e)
}
