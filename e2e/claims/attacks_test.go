package claims_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// instancesPolicy holds the controller to the instances of bindings.
const instancesPolicy = "instances.servicecatalog.k8s.io"

// asController has the rights of the controller, and no others.
func (s *shop) asController() client.Client {
	s.Helper()
	return s.As(env.ControllerUser).Client()
}

// refused asserts that the policy refused a write.
func (s *shop) refused(err error) {
	s.Helper()
	require.True(s, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(s, err.Error(), "'"+instancesPolicy+"'")
}

// TestControllerIsHeldToInstancesOfBindings: a user of its token can neither
// create nor delete the instance of a user.
func TestControllerIsHeldToInstancesOfBindings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	users := s.Instance("users", env.OfPlan(s.Name("db"), ""))
	s.Create(users)
	theirs := s.asController()
	s.refused(theirs.Delete(t.Context(), users, client.DryRunAll))
	other := users.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: s.Namespace, Name: "other"}
	other.Spec = api.ServiceInstanceSpec{PlanReference: api.PlanReference{ClusterServiceClassExternalName: s.Name("db")}}
	s.refused(theirs.Create(t.Context(), other, client.DryRunAll))
	require.NoError(t, s.Client().Create(t.Context(), other, client.DryRunAll), "the administrator may")
	require.NoError(t, theirs.Delete(t.Context(), s.own(b), client.DryRunAll), "what is a binding's own")
	s.Delete(users)
	s.Gone(users)
	s.ends(b)
}
