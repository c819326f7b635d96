package get

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// showObjects prints objects as the API server has them: a named one alone, else a
// list as kubectl's. JSON, YAML and names are written while the pages come in;
// templates need the whole list first.
func (l *listing) showObjects(ctx context.Context, load func() (rows, error)) error {
	printer, err := l.printer()
	if err != nil {
		return err
	}
	c, err := l.env.Client()
	if err != nil {
		return err
	}
	var wanted map[key]bool
	if l.one || len(l.filters) > 0 {
		found, err := load()
		if err != nil {
			return err
		}
		wanted = map[key]bool{}
		for _, k := range found.keys() {
			wanted[k] = true
		}
	}
	if l.one {
		return l.showOne(ctx, c, printer, wanted)
	}
	into := l.sink(printer)
	err = l.walk(ctx, c, func(object *unstructured.Unstructured) error {
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

func (l *listing) showOne(ctx context.Context, reader client.Reader, printer printers.ResourcePrinter, wanted map[key]bool) error {
	for k := range wanted {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(l.cluster))
		if k.namespace != "" {
			object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(l.namespaced))
		}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: k.name}, object); err != nil {
			return err
		}
		if err := printer.PrintObj(object, l.env.Out); err != nil {
			return fmt.Errorf("cannot print: %w", err)
		}
	}
	return nil
}

// walk visits the objects of the place, the cluster's first, in the API server's
// order, page by page.
func (l *listing) walk(ctx context.Context, reader client.Reader, each func(*unstructured.Unstructured) error) error {
	visit := func(object runtime.Object) error {
		one, ok := object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("cannot print a %T", object)
		}
		return each(one)
	}
	if l.cluster != "" && l.place.Cluster {
		if err := catalog.Pages(ctx, reader, listOf(l.cluster), visit); err != nil {
			return err
		}
	}
	if l.namespaced != "" && l.place.Namespaces {
		return catalog.Pages(ctx, reader, listOf(l.namespaced), visit, client.InNamespace(l.place.Namespace))
	}
	return nil
}

func listOf(kind string) *unstructured.UnstructuredList {
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
