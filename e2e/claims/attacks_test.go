package claims_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// controllerUser is who the controller is to the API server.
const controllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"

// instancesPolicy holds the controller to the instances of bindings.
const instancesPolicy = "instances.servicecatalog.k8s.io"

// asController has the rights of the controller, and no others.
func (w *world) asController() client.Client {
	w.Helper()
	theirs, err := client.New(w.RESTConfigFor(controllerUser), client.Options{Scheme: w.client.Scheme()})
	require.NoError(w, err)
	return theirs
}

// refused asserts that the policy refused a write.
func (w *world) refused(err error) {
	w.Helper()
	require.True(w, apierrors.IsForbidden(err), "%v", err)
	assert.Contains(w, err.Error(), "'"+instancesPolicy+"'")
}

// TestControllerIsHeldToInstancesOfBindings: whoever has its token can neither make nor
// delete the instance of a user.
func TestControllerIsHeldToInstancesOfBindings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	users := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "users"}}
	users.Spec.ClusterServiceClassExternalName = s.name("db")
	s.Create(users)
	theirs := s.asController()
	s.refused(theirs.Delete(t.Context(), users, client.DryRunAll))
	other := users.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: s.namespace, Name: "other"}
	other.Spec = api.ServiceInstanceSpec{PlanReference: api.PlanReference{ClusterServiceClassExternalName: s.name("db")}}
	s.refused(theirs.Create(t.Context(), other, client.DryRunAll))
	require.NoError(t, s.client.Create(t.Context(), other, client.DryRunAll), "the administrator may")
	require.NoError(t, theirs.Delete(t.Context(), s.own(b), client.DryRunAll), "what is a binding's own")
	s.Delete(users)
	s.Gone(users)
	s.ends(b)
}
