package get

import (
	"context"
	"fmt"
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
	if len(l.filters) > 0 {
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
	into := l.sink(printer)
	err = l.walk(ctx, l.client, func(object *unstructured.Unstructured) error {
		if wanted != nil && !wanted[key{object.GetNamespace(), object.GetName()}] {
			return nil
		}
		if !l.print.JSONYamlPrintFlags.ShowManagedFields {
			object.SetManagedFields(nil)
		}
		return into.add(object)
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
		return nil, l.empty(ctx)
	}
	return wanted, l.unknownName(ctx)
}

// begins says whether the lists of a scope can be read.
func (l *listing) begins(ctx context.Context, reader client.Reader, scope cli.Scope) error {
	for _, scope := range scope.Split() {
		list := l.listIn(scope)
		if err := reader.List(ctx, list, client.Limit(1), client.InNamespace(scope.Namespace)); err != nil {
			return fmt.Errorf("cannot list %s: %w", admission.ResourceOf(list), err)
		}
	}
	return nil
}

func (l *listing) showOne(ctx context.Context, reader client.Reader, printer printers.ResourcePrinter, wanted map[key]bool) error {
	for k := range wanted {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(v1beta1.ScopedKind(k.namespace, l.kind)))
		if err := reader.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: k.name}, object); err != nil {
			return err
		}
		if err := cli.PrintObject(l.env.Out, printer, object); err != nil {
			return err
		}
	}
	return nil
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
		if err := catalog.Pages(ctx, reader, l.listIn(scope), visit, client.InNamespace(scope.Namespace)); err != nil {
			return err
		}
	}
	return nil
}

// listIn is an empty list of the kind in the cluster or in namespaces.
func (l *listing) listIn(scope cli.Scope) *unstructured.UnstructuredList {
	kind := l.kind
	if scope.Cluster {
		kind = "Cluster" + kind
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind + "List"))
	return list
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
