package offline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestTheControllerHasItsRights: those of its role, and every other user all.
func TestTheControllerHasItsRights(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		user   string
		asked  authorizationv1.ResourceAttributes
		want   bool
	}{
		"Default":       {"it decides no default", Controller().Username, authorizationv1.ResourceAttributes{Verb: "update", Group: "servicecatalog.k8s.io", Resource: "clusterservicetypes"}, false},
		"Plan":          {"it writes plans", Controller().Username, authorizationv1.ResourceAttributes{Verb: "patch", Group: "servicecatalog.k8s.io", Resource: "clusterserviceplans"}, true},
		"Subresource":   {"and their status", Controller().Username, authorizationv1.ResourceAttributes{Verb: "patch", Group: "servicecatalog.k8s.io", Resource: "clusterserviceplans", Subresource: "status"}, true},
		"NoSubresource": {"and no other part of them", Controller().Username, authorizationv1.ResourceAttributes{Verb: "patch", Group: "servicecatalog.k8s.io", Resource: "clusterserviceplans", Subresource: "scale"}, false},
		"NoGroup":       {"nor what another group calls so", Controller().Username, authorizationv1.ResourceAttributes{Verb: "patch", Group: "example.com", Resource: "clusterserviceplans"}, false},
		"Named":         {"some objects by their name", Controller().Username, authorizationv1.ResourceAttributes{Verb: "get", Resource: "services", Name: "kubernetes"}, true},
		"Another":       {"and no other", Controller().Username, authorizationv1.ResourceAttributes{Verb: "get", Resource: "services", Name: "another"}, false},
		"Admin":         {"the user who applies may do everything", admin.Username, authorizationv1.ResourceAttributes{Verb: "update", Group: "servicecatalog.k8s.io", Resource: "clusterservicetypes"}, true},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: tc.user, ResourceAttributes: &tc.asked}}
		require.NoError(t, rights{}.Create(t.Context(), review))
		assert.Equal(t, tc.want, review.Status.Allowed, "%s: %s", name, tc.reason)
	}
	require.EqualError(t, rights{}.Create(t.Context(), &corev1.Namespace{}), "cannot create *v1.Namespace: only access is reviewed")
}
