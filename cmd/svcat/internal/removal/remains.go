package removal

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// Remains says at which broker an abandoned object remains, and under which ID: a user who
// cleans up there needs both. A broker that is no longer known is left out.
func Remains(ctx context.Context, reader client.Reader, object client.Object) string {
	var id string
	var ref *v1beta1.DecidedReference
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		id, ref = cmp.Or(o.Status.ExternalID, o.Spec.ExternalID), &o.Spec.DecidedReference
	case *v1beta1.ServiceBinding:
		id, ref = cmp.Or(o.Status.ExternalID, o.Spec.ExternalID), &o.Spec.DecidedReference
	default:
		return ""
	}
	if id == "" {
		return "no broker was ever asked for it"
	}
	if broker := brokerOf(ctx, reader, object.GetNamespace(), ref); broker != "" {
		return fmt.Sprintf("what broker %s has of it stays there, under the ID %s", broker, id)
	}
	return fmt.Sprintf("what its broker has of it stays there, under the ID %s", id)
}

// brokerOf is the broker of the class that was decided on; empty if it is not known.
func brokerOf(ctx context.Context, reader client.Reader, namespace string, decided *v1beta1.DecidedReference) string {
	class, _, err := catalog.DecidedClass(ctx, reader, decided, namespace)
	if err != nil {
		return ""
	}
	return class.Broker
}
