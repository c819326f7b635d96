package catalog

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A kind says how objects of one kind are found, in either scope.
type kind[O client.Object, V viewed] struct {
	// word is what errors call an object of the kind.
	word string
	// empty returns an object of the kind in a scope; list lists the kind.
	empty func(namespace string) O
	view  func(client.Object) (V, bool)
	list  func(context.Context, client.Reader, Query, func(V) error) error
	// external says that the objects have an external name besides.
	external bool
}

// The kinds that are found by name.
var (
	classKind  = kind[v1beta1.ClassObject, Class]{"class", v1beta1.NewClass, ClassOf, Classes, true}
	planKind   = kind[v1beta1.PlanObject, Plan]{"plan", v1beta1.NewPlan, PlanOf, Plans, true}
	brokerKind = kind[v1beta1.BrokerObject, Broker]{"broker", v1beta1.NewBroker, BrokerOf, Brokers, false}
	typeKind   = kind[v1beta1.TypeObject, Type]{"type", v1beta1.NewType, TypeOf, Types, false}
)

// find finds the one object of a name, in the nearest scope that has it.
func (k kind[O, V]) find(ctx context.Context, f Finder, name string) (V, error) {
	wanted := NameError{Kind: k.word, Name: name, Where: f.Scope.String()}
	return one(f.Scope, wanted, func(at cli.Scope) ([]V, error) { return k.called(ctx, f, at, name) }, k.known(ctx, f))
}

// called are the objects of a scope that have a name: as their Kubernetes name, or as their
// external one.
func (k kind[O, V]) called(ctx context.Context, f Finder, at cli.Scope, name string) ([]V, error) {
	found, err := k.got(ctx, f.Reader, at, name)
	if err != nil || f.KubeName || !k.external {
		return found, err
	}
	named, err := All(ctx, f.Reader, Query{Scope: at, Fields: client.MatchingFields{v1beta1.FieldExternalName: name}}, k.list)
	for _, other := range named {
		if other.object().GetName() != name {
			found = append(found, other)
		}
	}
	return found, err
}

// got reads the object of that Kubernetes name in the cluster, a namespace or all
// namespaces.
func (k kind[O, V]) got(ctx context.Context, reader client.Reader, at cli.Scope, name string) ([]V, error) {
	if len(content.IsPathSegmentName(name)) > 0 {
		// Such as class/plan: the client would not even ask.
		return nil, nil
	}
	if at.EveryNamespace() {
		return All(ctx, reader, Query{Scope: at, Fields: client.MatchingFields{"metadata.name": name}}, k.list)
	}
	object := k.empty(at.Namespace)
	err := reader.Get(ctx, client.ObjectKey{Namespace: at.Namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	one, _ := k.view(object)
	return []V{one}, nil
}

// known reads the names of all objects of the finder's scope, for an error.
func (k kind[O, V]) known(ctx context.Context, f Finder) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := All(ctx, f.Reader, Query{Scope: f.Scope}, k.list)
		return namesOf(f, all), err
	}
}

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
		for _, view := range found {
			wanted.Fits = append(wanted.Fits, cli.Qualified(view.object().GetNamespace(), view.object().GetName()))
		}
	}
	return none, wanted.sorted()
}

// nameOf is what the finder takes for the name of an object.
func nameOf[V viewed](f Finder, view V) string {
	if f.KubeName {
		return view.object().GetName()
	}
	return view.Title()
}

func namesOf[V viewed](f Finder, views []V) []string {
	names := make([]string, len(views))
	for i, view := range views {
		names[i] = nameOf(f, view)
	}
	return names
}
