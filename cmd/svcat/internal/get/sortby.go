package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A sorter puts a list in the order of --sort-by.
type sorter struct{ *listing }

// rows sorts rows. They do not keep their objects, so those are read once more.
func (l sorter) rows(ctx context.Context, found rows) error {
	if l.by.order == nil || l.one {
		return nil
	}
	values := map[key]any{}
	err := l.walk(ctx, l.client, func(object *unstructured.Unstructured) error {
		value, err := l.value(object)
		values[l.keyOf(object)] = value
		return err
	})
	if err != nil {
		return err
	}
	var sorted []any
	for _, k := range found.keys() {
		sorted = append(sorted, values[k])
	}
	compare := comparison(sorted)
	found.sort(func(a, b key) int { return compare(values[a], values[b]) })
	return l.known(sorted)
}

// objects prints objects, for which all must have come in.
func (l sorter) objects(ctx context.Context, printer printers.ResourcePrinter, wanted map[key]bool) error {
	type sortable struct {
		object *unstructured.Unstructured
		value  any
	}
	var all []sortable
	err := l.walk(ctx, l.client, func(object *unstructured.Unstructured) error {
		if wanted != nil && !wanted[l.keyOf(object)] {
			return nil
		}
		value, err := l.value(object)
		all = append(all, sortable{l.trimmed(object), value})
		return err
	})
	if err != nil {
		return err
	}
	var values []any
	for _, one := range all {
		values = append(values, one.value)
	}
	compare := comparison(values)
	slices.SortStableFunc(all, func(a, b sortable) int { return compare(a.value, b.value) })
	into := l.sink(printer)
	if err := l.known(values); err != nil {
		return err
	}
	for _, one := range all {
		if err := into.add(one.object); err != nil {
			return err
		}
	}
	return into.end()
}

// known says that a field to sort by is one that some object has: else it is a slip.
func (l sorter) known(values []any) error {
	if len(values) == 0 || slices.ContainsFunc(values, func(value any) bool { return value != nil }) {
		return nil
	}
	return cli.Usagef("--sort-by %s: none of the %s has this field; see svcat get %s -o yaml for those that there are", l.by.sortBy, l.resources, l.resources)
}

// value is the first value that an object has at the path of --sort-by; nil: none.
func (l sorter) value(object *unstructured.Unstructured) (any, error) {
	values, err := valuesAt(l.by.order, object)
	if err != nil {
		return nil, cli.Usagef("--sort-by %s: %w", l.by.sortBy, err)
	}
	if len(values) == 0 {
		return nil, nil
	}
	return values[0], nil
}

// comparison orders values: if all are numbers or quantities, by what they amount to, and else
// as text, which is right for times, too. What is not there comes first.
func comparison(values []any) func(a, b any) int {
	amounts := map[string]resource.Quantity{}
	inWords := false
	for _, value := range values {
		if value == nil {
			continue
		}
		amount, err := resource.ParseQuantity(fmt.Sprint(value))
		inWords = inWords || err != nil
		amounts[fmt.Sprint(value)] = amount
	}
	return func(a, b any) int {
		if a == nil || b == nil {
			return cmp.Compare(present(a), present(b))
		}
		textA, textB := fmt.Sprint(a), fmt.Sprint(b)
		if inWords {
			return cmp.Compare(textA, textB)
		}
		amountA, amountB := amounts[textA], amounts[textB]
		return amountA.Cmp(amountB)
	}
}

func present(value any) int {
	if value == nil {
		return 0
	}
	return 1
}
