package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// watchSharing adds what may change whether an instance is shared with the bindings of
// a namespace: its labels. A controller of some namespaces may watch none, and reads
// them again in time.
func (p *parts) watchSharing(bindings *builder.Builder) *builder.Builder {
	if p.options.scope().Restricted() {
		return bindings
	}
	return bindings.Watches(&corev1.Namespace{}, byNamespace(p.mgr.GetClient()), builder.WithPredicates(predicate.LabelChangedPredicate{}))
}

// byNamespace enqueues the bindings of a namespace to instances of other
// namespaces.
func byNamespace(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, namespace client.Object) []reconcile.Request {
		var bindings v1beta1.ServiceBindingList
		if err := reader.List(ctx, &bindings, client.InNamespace(namespace.GetName()), client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "cannot list the bindings of a namespace that changed", "namespace", namespace.GetName())
			return nil
		}
		var requests []reconcile.Request
		for i := range bindings.Items {
			if bindings.Items[i].Shares() {
				requests = append(requests, requestFor(&bindings.Items[i]))
			}
		}
		return requests
	})
}
