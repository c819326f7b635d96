package get

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	admission "github.com/defaultplan/defaultplan/webhook/catalog"
)

// showObjects prints objects as the API server has them: a named one alone, else a
// list as kubectl's. JSON, YAML and names are written while the pages come in;
// templates need the whole list first.
func (l *listing) showObjects(ctx context.Context, load loader) error {
	printer, err := l.printer()
	if err != nil {
		return err
	}
	var wanted map[key]bool
	if l.narrowed() {
		wanted, err = l.wanted(ctx, load)
	} else {
		// Nothing is written before every list has begun to come in.
		_, err = l.readable(ctx, func(scope cli.Scope) (rows, error) { return nil, l.begins(ctx, l.client, scope) })
	}
	if err != nil {
		return err
	}
	if l.one {
		return l.showOne(ctx, l.client, printer, wanted)
	}
	if l.by.order != nil {
		return sorter{l}.objects(ctx, printer, wanted)
	}
	into := l.sink(printer)
	err = l.walk(ctx, l.client, func(object *unstructured.Unstructured) error {
		if wanted != nil && !wanted[l.keyOf(object)] {
			return nil
		}
		return into.add(l.trimmed(object))
	})
	if err != nil {
		return err
	}
	return into.end()
}

// wanted are the objects that the filters ask for.
func (l *listing) wanted(ctx context.Context, load loader) (map[key]bool, error) {
	found, err := l.readable(ctx, load)
	if err != nil {
		return nil, err
	}
	wanted := map[key]bool{}
	for _, k := range found.keys() {
		wanted[k] = true
	}
	if len(wanted) > 0 {
		return wanted, nil
	}
	if l.one {
		return nil, l.empty(ctx, load)
	}
	return wanted, l.unknownName(ctx)
}

// begins says whether the lists of a scope can be read.
func (l *listing) begins(ctx context.Context, reader client.Reader, scope cli.Scope) error {
	for _, scope := range scope.Split() {
		for _, list := range l.listsIn(scope) {
			if err := reader.List(ctx, list, client.Limit(1), client.InNamespace(scope.Namespace)); err != nil {
				return fmt.Errorf("cannot list %s: %w", admission.ResourceOf(list), err)
			}
		}
	}
	return nil
}

func (l *listing) showOne(ctx context.Context, reader client.Reader, printer printers.ResourcePrinter, wanted map[key]bool) error {
	byKind := func(a, b key) int { return cmp.Compare(slices.Index(l.kinds, a.kind), slices.Index(l.kinds, b.kind)) }
	for _, k := range slices.SortedFunc(maps.Keys(wanted), byKind) {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(cmp.Or(k.kind, l.kindsIn(cli.ScopeOf(k.namespace))[0])))
		err := reader.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: k.name}, object)
		if err == nil {
			err = cli.PrintObject(l.env.Out, printer, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of an object that is listed.
func (l *listing) keyOf(object *unstructured.Unstructured) key {
	k := keyOf(object)
	if len(l.kinds) > 0 {
		k.kind = object.GetKind()
	}
	return k
}

// walk visits the objects of the scope, the cluster's first, in the API server's
// order, page by page.
func (l *listing) walk(ctx context.Context, reader client.Reader, each func(*unstructured.Unstructured) error) error {
	visit := func(object runtime.Object) error {
		one, ok := object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("cannot print a %T", object)
		}
		return each(one)
	}
	for _, scope := range slices.Backward(l.scope.Split()) {
		for _, list := range l.listsIn(scope) {
			if err := catalog.Pages(ctx, reader, list, visit, client.InNamespace(scope.Namespace), catalog.Selected(l.labels)); err != nil {
				return err
			}
		}
	}
	return nil
}

// listsIn are empty lists of the kinds in the cluster or in namespaces.
func (l *listing) listsIn(scope cli.Scope) []*unstructured.UnstructuredList {
	var lists []*unstructured.UnstructuredList
	for _, kind := range l.kindsIn(scope) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind + "List"))
		lists = append(lists, list)
	}
	return lists
}

// kindsIn are the kinds in the cluster or in namespaces.
func (l *listing) kindsIn(scope cli.Scope) []string {
	switch {
	case len(l.kinds) > 0:
		return l.kinds
	case scope.Cluster:
		return []string{"Cluster" + l.kind}
	}
	return []string{l.kind}
}

// trimmed is an object as it is printed.
func (l *listing) trimmed(object *unstructured.Unstructured) *unstructured.Unstructured {
	if !l.print.JSONYamlPrintFlags.ShowManagedFields {
		object.SetManagedFields(nil)
	}
	return object
}

// sink is what prints the list that --output asks for.
func (l *listing) sink(printer printers.ResourcePrinter) sink {
	switch format := *l.print.OutputFormat; format {
	case "json", "yaml":
		return newStream(l.env.Out, format)
	case "name":
		return &each{out: l.env.Out, printer: printer}
	}
	return &whole{out: l.env.Out, printer: printer}
}
