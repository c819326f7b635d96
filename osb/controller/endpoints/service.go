// Package endpoints maintains a Service, with its EndpointSlices, for the
// endpoints of a ServiceBinding: those that the broker returned, or that
// spec.endpointsFrom takes from credentials, as far as the rules of the cluster
// and the permissions of the binding's user allow.
package endpoints

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// Services reads and writes the Services, and their EndpointSlices, of
// bindings. As with Secrets, one that the binding does not own is never
// changed.
type Services struct {
	owned.Objects

	Rules *NetworkRules
}

// ServiceName is the Service of a binding.
func ServiceName(b *v1beta1.ServiceBinding) string {
	if b.Spec.ServiceName != "" {
		return b.Spec.ServiceName
	}
	return b.Name
}

// A leading is the desired target of a Service, and its binding.
type leading struct {
	binding *v1beta1.ServiceBinding
	target  *expose.Target
	// trusted says that addresses need no permission of the binding's user.
	trusted bool
	// wrote says that bring wrote, or tried to.
	wrote bool
}

// bring creates or updates the Service and its EndpointSlices. If they are up
// to date, nothing is written and no permission is checked. It returns the
// reason why they are refused.
func (s Services) bring(ctx context.Context, l *leading) (*expose.Refusal, error) {
	if refusal := invalidName(l.binding); refusal != nil {
		return refusal, nil
	}
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
	l.wrote = true
	if !isSame {
		err = s.putService(ctx, &has, there, wanted)
	}
	if err == nil {
		err = s.putSlices(ctx, l.binding, plan)
	}
	return refusalOf(err)
}

// refusalOf is the refusal of a lasting error.
func refusalOf(err error) (*expose.Refusal, error) {
	switch {
	case owned.IsForeign(err):
		return foreignService(err), nil
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
		return &expose.Refusal{Reason: ReasonServiceRefused, Message: fmt.Sprintf("the API server does not take the Service: %s", err)}, nil
	}
	return nil, err
}

// invalidName refuses a name that no Service can have: that of a binding may be longer.
func invalidName(b *v1beta1.ServiceBinding) *expose.Refusal {
	problems := validation.IsDNS1035Label(ServiceName(b))
	if len(problems) == 0 {
		return nil
	}
	return &expose.Refusal{Reason: ReasonServiceRefused, Message: fmt.Sprintf(
		"no Service can have the name %q: make a binding with a serviceName: %s", ServiceName(b), problems[0])}
}

func foreignService(err error) *expose.Refusal {
	return &expose.Refusal{Reason: ReasonServiceForeign, Message: err.Error() + ": remove it, or make a binding with another serviceName"}
}

// service is the desired Service of a binding.
func (s Services) service(l *leading) (*corev1.Service, error) {
	meta := metav1.ObjectMeta{Namespace: l.binding.Namespace, Name: ServiceName(l.binding)}
	if err := s.Adopt(l.binding, owned.Service.Kind, &meta); err != nil {
		return nil, err
	}
	return l.target.Service(meta), nil
}

// sameService says whether a Service has exactly the wanted target.
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

// samePolicy says whether a Service has the wanted IP family policy.
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

// removeAll deletes the binding's own Service, and first its EndpointSlices;
// those of other owners stay.
func (s Services) removeAll(ctx context.Context, b *v1beta1.ServiceBinding) error {
	if invalidName(b) != nil {
		return nil // there is none
	}
	service, state, err := s.Find(ctx, b, owned.Service, ServiceName(b))
	if err != nil {
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
