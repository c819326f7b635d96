package catalog

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
)

// RefOf is an object as package resolve refers to it.
func RefOf(object client.Object) resolve.Ref {
	return resolve.Ref{Namespace: object.GetNamespace(), Name: object.GetName()}
}
