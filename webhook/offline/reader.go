package offline

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// A view reads a store by Go types: as the webhook's cache does, which selects by
// its indexes, or as the API server does, which selects by the definitions' fields.
type view struct {
	store  *store
	cached bool
}

// Get reads one object. A namespace that is not stored has no labels but its name.
func (v view) Get(_ context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	kind, err := apiutil.GVKForObject(into, v.store.scheme)
	if err != nil {
		return fmt.Errorf("cannot get %T: %w", into, err)
	}
	if found := v.store.find(kind, key); found != nil {
		asked := (&client.GetOptions{}).ApplyOptions(options)
		object := found.typed
		if asked.UnsafeDisableDeepCopy == nil || !*asked.UnsafeDisableDeepCopy {
			object, _ = found.typed.DeepCopyObject().(client.Object)
		}
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object).Elem())
		return nil
	}
	if namespace, ok := into.(*corev1.Namespace); ok {
		namespace.Name, namespace.Labels = key.Name, map[string]string{corev1.LabelMetadataName: key.Name}
		return nil
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return apierrors.NewNotFound(plural.GroupResource(), key.Name)
}

// List reads the objects that the options select, in the order of their names. All
// of them come at once: there are no pages.
func (v view) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, err := apiutil.GVKForObject(list, v.store.scheme)
	if err != nil {
		return fmt.Errorf("cannot list %T: %w", list, err)
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	asked := (&client.ListOptions{}).ApplyOptions(options)
	all, revision, selects, err := v.candidates(kind, asked)
	if err != nil {
		return err
	}
	var items []runtime.Object
	for _, one := range all {
		if !lies(one, asked) || !selects(one) {
			continue
		}
		if asked.UnsafeDisableDeepCopy != nil && *asked.UnsafeDisableDeepCopy {
			items = append(items, one.typed)
			continue
		}
		items = append(items, one.typed.DeepCopyObject())
	}
	list.SetResourceVersion(revision)
	if err := meta.SetList(list, items); err != nil {
		return fmt.Errorf("cannot list %T: %w", list, err)
	}
	return nil
}

// lies says whether an object is in the requested namespace, and has the
// requested labels.
func lies(one *stored, asked *client.ListOptions) bool {
	if !within(asked.Namespace, one) {
		return false
	}
	return asked.LabelSelector == nil || asked.LabelSelector.Matches(labels.Set(one.typed.GetLabels()))
}

// candidates are the objects among which are those that the options select, and what a
// field selector says of each. A field that is not selectable is an error.
func (v view) candidates(kind schema.GroupVersionKind, asked *client.ListOptions) (all []*stored, revision string, selects func(*stored) bool, err error) {
	if asked.FieldSelector == nil || asked.FieldSelector.Empty() {
		all, revision = v.store.list(kind, asked.Namespace)
		return all, revision, func(*stored) bool { return true }, nil
	}
	requirements := asked.FieldSelector.Requirements()
	indexes := make([]*index, len(requirements))
	var narrow *index
	var value string
	narrowed := -1
	for i, requirement := range requirements {
		if indexes[i] = v.index(kind, requirement.Field); indexes[i] == nil {
			return nil, "", nil, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", requirement.Field))
		}
		if requirement.Operator != selection.NotEquals {
			narrow, value, narrowed = indexes[i], requirement.Value, i
		}
	}
	selects = func(one *stored) bool {
		for i, requirement := range requirements {
			if i == narrowed {
				continue // the index says so
			}
			has := slices.Contains(indexes[i].values(one), requirement.Value)
			if has == (requirement.Operator == selection.NotEquals) {
				return false
			}
		}
		return true
	}
	if narrow == nil {
		all, revision = v.store.list(kind, asked.Namespace)
		return all, revision, selects, nil
	}
	all, revision = v.store.selected(kind, narrow, value)
	return all, revision, selects, nil
}

// index is how objects of a kind are found by a field, nil if it is not selectable.
func (v view) index(kind schema.GroupVersionKind, field string) *index {
	values := v.values(kind, field)
	if values == nil {
		return nil
	}
	name := field
	if v.cached {
		name = "cached " + field
	}
	return &index{name, values}
}

// values is what objects of a kind have of a field, nil if it is not selectable.
func (v view) values(kind schema.GroupVersionKind, field string) func(*stored) []string {
	if index, ok := v.store.indexes[kind][field]; ok && v.cached {
		return func(one *stored) []string { return index(one.typed) }
	}
	path := strings.Split(field, ".")
	if field != "metadata.name" && field != "metadata.namespace" && (v.cached || !slices.Contains(v.store.selectable(kind), field)) {
		return nil
	}
	return func(one *stored) []string {
		return []string{one.field(path)}
	}
}
