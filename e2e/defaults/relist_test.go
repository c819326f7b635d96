package defaults_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// relister is a client with the controller's name, which may write classes, plans
// and status in the offer's scope and read every Secret there: as much as its role
// gives it, and no right to types, to brokers or to IDs.
func relister(o *offering.Offer) client.Client {
	o.Helper()
	rules := []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Verbs: []string{"get", "create", "patch"},
		Resources: []string{"serviceclasses", "serviceplans", "clusterserviceclasses", "clusterserviceplans", "serviceinstances/status"},
	}, {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}
	meta := metav1.ObjectMeta{Name: o.Name("relister")}
	o.Create(&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "defaultplan-system", Name: "defaultplan-controller"}},
	})
	o.Eventually(func() (bool, error) { return allows(o, env.ControllerUser, "patch", "serviceplans", ""), nil })
	return o.As(env.ControllerUser).Client()
}

// suggest applies fields of a class or plan as the relist does; a conflict of
// owners, which comes before admission, is not what is looked at here.
func suggest(o *offering.Offer, by client.Client, object client.Object, owner, spec string) error {
	kind := "ServicePlan"
	switch object.(type) {
	case *api.ClusterServiceClass, *api.ServiceClass:
		kind = "ServiceClass"
	}
	if !o.Namespaced {
		kind = "Cluster" + kind
	}
	applied := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":%s}`, api.GroupVersion.String(), kind, object.GetName(), o.Fill(spec))
	return by.Patch(o.Context(), object, client.RawPatch(types.ApplyPatchType, []byte(applied)), client.FieldOwner(owner), client.ForceOwnership)
}

// TestRelistMovesNoDefault: a catalog that gives the default plan another type is
// refused by the field, and may say all else; where nothing is recorded any more,
// it is taken.
func TestRelistMovesNoDefault(t *testing.T) {
	t.Parallel()
	for _, s := range []offering.Scope{offering.Cluster, offering.Namespace} {
		t.Run(s.Title, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), s)
			o.ComesTo("type=plan strange= plan*", "the default is recorded")
			by := relister(o)
			moved := `{"serviceType":"@strange"}`
			for _, object := range []client.Object{o.PlanObject(o.Plan), o.ClassObject(o.Class)} {
				err := suggest(o, by, object, api.FieldOwnerSuggestions, moved)
				require.True(t, apierrors.IsForbidden(err), "%v", err)
				assert.Contains(t, err.Error(), "may not decide the default of type")
				var said apierrors.APIStatus
				require.ErrorAs(t, err, &said)
				assert.Equal(t, "spec.serviceType", said.Status().Details.Causes[0].Field, "which field to leave out can be told")
			}
			o.ComesTo("type=plan strange= plan*", "nothing is stored")
			require.NoError(t, suggest(o, by, o.PlanObject(o.Plan), api.FieldOwnerCatalog, `{"description":"listed again"}`))
			require.NoError(t, suggest(o, by, o.PlanObject(o.Plan), api.FieldOwnerSuggestions, `{"weight":7,"serviceType":"@type"}`), "its class's type, on the plan")
			require.NoError(t, suggest(o, by, o.PlanObject(o.Other), api.FieldOwnerSuggestions, moved), "a plan that is no default moves")
			o.ComesTo("type=plan strange= plan*", "the default stays")
			o.Patch(o.PlanObject(o.Plan), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":null}}}`)
			o.Eventually(func() (bool, error) {
				err := suggest(o, by, o.PlanObject(o.Plan), api.FieldOwnerSuggestions, moved)
				return err == nil, err
			})
		})
	}
}

// TestCatalogNamesNoSecret: what the controller may read is not its brokers' to
// hand on; what an operator wrote, the relist leaves.
func TestCatalogNamesNoSecret(t *testing.T) {
	t.Parallel()
	for _, s := range []offering.Scope{offering.Cluster, offering.Namespace} {
		t.Run(s.Title, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), s)
			o.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "extra"}})
			by := relister(o)
			adds := `{"defaultSecretTransforms":[{"addKeysFrom":{"secretRef":{"namespace":"` + o.Namespace + `","name":"extra"}}}]}`
			err := suggest(o, by, o.PlanObject(o.Other), api.FieldOwnerSuggestions, adds)
			require.True(t, apierrors.IsForbidden(err), "%v", err)
			assert.Contains(t, err.Error(), "a broker's catalog may not name Secret")
			o.Patch(o.PlanObject(o.Other), `{"spec":`+adds+`}`)
			require.NoError(t, suggest(o, by, o.PlanObject(o.Other), api.FieldOwnerCatalog, `{"description":"listed again"}`), "the administrator's transform stays")
			require.NoError(t, suggest(o, by, o.PlanObject(o.Other), api.FieldOwnerSuggestions, `{"weight":3}`))
		})
	}
}

// TestControllerNeedsNoOtherRights: a relist creates the classes and plans of a
// namespace's broker without the right to use a cluster's, and status is written
// whatever became of spec.
func TestControllerNeedsNoOtherRights(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Namespace)
	by := relister(o)
	class, plan := env.Class{Namespace: o.Namespace, Name: o.Name("listed")}, env.Plan{Namespace: o.Namespace, Name: o.Name("listed"), Class: o.Name("listed"), Suggested: true}
	require.NoError(t, by.Create(t.Context(), plan.Object()), "plans before their class")
	require.NoError(t, by.Create(t.Context(), class.Object()))
	instance := o.CreateInstance("db", env.OfType(o.Type))
	require.NoError(t, o.Client().Delete(t.Context(), o.PlanObject(o.Plan)))
	require.NoError(t, o.Client().Delete(t.Context(), o.ClassObject(o.Class)))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"externalID":"in-force","provisionStatus":"Provisioned"}}`))
	require.NoError(t, by.Status().Patch(t.Context(), instance, patch, client.FieldOwner(api.FieldOwnerController)))
	assert.Equal(t, "in-force", instance.Status.ExternalID)
}
