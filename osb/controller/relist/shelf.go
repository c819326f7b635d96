package relist

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A shelf holds the stored classes and plans that name a broker, by kind and name.
type shelf struct {
	objects map[Kind]map[string]*found
	// elsewhere are those of namespaces that name a cluster's broker.
	elsewhere []*found
}

func (e *Engine) shelf(ctx context.Context, broker *Broker) (*shelf, error) {
	s := &shelf{objects: map[Kind]map[string]*found{}}
	class, plan := kindsOf(broker.Namespace)
	for _, kind := range []Kind{class, plan} {
		list, err := e.list(ctx, kind, client.InNamespace(broker.Namespace), client.MatchingFields{inSpec + "." + kinds[kind].broker: broker.Name})
		if err != nil {
			return nil, err
		}
		s.objects[kind] = make(map[string]*found, len(list))
		for _, f := range list {
			s.objects[kind][f.GetName()] = f
		}
	}
	if broker.Namespace != "" {
		return s, nil
	}
	for _, kind := range []Kind{ServicePlan, ServiceClass} {
		list, err := e.list(ctx, kind, client.MatchingFields{api.FieldClusterServiceBrokerName: broker.Name})
		if err != nil {
			return nil, err
		}
		s.elsewhere = append(s.elsewhere, list...)
	}
	return s, nil
}

func (e *Engine) list(ctx context.Context, kind Kind, options ...client.ListOption) ([]*found, error) {
	list := kinds[kind].newList()
	if err := e.Reader.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", kind, err)
	}
	var all []*found
	err := meta.EachListItem(list, func(object runtime.Object) error {
		all = append(all, see(object))
		return nil
	})
	return all, err
}

// owned are the objects that a broker owns, plans before classes.
func (s *shelf) owned(broker *Broker) []*found {
	class, plan := kindsOf(broker.Namespace)
	var all []*found
	for _, kind := range []Kind{plan, class} {
		for _, f := range s.objects[kind] {
			if broker.owns(f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// userDefined are the objects that name a broker and are no broker's.
func (s *shelf) userDefined(broker *Broker) []*found {
	var all []*found
	for _, objects := range s.objects {
		for _, f := range objects {
			if !broker.owns(f) && f.controller() == "" {
				all = append(all, f)
			}
		}
	}
	return append(all, s.elsewhere...)
}

// known finds what was made of an ID before: under another suffix, or by the retired
// catalog, which once named objects by the ID itself.
func (s *shelf) known(broker *Broker) func(Kind, string) string {
	names := map[Kind]map[string]string{}
	for kind, objects := range s.objects {
		names[kind] = map[string]string{}
		for name, f := range objects {
			before, has := names[kind][f.externalID]
			ours := broker.owns(f) || name == f.externalID && f.controller() == ""
			preferred := !has || name == Name(f.externalID, broker.NameSuffix) || name < before && before != Name(f.externalID, broker.NameSuffix)
			if ours && preferred {
				names[kind][f.externalID] = name
			}
		}
	}
	return func(kind Kind, id string) string { return names[kind][id] }
}

// find is the stored object of the wanted one's name, nil if there is none.
func (r *run) find(ctx context.Context, object *Object) (*found, error) {
	if f := r.shelf.objects[object.Kind][object.Name]; f != nil {
		return f, nil
	}
	return lookUp(ctx, r.Reader, object)
}

// lookUp is the stored object of the wanted one's name as a reader has it, nil if there is none.
func lookUp(ctx context.Context, reader client.Reader, object *Object) (*found, error) {
	stored := kinds[object.Kind].newObject()
	err := reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: object.Name}, stored, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %s %q: %w", object.Kind, object.Name, err)
	}
	return see(stored), nil
}
