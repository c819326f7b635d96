package catalog

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	scopes "github.com/defaultplan/defaultplan/webhook/catalog"
)

// page is how many objects one request lists: lists of any length take bounded
// memory on both sides.
const page = 500

// A Query is what to list. Fields are those of v1beta1.Field…, which the API server selects
// by, as by Labels; nil: all.
type Query struct {
	Scope  cli.Scope
	Fields client.MatchingFields
	Labels labels.Selector
}

// selects is the option that lists what a query selects.
func (q Query) selects() client.ListOption {
	options := &client.ListOptions{LabelSelector: q.Labels}
	if len(q.Fields) > 0 {
		q.Fields.ApplyToList(options)
	}
	return options
}

// Classes calls each with the classes of a scope, page by page, in the API
// server's order, until it fails.
func Classes(ctx context.Context, reader client.Reader, query Query, each func(Class) error) error {
	return walk(ctx, reader, query, lists{&v1beta1.ClusterServiceClassList{}, &v1beta1.ServiceClassList{}}, ClassOf, each)
}

// Plans is as Classes.
func Plans(ctx context.Context, reader client.Reader, query Query, each func(Plan) error) error {
	return walk(ctx, reader, query, lists{&v1beta1.ClusterServicePlanList{}, &v1beta1.ServicePlanList{}}, PlanOf, each)
}

// Brokers is as Classes.
func Brokers(ctx context.Context, reader client.Reader, query Query, each func(Broker) error) error {
	return walk(ctx, reader, query, lists{&v1beta1.ClusterServiceBrokerList{}, &v1beta1.ServiceBrokerList{}}, BrokerOf, each)
}

// Types is as Classes.
func Types(ctx context.Context, reader client.Reader, query Query, each func(Type) error) error {
	return walk(ctx, reader, query, lists{&v1beta1.ClusterServiceTypeList{}, &v1beta1.ServiceTypeList{}}, TypeOf, each)
}

// All are the views that list, such as Classes, finds of a query.
func All[V any](
	ctx context.Context, reader client.Reader, query Query, list func(context.Context, client.Reader, Query, func(V) error) error,
) ([]V, error) {
	var all []V
	err := list(ctx, reader, query, func(one V) error {
		all = append(all, one)
		return nil
	})
	return all, err
}

// plansOf lists the plans of a class, which have its scope.
func plansOf(class Class) Query {
	namespace := class.Object.GetNamespace()
	return Query{Scope: cli.ScopeOf(namespace), Fields: client.MatchingFields{scopes.Scope{Namespace: namespace}.ClassField(): class.Object.GetName()}}
}

// lists are empty lists of a kind in both scopes.
type lists struct{ cluster, namespaced client.ObjectList }

// walk lists a scope, the cluster first. The lists are emptied before each page.
func walk[V any](
	ctx context.Context, reader client.Reader, query Query, of lists,
	view func(client.Object) (V, bool), each func(V) error,
) error {
	visit := func(object runtime.Object) error {
		o, _ := object.(client.Object)
		one, ok := view(o)
		if !ok {
			return fmt.Errorf("cannot show a %T", object)
		}
		return each(one)
	}
	if query.Scope.Cluster {
		if err := Pages(ctx, reader, of.cluster, visit, query.selects()); err != nil {
			return err
		}
	}
	if query.Scope.Namespaces {
		return Pages(ctx, reader, of.namespaced, visit, query.selects(), client.InNamespace(query.Scope.Namespace))
	}
	return nil
}

// Selected is the option that lists what a selector matches; nil matches everything.
func Selected(selector labels.Selector) client.ListOption {
	return &client.ListOptions{LabelSelector: selector}
}

// Pages lists page by page and calls each with every object. A list that the API
// server no longer continues (410) is told as such: nothing is shown twice.
func Pages(ctx context.Context, reader client.Reader, list client.ObjectList, each func(runtime.Object) error, options ...client.ListOption) error {
	return pages(options, func(at []client.ListOption) (client.ObjectList, error) {
		fresh, _ := list.DeepCopyObject().(client.ObjectList)
		if err := reader.List(ctx, fresh, at...); err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", scopes.ResourceOf(list), err)
		}
		return fresh, meta.EachListItem(fresh, each)
	})
}

// pages reads one page after the other.
func pages(options []client.ListOption, read func(at []client.ListOption) (client.ObjectList, error)) error {
	for next := ""; ; {
		list, err := read(append([]client.ListOption{client.Limit(page), client.Continue(next)}, options...))
		if err != nil {
			return err
		}
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}
