package endpoints

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// Reasons of the condition Endpoints that package expose does not have.
const (
	ReasonExposed           = "Exposed"
	ReasonNoEndpoints       = "NoEndpoints"
	ReasonKeyAbsent         = "CredentialAbsent"
	ReasonAddressesRight    = "AddressesForbidden"
	ReasonServiceForeign    = "ServiceNotOwned"
	ReasonServiceRefused    = "ServiceRefused"
	ReasonServiceNotWritten = "ServiceNotWritten"
	ReasonDisabled          = "EndpointsDisabled"
)

// forbidden says that the binding's user lacks the permission that addresses
// need. A Service with EndpointSlices lets every user of the namespace, and
// every ingress of it, reach an address by a name, so Kubernetes grants that
// permission to few. Endpoints of a ClusterServiceBroker are trusted as its
// operator's. Those of a namespaced broker, or that a binding takes from
// credentials, are its user's.
func (s Services) forbidden(ctx context.Context, l *leading) (*expose.Refusal, error) {
	if l.trusted || !l.target.HasAddresses() {
		return nil, nil
	}
	b, user := l.binding, l.binding.Spec.UserInfo
	if user == nil {
		return &expose.Refusal{Reason: ReasonAddressesRight, Message: "the endpoints are addresses, and no user is on record who may create EndpointSlices"}, nil
	}
	review := &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extraOf(user),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: b.Namespace, Verb: "create", Group: discoveryv1.GroupName, Version: "v1", Resource: "endpointslices",
			},
		},
	}
	if user.Username != "" || len(user.Groups) > 0 { // the API server rejects a review without a user
		if err := s.Client.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("cannot review whether user %q may create EndpointSlices: %w", user.Username, err)
		}
	}
	if review.Status.Allowed && !review.Status.Denied {
		return nil, nil
	}
	return &expose.Refusal{Reason: ReasonAddressesRight, Message: fmt.Sprintf(
		"the endpoints are addresses, which are not a cluster broker's word, and user %q may not create EndpointSlices in namespace %q: "+
			"an administrator allows it; to check: kubectl auth can-i create endpointslices.discovery.k8s.io -n %s --as %q",
		user.Username, b.Namespace, b.Namespace, user.Username)}, nil
}

func extraOf(user *v1beta1.UserInfo) map[string]authorizationv1.ExtraValue {
	if len(user.Extra) == 0 {
		return nil
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, value := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(value)
	}
	return extra
}
