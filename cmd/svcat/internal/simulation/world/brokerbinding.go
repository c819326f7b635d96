package world

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// binding binds a binding, or lets it go.
func (b *brokers) binding(ctx context.Context, at client.ObjectKey) (bool, error) {
	binding := &v1beta1.ServiceBinding{}
	if err := b.client.Get(ctx, at, binding); err != nil {
		return false, client.IgnoreNotFound(err) //nolint:wrapcheck // the caller names the object
	}
	thing := lifecycle.OfBinding(binding)
	r := &thing.Record
	if (r.Operation != lifecycle.NoOperation || r.InProgress != nil || r.Mitigating) && !abandoned(&thing) {
		return false, nil // what runs at its broker may end in either way
	}
	if binding.DeletionTimestamp != nil {
		of := binding.InstanceKey()
		b.pending.add(Key{kindInstance, of.Namespace, of.Name}) // which may have stayed for it
		return b.unbind(ctx, binding, &thing)
	}
	if r.Exists {
		return false, nil
	}
	instance, err := b.bindable(ctx, binding, r)
	if err != nil || instance == nil {
		return false, err
	}
	r.Applied = &lifecycle.Request{BrokerTarget: instance.Status.ExternalProperties.BrokerTarget, InstanceID: instance.Spec.ExternalID}
	r.DeprovisionStatus = lifecycle.DeprovisionRequired
	r.ObservedGeneration, r.ReconciledGeneration = binding.Generation, binding.Generation
	binding.Status = r.BindingStatus(binding.Status)
	return true, b.client.Status().Update(ctx, binding) //nolint:wrapcheck // the caller names the object
}

// unbind lets a binding go, once the instance that is dedicated to it is gone, which goes with it.
func (b *brokers) unbind(ctx context.Context, binding *v1beta1.ServiceBinding, thing *lifecycle.Resource) (bool, error) {
	if !binding.Dedicated() {
		return b.release(ctx, binding)
	}
	if !thing.Parted() {
		r := &thing.Record
		r.Exists, r.Applied, r.DeprovisionStatus = false, nil, lifecycle.DeprovisionSucceeded
		binding.Status = r.BindingStatus(binding.Status)
		if err := b.client.Status().Update(ctx, binding); err != nil {
			return false, err //nolint:wrapcheck // the caller names the object
		}
	}
	written := b.writes()
	remover := dedicated.Reconciler{Client: b.client, Live: b.client}
	_, remains, err := remover.Remove(ctx, binding, thing)
	if err != nil || remains != nil {
		return b.writes() > written, err //nolint:wrapcheck // the caller names the object
	}
	return b.release(ctx, binding)
}

// bindable is the instance that a broker can be asked to bind a binding to; nil: none.
func (b *brokers) bindable(ctx context.Context, binding *v1beta1.ServiceBinding, r *lifecycle.Record) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	if err := b.client.Get(ctx, binding.InstanceKey(), instance); err != nil {
		return nil, client.IgnoreNotFound(err) //nolint:wrapcheck // the caller names the object
	}
	if takes, err := b.takes(ctx, instance, binding); err != nil || !takes {
		return nil, err
	}
	status := &instance.Status
	if instance.DeletionTimestamp != nil || quota.Unsure(instance) || status.Unusable || status.ProvisionStatus != v1beta1.Provisioned || status.ExternalProperties == nil {
		return nil, nil
	}
	reader := catalog.NewReader(b.client)
	offering, problem, err := reader.OfInstance(ctx, instance)
	if err != nil || problem != nil || offering == nil || !offering.Bindable() {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	problem, err = b.rules().DeniesBinding(ctx, &policies.Binding{Record: r, Namespace: binding.Namespace, Instance: instance, Offering: offering})
	if err != nil || problem != nil {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	problem, err = b.slots().Lacks(ctx, policies.BindingRequest(binding))
	if err != nil || problem != nil {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	return instance, nil
}

// takes says whether an instance is for a binding: neither one that is dedicated to another binding is,
// nor that of another namespace which is not shared with the binding's. Nothing is bound in kube-system.
func (b *brokers) takes(ctx context.Context, instance *v1beta1.ServiceInstance, binding *v1beta1.ServiceBinding) (bool, error) {
	if binding.Namespace == metav1.NamespaceSystem || dedicated.OfAnother(binding, instance) {
		return false, nil
	}
	return b.shares(ctx, instance, binding)
}

// shares says whether an instance is of the namespace of a binding, or shared with it.
func (b *brokers) shares(ctx context.Context, instance *v1beta1.ServiceInstance, binding *v1beta1.ServiceBinding) (bool, error) {
	if !binding.Shares() {
		return true, nil
	}
	namespace := &corev1.Namespace{}
	if err := b.client.Get(ctx, client.ObjectKey{Name: binding.Namespace}, namespace); err != nil {
		return false, err //nolint:wrapcheck // the caller names the object
	}
	return instance.Spec.Sharing.Admits(namespace.Name, namespace.Labels), nil
}
