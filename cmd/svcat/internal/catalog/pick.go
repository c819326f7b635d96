package catalog

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// one picks among what a scope's namespace has, or else its cluster.
func one[V viewed](scope cli.Scope, wanted NameError, look func(cli.Scope) ([]V, error), names func() ([]string, error)) (none V, err error) {
	for _, at := range scope.Split() {
		found, err := look(at)
		if err != nil {
			return none, err
		}
		if len(found) > 0 {
			return pick(found, wanted, names)
		}
	}
	return pick[V](nil, wanted, names)
}

// pick is the only one found.
func pick[V viewed](found []V, wanted NameError, names func() ([]string, error)) (none V, err error) {
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		wanted.Known, err = names()
		if err != nil {
			return none, err
		}
	default:
		wanted.Fits = kubeNames(found)
	}
	return none, wanted.sorted()
}

// A kind says how objects of one kind are read, in either scope.
type kind[O client.Object, V any] struct {
	// empty returns an object of the kind in a scope; all lists the kind.
	empty func(namespace string) O
	view  func(client.Object) (V, bool)
	all   func(context.Context, client.Reader, Query, func(V) error) error
}

// got reads the object of that Kubernetes name in the cluster, a namespace or all
// namespaces.
func got[O client.Object, V any](ctx context.Context, reader client.Reader, at cli.Scope, name string, of kind[O, V]) ([]V, error) {
	if len(content.IsPathSegmentName(name)) > 0 {
		// Such as class/plan: the client would not even ask.
		return nil, nil
	}
	if at.Namespaces && at.Namespace == "" {
		var found []V
		err := of.all(ctx, reader, Query{at, client.MatchingFields{"metadata.name": name}}, func(one V) error {
			found = append(found, one)
			return nil
		})
		return found, err
	}
	object := of.empty(at.Namespace)
	err := reader.Get(ctx, client.ObjectKey{Namespace: at.Namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	one, _ := of.view(object)
	return []V{one}, nil
}
