package catalog

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
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

// kinds are empty objects of a kind in both scopes.
type kinds struct{ cluster, namespaced client.Object }

// got reads the object of that Kubernetes name, in a scope that is not split any further.
func got[V any](
	ctx context.Context, reader client.Reader, at cli.Scope, name string, of kinds, view func(client.Object) (V, bool),
) ([]V, error) {
	object := of.cluster
	if at.Namespaces {
		object = of.namespaced
	}
	if len(content.IsPathSegmentName(name)) > 0 {
		// Such as class/plan: the client would not even ask.
		return nil, nil
	}
	if at.Namespaces && at.Namespace == "" {
		return gotAnywhere(ctx, reader, name, of.namespaced, view)
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: at.Namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	one, _ := view(object)
	return []V{one}, nil
}

// gotAnywhere reads the objects of that Kubernetes name in all namespaces.
func gotAnywhere[V any](ctx context.Context, reader client.Reader, name string, namespaced client.Object, view func(client.Object) (V, bool)) ([]V, error) {
	var found []V
	list, err := listFor(namespaced)
	if err != nil {
		return nil, err
	}
	err = Pages(ctx, reader, list, func(object runtime.Object) error {
		o, _ := object.(client.Object)
		if one, ok := view(o); ok {
			found = append(found, one)
		}
		return nil
	}, client.MatchingFields{"metadata.name": name})
	return found, err
}
