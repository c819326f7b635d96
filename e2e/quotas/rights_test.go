package quotas_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUsersWriteNoSlots: neither who edits in a namespace nor its admin may give a slot.
func TestUsersWriteNoSlots(t *testing.T) {
	s := newShop(t)
	limit := s.limit("few", instances(1), "small")
	for _, role := range []string{"servicecatalog-edit", "servicecatalog-admin", "edit", "admin"} {
		user := s.Name(role)
		s.GrantRole(user, role)
		c := s.As(user).Client()
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"slots":[{"namespace":"`+s.Namespace+`","instances":["mine"]}]}}`))
		err := c.Status().Patch(t.Context(), limit.DeepCopy(), patch)
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", role, err)
		err = c.Patch(t.Context(), limit.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"maxInstances":9}}`)))
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", role, err)
	}
}
