package endpoints

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

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// A slicePlan has the pending writes to the EndpointSlices of a Service.
type slicePlan struct {
	put   []discoveryv1.EndpointSlice
	stale []discoveryv1.EndpointSlice
}

func (p *slicePlan) done() bool { return len(p.put) == 0 && len(p.stale) == 0 }

// slices compares the EndpointSlices of a binding's Service with the desired
// ones.
func (s Services) slices(ctx context.Context, l *leading, service *corev1.Service) (*slicePlan, error) {
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
func (s Services) ownSlices(ctx context.Context, b *v1beta1.ServiceBinding) ([]discoveryv1.EndpointSlice, error) {
	var list discoveryv1.EndpointSliceList
	err := s.Live.List(ctx, &list, client.InNamespace(b.Namespace), client.MatchingLabels{
		discoveryv1.LabelServiceName: ServiceName(b), discoveryv1.LabelManagedBy: v1beta1.ManagedByController,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list EndpointSlices of Service %q: %w", ServiceName(b), err)
	}
	return slices.DeleteFunc(list.Items, func(slice discoveryv1.EndpointSlice) bool { return !metav1.IsControlledBy(&slice, b) }), nil
}

// putSlices executes a plan. A slice that lost its labels is found by its name.
func (s Services) putSlices(ctx context.Context, b *v1beta1.ServiceBinding, plan *slicePlan) error {
	for i := range plan.put {
		if err := s.putSlice(ctx, b, &plan.put[i]); err != nil {
			return err
		}
	}
	for i := range plan.stale {
		if err := s.Delete(ctx, kindSlice, &plan.stale[i]); err != nil {
			return err
		}
	}
	return nil
}

// kindSlice is the kind of an EndpointSlice in messages.
const kindSlice = "EndpointSlice"

func (s Services) putSlice(ctx context.Context, b *v1beta1.ServiceBinding, wanted *discoveryv1.EndpointSlice) error {
	err := s.Client.Create(ctx, wanted.DeepCopy(), client.FieldOwner(v1beta1.FieldOwnerController))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var has discoveryv1.EndpointSlice
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(wanted), &has); err != nil {
		return fmt.Errorf("cannot read EndpointSlice %q: %w", wanted.Name, err)
	}
	if !metav1.IsControlledBy(&has, b) {
		return owned.ForeignError{Kind: kindSlice, Name: has.Name}
	}
	next := has.DeepCopy()
	next.Endpoints, next.Ports, next.Labels = wanted.Endpoints, wanted.Ports, wanted.Labels
	return s.Client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
}
