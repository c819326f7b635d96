package quotas_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUsersWriteNoSlots: neither who edits in a namespace nor its admin may give a slot.
func TestUsersWriteNoSlots(t *testing.T) {
	w := newWorld(t)
	limit := w.limit("few", instances(1), "small")
	for _, role := range []string{"servicecatalog-edit", "servicecatalog-admin", "edit", "admin"} {
		user := w.name(role)
		w.Create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})
		c, err := client.New(shared.RESTConfigFor(user), client.Options{Scheme: w.client.Scheme()})
		require.NoError(t, err)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"slots":[{"namespace":"`+w.namespace+`","instances":["mine"]}]}}`))
		err = c.Status().Patch(t.Context(), limit.DeepCopy(), patch)
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", role, err)
		err = c.Patch(t.Context(), limit.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"maxInstances":9}}`)))
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", role, err)
	}
}
