package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/webhook/access"
)

// reviews is the API server's side of SubjectAccessReviews.
type reviews struct {
	mu sync.Mutex
	// granted are the rights that there are, such as "alice get secrets infra/azure".
	granted []string
	// adopting says that all may adopt, which is then not written down: for tests of something else.
	adopting bool
	// asked are the rights that were asked for, and specs the reviews as they came.
	asked []string
	specs []authorizationv1.SubjectAccessReviewSpec
	// no is what is said where a right is not granted.
	no authorizationv1.SubjectAccessReviewStatus
	// down is the error of every review, if set.
	down error
}

// Create answers a review.
func (r *reviews) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	review, ok := object.(*authorizationv1.SubjectAccessReview)
	if !ok || r.down != nil {
		return errors.Join(r.down, fmt.Errorf("asked to create %T", object))
	}
	attributes := review.Spec.ResourceAttributes
	if r.adopting && attributes.Verb == "adopt" {
		review.Status.Allowed = true
		return nil
	}
	right := fmt.Sprintf("%s %s %s ", review.Spec.User, attributes.Verb, attributes.Resource)
	if attributes.Namespace != "" {
		right += attributes.Namespace + "/"
	}
	right += attributes.Name
	r.asked, r.specs = append(r.asked, right), append(r.specs, review.Spec)
	if review.Status = r.no; slices.Contains(r.granted, right) {
		review.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true, EvaluationError: "one role is missing"}
	}
	return nil
}

// taken are the rights that were asked for since it was last asked.
func (r *reviews) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

// A review is about the requester, with all that the API server knows of them.
func TestReviewIsOfTheRequester(t *testing.T) {
	t.Parallel()
	answers := &reviews{granted: []string{"alice get secrets infra/azure"}}
	user := authenticationv1.UserInfo{
		Username: "alice", UID: "u-1", Groups: []string{"devs", "system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}},
	}
	attributes := authorizationv1.ResourceAttributes{Verb: "get", Version: "v1", Resource: "secrets", Namespace: "infra", Name: "azure"}
	allowed, _, err := access.New(answers).Allowed(t.Context(), user, attributes)
	require.NoError(t, err)
	assert.True(t, allowed, "an evaluation error beside a yes is none")
	want := authorizationv1.SubjectAccessReviewSpec{
		User: "alice", UID: "u-1", Groups: []string{"devs", "system:authenticated"}, Extra: map[string]authorizationv1.ExtraValue{"scopes": {"a", "b"}},
		ResourceAttributes: &attributes,
	}
	assert.Empty(t, cmp.Diff([]authorizationv1.SubjectAccessReviewSpec{want}, answers.specs))
}

func TestReviewSaysNo(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		status authorizationv1.SubjectAccessReviewStatus
		want   string
	}{
		"Silent":     {"Role-based access gives no reason.", authorizationv1.SubjectAccessReviewStatus{}, ""},
		"Reason":     {"What is said is passed on.", authorizationv1.SubjectAccessReviewStatus{Reason: "not today"}, "not today"},
		"Evaluation": {"So is what could not be evaluated.", authorizationv1.SubjectAccessReviewStatus{EvaluationError: "no such role"}, "evaluation error: no such role"},
		"Both":       {"And both.", authorizationv1.SubjectAccessReviewStatus{Reason: "not today", EvaluationError: "no such role"}, "not today; evaluation error: no such role"},
		"Denied":     {"An explicit no beats a yes.", authorizationv1.SubjectAccessReviewStatus{Allowed: true, Denied: true, Reason: "banned"}, "banned"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			allowed, reason, err := access.New(&reviews{no: tc.status}).Allowed(t.Context(), authenticationv1.UserInfo{Username: "alice"}, authorizationv1.ResourceAttributes{})
			require.NoError(t, err)
			assert.False(t, allowed, tc.reason)
			assert.Equal(t, tc.want, reason, tc.reason)
		})
	}
}

// A review that fails is no answer.
func TestReviewFails(t *testing.T) {
	t.Parallel()
	down := errors.New("the API server is down")
	allowed, _, err := access.New(&reviews{down: down}).Allowed(t.Context(), authenticationv1.UserInfo{Username: "alice"},
		authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets", Name: "azure"})
	require.ErrorIs(t, err, down)
	assert.ErrorContains(t, err, `cannot review whether user "alice" may get secrets "azure"`)
	assert.False(t, allowed)
}
