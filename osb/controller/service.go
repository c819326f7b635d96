package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	return sameKind(has, wanted) && has.Spec.ExternalName == wanted.Spec.ExternalName && len(has.Spec.Selector) == 0 && len(has.Spec.ExternalIPs) == 0 &&
		has.Labels[v1beta1.LabelManagedBy] == v1beta1.ManagedByController && slices.EqualFunc(has.Spec.Ports, wanted.Spec.Ports, samePort)
}

// sameKind says that a Service need not be made anew: what cannot change is as it is to be.
func sameKind(has, wanted *corev1.Service) bool {
	families := wanted.Spec.IPFamilies
	return has.Spec.Type == wanted.Spec.Type && has.Spec.ClusterIP != corev1.ClusterIPNone && (len(families) == 0 || slices.Equal(has.Spec.IPFamilies, families))
}

// putService creates the Service, changes the binding's own, or makes it anew.
func (s services) putService(ctx context.Context, has *corev1.Service, there bool, wanted *corev1.Service) error {
	if there && sameKind(has, wanted) {
		next := has.DeepCopy()
		next.Spec.Ports, next.Spec.ExternalName = wanted.Spec.Ports, wanted.Spec.ExternalName
		next.Spec.Selector, next.Spec.ExternalIPs = nil, nil
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

// A slicePlan is what is to be done to the EndpointSlices of a Service.
type slicePlan struct {
	put   []discoveryv1.EndpointSlice
	stale []discoveryv1.EndpointSlice
}

func (p *slicePlan) done() bool { return len(p.put) == 0 && len(p.stale) == 0 }

// slices compares the EndpointSlices of a binding's Service with those that are to be.
func (s services) slices(ctx context.Context, l *leading, service *corev1.Service) (*slicePlan, error) {
	has, err := s.ownSlices(ctx, l.binding)
	if err != nil {
		return nil, err
	}
	meta := *service.ObjectMeta.DeepCopy()
	meta.Labels[discoveryv1.LabelServiceName] = service.Name
	meta.Labels[discoveryv1.LabelManagedBy] = v1beta1.ManagedByController
	plan := &slicePlan{}
	for _, wanted := range l.target.Slices(service.Name, meta) {
		at := slices.IndexFunc(has, func(h discoveryv1.EndpointSlice) bool { return h.Name == wanted.Name })
		if at < 0 {
			plan.put = append(plan.put, wanted)
			continue
		}
		if !sameSlice(&has[at], &wanted) {
			plan.put = append(plan.put, wanted)
		}
		has = slices.Delete(has, at, at+1)
	}
	plan.stale = has
	return plan, nil
}

func sameSlice(has, wanted *discoveryv1.EndpointSlice) bool {
	return equality.Semantic.DeepEqual(has.Endpoints, wanted.Endpoints) && equality.Semantic.DeepEqual(has.Ports, wanted.Ports) &&
		has.Labels[v1beta1.LabelManagedBy] == v1beta1.ManagedByController
}

// ownSlices are the EndpointSlices that the controller made for a binding's Service.
func (s services) ownSlices(ctx context.Context, b *v1beta1.ServiceBinding) ([]discoveryv1.EndpointSlice, error) {
	var list discoveryv1.EndpointSliceList
	err := s.live.List(ctx, &list, client.InNamespace(b.Namespace), client.MatchingLabels{
		discoveryv1.LabelServiceName: serviceName(b), discoveryv1.LabelManagedBy: v1beta1.ManagedByController,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list EndpointSlices of Service %q: %w", serviceName(b), err)
	}
	return slices.DeleteFunc(list.Items, func(slice discoveryv1.EndpointSlice) bool { return !metav1.IsControlledBy(&slice, b) }), nil
}

// putSlices writes what a plan says. One that lost its labels is found by its name.
func (s services) putSlices(ctx context.Context, b *v1beta1.ServiceBinding, plan *slicePlan) error {
	for i := range plan.put {
		if err := s.putSlice(ctx, b, &plan.put[i]); err != nil {
			return err
		}
	}
	for i := range plan.stale {
		if err := s.delete(ctx, kindSlice, &plan.stale[i]); err != nil {
			return err
		}
	}
	return nil
}

// kindSlice is how messages call an EndpointSlice.
const kindSlice = "EndpointSlice"

func (s services) putSlice(ctx context.Context, b *v1beta1.ServiceBinding, wanted *discoveryv1.EndpointSlice) error {
	err := s.client.Create(ctx, wanted.DeepCopy(), client.FieldOwner(v1beta1.FieldOwnerController))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var has discoveryv1.EndpointSlice
	if err := s.live.Get(ctx, client.ObjectKeyFromObject(wanted), &has); err != nil {
		return fmt.Errorf("cannot read EndpointSlice %q: %w", wanted.Name, err)
	}
	if !metav1.IsControlledBy(&has, b) {
		return foreignError{kind: kindSlice, name: has.Name}
	}
	next := has.DeepCopy()
	next.Endpoints, next.Ports, next.Labels = wanted.Endpoints, wanted.Ports, wanted.Labels
	return s.client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
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
