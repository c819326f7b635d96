package e2e_test

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
)

// relister is a client with the controller's name, which may write classes, plans
// and status in the offer's scope and read every Secret there: as much as its role
// gives it, and no right to types, to brokers or to IDs.
func (o *offer) relister() client.Client {
	o.Helper()
	rules := []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Verbs: []string{"get", "create", "patch"},
		Resources: []string{"serviceclasses", "serviceplans", "clusterserviceclasses", "clusterserviceplans", "serviceinstances/status"},
	}, {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}
	meta := metav1.ObjectMeta{Name: o.name("relister")}
	o.create(&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "defaultplan-system", Name: "defaultplan-controller"}},
	})
	o.eventually(func() (bool, error) { return o.allows(controllerUser, "patch", "serviceplans", ""), nil })
	return o.as(controllerUser).client
}

// suggest applies fields of a class or plan as the relist does; a conflict of
// owners, which comes before admission, is not what is looked at here.
func (o *offer) suggest(by client.Client, object client.Object, owner, spec string) error {
	kind := "ServicePlan"
	switch object.(type) {
	case *api.ClusterServiceClass, *api.ServiceClass:
		kind = "ServiceClass"
	}
	if !o.namespaced {
		kind = "Cluster" + kind
	}
	applied := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":%s}`, api.GroupVersion.String(), kind, object.GetName(), o.fill(spec))
	return by.Patch(o.Context(), object, client.RawPatch(types.ApplyPatchType, []byte(applied)), client.FieldOwner(owner), client.ForceOwnership)
}

// TestRelistMovesNoDefault: a catalog that gives the default plan another type is
// refused by the field, and may say all else; where nothing is recorded any more,
// it is taken.
func TestRelistMovesNoDefault(t *testing.T) {
	t.Parallel()
	for _, s := range []scope{clusterScope, namespaceScope} {
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), s)
			o.comesTo("type=plan strange= plan*", "the default is recorded")
			by := o.relister()
			moved := `{"serviceType":"@strange"}`
			for _, object := range []client.Object{o.objectOf(o.plan), o.classOf(o.class)} {
				err := o.suggest(by, object, api.FieldOwnerSuggestions, moved)
				require.True(t, apierrors.IsForbidden(err), "%v", err)
				assert.Contains(t, err.Error(), "may not decide the default of type")
				var said apierrors.APIStatus
				require.ErrorAs(t, err, &said)
				assert.Equal(t, "spec.serviceType", said.Status().Details.Causes[0].Field, "which field to leave out can be told")
			}
			o.comesTo("type=plan strange= plan*", "nothing is stored")
			require.NoError(t, o.suggest(by, o.objectOf(o.plan), api.FieldOwnerCatalog, `{"description":"listed again"}`))
			require.NoError(t, o.suggest(by, o.objectOf(o.plan), api.FieldOwnerSuggestions, `{"weight":7,"serviceType":"@type"}`), "its class's type, on the plan")
			require.NoError(t, o.suggest(by, o.objectOf(o.other), api.FieldOwnerSuggestions, moved), "a plan that is no default moves")
			o.comesTo("type=plan strange= plan*", "the default stays")
			o.patch(o.objectOf(o.plan), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":null}}}`)
			o.eventually(func() (bool, error) {
				err := o.suggest(by, o.objectOf(o.plan), api.FieldOwnerSuggestions, moved)
				return err == nil, err
			})
		})
	}
}

// TestCatalogNamesNoSecret: what the controller may read is not its brokers' to
// hand on; what an operator wrote, the relist leaves.
func TestCatalogNamesNoSecret(t *testing.T) {
	t.Parallel()
	for _, s := range []scope{clusterScope, namespaceScope} {
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), s)
			o.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "extra"}})
			by := o.relister()
			adds := `{"defaultSecretTransforms":[{"addKeysFrom":{"secretRef":{"namespace":"` + o.namespace + `","name":"extra"}}}]}`
			err := o.suggest(by, o.objectOf(o.other), api.FieldOwnerSuggestions, adds)
			require.True(t, apierrors.IsForbidden(err), "%v", err)
			assert.Contains(t, err.Error(), "a broker's catalog may not name Secret")
			o.patch(o.objectOf(o.other), `{"spec":`+adds+`}`)
			require.NoError(t, o.suggest(by, o.objectOf(o.other), api.FieldOwnerCatalog, `{"description":"listed again"}`), "the administrator's transform stays")
			require.NoError(t, o.suggest(by, o.objectOf(o.other), api.FieldOwnerSuggestions, `{"weight":3}`))
		})
	}
}

// TestControllerNeedsNoOtherRights: a relist creates the classes and plans of a
// namespace's broker without the right to use a cluster's, and status is written
// whatever became of spec.
func TestControllerNeedsNoOtherRights(t *testing.T) {
	t.Parallel()
	o := newOffer(newWorld(t), namespaceScope)
	by := o.relister()
	class, plan := class{namespace: o.namespace, name: o.name("listed")}, plan{namespace: o.namespace, name: o.name("listed"), class: o.name("listed"), isSuggested: true}
	require.NoError(t, by.Create(t.Context(), plan.object()), "plans before their class")
	require.NoError(t, by.Create(t.Context(), class.object()))
	instance := o.createInstance("db", ofType(o.kind))
	require.NoError(t, o.client.Delete(t.Context(), o.objectOf(o.plan)))
	require.NoError(t, o.client.Delete(t.Context(), o.classOf(o.class)))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"externalID":"in-force","provisionStatus":"Provisioned"}}`))
	require.NoError(t, by.Status().Patch(t.Context(), instance, patch, client.FieldOwner(api.FieldOwnerController)))
	assert.Equal(t, "in-force", instance.Status.ExternalID)
}
