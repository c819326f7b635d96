// Package endpoints keeps a Service, with its EndpointSlices, in front of what a ServiceBinding
// is for: of the endpoints that the broker gave, or that spec.endpointsFrom makes of credentials,
// as far as the rules of the cluster and the rights of the binding's user allow.
package endpoints

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// Services are the Services, and their EndpointSlices, in front of what bindings are for.
// As with Secrets, one that is not a binding's own is never touched.
type Services struct {
	owned.Objects

	Rules *NetworkRules
	// Disabled says that --endpoints is not set: there is no right to Services, and none is
	// read or written.
	Disabled bool
}

// ServiceName is the Service of a binding.
func ServiceName(b *v1beta1.ServiceBinding) string {
	if b.Spec.ServiceName != "" {
		return b.Spec.ServiceName
	}
	return b.Name
}

// A leading is what a Service is to lead to, and for whom.
type leading struct {
	binding *v1beta1.ServiceBinding
	target  *expose.Target
	// trusted says that addresses need no right of the binding's user.
	trusted bool
}

// bring creates or updates the Service and its EndpointSlices. If they are up
// to date, nothing is written and no permission is checked. It returns the
// reason why they are refused.
func (s Services) bring(ctx context.Context, l *leading) (*expose.Refusal, error) {
	wanted, err := s.service(l)
	if err != nil {
		return nil, err
	}
	var has corev1.Service
	err = s.Live.Get(ctx, client.ObjectKeyFromObject(wanted), &has)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot read Service %q: %w", wanted.Name, err)
	}
	there := err == nil
	if there && !metav1.IsControlledBy(&has, l.binding) {
		return foreignService(owned.ForeignError{Kind: owned.Service.Kind, Name: wanted.Name}), nil
	}
	isSame := there && sameService(&has, wanted)
	if isSame && !l.target.HasAddresses() {
		return nil, nil
	}
	plan, err := s.slices(ctx, l, wanted)
	if err != nil || isSame && plan.done() {
		return nil, err
	}
	if refusal, err := s.forbidden(ctx, l); refusal != nil || err != nil {
		return refusal, err
	}
	if !isSame {
		err = s.putService(ctx, &has, there, wanted)
	}
	if err == nil {
		err = s.putSlices(ctx, l.binding, plan)
	}
	return refusalOf(err)
}

// refusalOf is what an error says that will not be gone by itself.
func refusalOf(err error) (*expose.Refusal, error) {
	switch {
	case owned.IsForeign(err):
		return foreignService(err), nil
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
		return &expose.Refusal{Reason: ReasonServiceRefused, Message: fmt.Sprintf("the API server does not take the Service: %s", err)}, nil
	}
	return nil, err
}

func foreignService(err error) *expose.Refusal {
	return &expose.Refusal{Reason: ReasonServiceForeign, Message: err.Error() + ": remove it, or make a binding with another serviceName"}
}

// service is the Service of a binding as it is to be.
func (s Services) service(l *leading) (*corev1.Service, error) {
	meta := metav1.ObjectMeta{Namespace: l.binding.Namespace, Name: ServiceName(l.binding)}
	if err := s.Adopt(l.binding, owned.Service.Kind, &meta); err != nil {
		return nil, err
	}
	return l.target.Service(meta), nil
}

// sameService says that a Service leads where it is to lead, and nowhere else.
func sameService(has, wanted *corev1.Service) bool {
	samePort := func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Protocol == b.Protocol && a.Port == b.Port && a.TargetPort == b.TargetPort
	}
	return sameKind(has, wanted) && samePolicy(has, wanted) && has.Spec.ExternalName == wanted.Spec.ExternalName && len(has.Spec.Selector) == 0 && len(has.Spec.ExternalIPs) == 0 &&
		has.Labels[v1beta1.LabelManagedBy] == v1beta1.ManagedByController && slices.EqualFunc(has.Spec.Ports, wanted.Spec.Ports, samePort)
}

// sameKind says whether a Service can be updated in place: its immutable fields
// are as wanted.
func sameKind(has, wanted *corev1.Service) bool {
	families := wanted.Spec.IPFamilies
	return has.Spec.Type == wanted.Spec.Type && has.Spec.ClusterIP != corev1.ClusterIPNone && (len(families) == 0 || slices.Equal(has.Spec.IPFamilies, families))
}

// samePolicy says that a Service is of one family of addresses, or of both, as it is to be.
func samePolicy(has, wanted *corev1.Service) bool {
	return wanted.Spec.IPFamilyPolicy == nil || ptr.Equal(has.Spec.IPFamilyPolicy, wanted.Spec.IPFamilyPolicy)
}

// putService creates the Service, or updates or recreates the binding's own.
func (s Services) putService(ctx context.Context, has *corev1.Service, there bool, wanted *corev1.Service) error {
	if there && sameKind(has, wanted) {
		next := has.DeepCopy()
		next.Spec.Ports, next.Spec.ExternalName = wanted.Spec.Ports, wanted.Spec.ExternalName
		next.Spec.Selector, next.Spec.ExternalIPs, next.Spec.IPFamilyPolicy = nil, nil, wanted.Spec.IPFamilyPolicy
		owned.Label(&next.ObjectMeta)
		return s.Client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
	}
	if there {
		if err := s.Delete(ctx, owned.Service.Kind, has); err != nil {
			return err
		}
	}
	return s.Client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
}

// removeAll deletes the binding's own Service, and first its EndpointSlices; what is another's
// is left alone.
func (s Services) removeAll(ctx context.Context, b *v1beta1.ServiceBinding) error {
	service, state, err := s.Find(ctx, b, owned.Service, ServiceName(b))
	if err != nil || state != owned.Own && len(b.Status.Endpoints) == 0 {
		return err
	}
	own, err := s.ownSlices(ctx, b)
	if err != nil {
		return err
	}
	if err := s.putSlices(ctx, b, &slicePlan{stale: own}); err != nil || state != owned.Own {
		return err
	}
	return s.Delete(ctx, owned.Service.Kind, service)
}
