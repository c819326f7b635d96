package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// services are the Services, and their EndpointSlices, in front of what bindings are for.
// As with Secrets, one that is not a binding's own is never touched.
type services struct {
	secrets

	around *surroundings
}

// serviceName is the Service of a binding.
func serviceName(b *v1beta1.ServiceBinding) string {
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

// bring makes the Service and its EndpointSlices as they are to be. Nothing is written,
// and nobody's right is asked for, where they are. It says why they cannot be.
func (s services) bring(ctx context.Context, l *leading) (*expose.Refusal, error) {
	wanted, err := s.service(l)
	if err != nil {
		return nil, err
	}
	var has corev1.Service
	err = s.live.Get(ctx, client.ObjectKeyFromObject(wanted), &has)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot read Service %q: %w", wanted.Name, err)
	}
	there := err == nil
	if there && !metav1.IsControlledBy(&has, l.binding) {
		return foreignService(foreignError{kind: kindService.Kind, name: wanted.Name}), nil
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
	case isForeign(err):
		return foreignService(err), nil
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
		return &expose.Refusal{Reason: reasonServiceRefused, Message: fmt.Sprintf("the API server does not take the Service: %s", err)}, nil
	}
	return nil, err
}

func foreignService(err error) *expose.Refusal {
	return &expose.Refusal{Reason: reasonServiceForeign, Message: err.Error() + ": remove it, or make a binding with another serviceName"}
}

// service is the Service of a binding as it is to be.
func (s services) service(l *leading) (*corev1.Service, error) {
	meta, err := s.owned(l.binding, serviceName(l.binding))
	if err != nil {
		return nil, err
	}
	return l.target.Service(meta), nil
}

// owned is the metadata of what a binding creates.
func (s services) owned(b *v1beta1.ServiceBinding, name string) (metav1.ObjectMeta, error) {
	meta := metav1.ObjectMeta{Namespace: b.Namespace, Name: name}
	label(&meta)
	if err := controllerutil.SetControllerReference(b, &meta, s.scheme); err != nil {
		return meta, fmt.Errorf("cannot own Service %q: %w", name, err)
	}
	return meta, nil
}

// sameService says that a Service leads where it is to lead, and nowhere else.
func sameService(has, wanted *corev1.Service) bool {
	samePort := func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Protocol == b.Protocol && a.Port == b.Port && a.TargetPort == b.TargetPort
	}
	return sameKind(has, wanted) && samePolicy(has, wanted) && has.Spec.ExternalName == wanted.Spec.ExternalName && len(has.Spec.Selector) == 0 && len(has.Spec.ExternalIPs) == 0 &&
		has.Labels[v1beta1.LabelManagedBy] == v1beta1.ManagedByController && slices.EqualFunc(has.Spec.Ports, wanted.Spec.Ports, samePort)
}

// sameKind says that a Service need not be made anew: what cannot change is as it is to be.
func sameKind(has, wanted *corev1.Service) bool {
	families := wanted.Spec.IPFamilies
	return has.Spec.Type == wanted.Spec.Type && has.Spec.ClusterIP != corev1.ClusterIPNone && (len(families) == 0 || slices.Equal(has.Spec.IPFamilies, families))
}

// samePolicy says that a Service is of one family of addresses, or of both, as it is to be.
func samePolicy(has, wanted *corev1.Service) bool {
	return wanted.Spec.IPFamilyPolicy == nil || ptr.Equal(has.Spec.IPFamilyPolicy, wanted.Spec.IPFamilyPolicy)
}

// putService creates the Service, changes the binding's own, or makes it anew.
func (s services) putService(ctx context.Context, has *corev1.Service, there bool, wanted *corev1.Service) error {
	if there && sameKind(has, wanted) {
		next := has.DeepCopy()
		next.Spec.Ports, next.Spec.ExternalName = wanted.Spec.Ports, wanted.Spec.ExternalName
		next.Spec.Selector, next.Spec.ExternalIPs, next.Spec.IPFamilyPolicy = nil, nil, wanted.Spec.IPFamilyPolicy
		label(&next.ObjectMeta)
		return s.client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
	}
	if there {
		if err := s.delete(ctx, kindService.Kind, has); err != nil {
			return err
		}
	}
	return s.client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
}

// remove deletes the binding's own Service, and first its EndpointSlices; what is another's
// is left alone.
func (s services) remove(ctx context.Context, b *v1beta1.ServiceBinding) error {
	service, state, err := s.whose(ctx, b, kindService, serviceName(b))
	if err != nil || state != secretOwned && len(b.Status.Endpoints) == 0 {
		return err
	}
	own, err := s.ownSlices(ctx, b)
	if err != nil {
		return err
	}
	if err := s.putSlices(ctx, b, &slicePlan{stale: own}); err != nil || state != secretOwned {
		return err
	}
	return s.delete(ctx, kindService.Kind, service)
}
