package watches

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

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
