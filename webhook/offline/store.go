package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	definitions "github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook"
)

// A store holds objects, and reads them by kind, name and field. The webhook reads
// from several goroutines; objects that are stored are never changed, only replaced.
type store struct {
	scheme *runtime.Scheme
	// indexes are those that the webhook's cache has, by kind and field.
	indexes map[schema.GroupVersionKind]map[string]client.IndexerFunc

	mu       sync.RWMutex
	objects  map[schema.GroupVersionKind]map[types.NamespacedName]*stored
	revision int64
	// fields are those that the API server selects by, of the kinds that were asked
	// for.
	fields map[schema.GroupVersionKind][]string
}

// A stored object is held as it is written, and as it is read.
type stored struct {
	object *unstructured.Unstructured
	typed  client.Object
}

func newStore() (*store, error) {
	s := &store{
		scheme:  runtime.NewScheme(),
		indexes: map[schema.GroupVersionKind]map[string]client.IndexerFunc{},
		objects: map[schema.GroupVersionKind]map[types.NamespacedName]*stored{},
		fields:  map[schema.GroupVersionKind][]string{},
	}
	if err := errors.Join(corev1.AddToScheme(s.scheme), v1beta1.AddToScheme(s.scheme)); err != nil {
		return nil, fmt.Errorf("cannot make a scheme: %w", err)
	}
	return s, webhook.Index(context.Background(), s)
}

// IndexField takes in an index of the webhook's cache.
func (s *store) IndexField(_ context.Context, object client.Object, field string, index client.IndexerFunc) error {
	kind, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return fmt.Errorf("cannot index %T: %w", object, err)
	}
	if s.indexes[kind] == nil {
		s.indexes[kind] = map[string]client.IndexerFunc{}
	}
	s.indexes[kind][field] = index
	return nil
}

// selectable are the fields by which the API server selects objects of a kind,
// beside name and namespace.
func (s *store) selectable(kind schema.GroupVersionKind) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.fields[kind]
	if ok {
		return known
	}
	if definition, err := definitions.Definition(resources[kind.Kind]); err == nil {
		for _, field := range definition.Spec.Versions[0].SelectableFields {
			known = append(known, strings.TrimPrefix(field.JSONPath, "."))
		}
	}
	s.fields[kind] = known
	return known
}

// get returns the object of a name, nil if there is none. It is the caller's.
func (s *store) get(kind schema.GroupVersionKind, at types.NamespacedName) *unstructured.Unstructured {
	if found := s.find(kind, at); found != nil {
		return found.object.DeepCopy()
	}
	return nil
}

func (s *store) find(kind schema.GroupVersionKind, at types.NamespacedName) *stored {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[kind][at]
}

// list returns the objects of a kind in the order of their names.
func (s *store) list(kind schema.GroupVersionKind) (found []*stored, revision string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	of := s.objects[kind]
	for _, at := range slices.SortedFunc(maps.Keys(of), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		found = append(found, of[at])
	}
	return found, strconv.FormatInt(s.revision, 10)
}

// put stores the object under its name, at a new revision, and returns it as Go
// reads it.
func (s *store) put(object *unstructured.Unstructured) (client.Object, error) {
	kind := object.GroupVersionKind()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	object.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	typed, err := s.read(object)
	if err != nil {
		return nil, err
	}
	if s.objects[kind] == nil {
		s.objects[kind] = map[types.NamespacedName]*stored{}
	}
	s.objects[kind][types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}] = &stored{object: object.DeepCopy(), typed: typed}
	return typed, nil
}

// read is the object as its Go type, by the decoder of the API's clients.
func (s *store) read(object *unstructured.Unstructured) (client.Object, error) {
	kind := object.GroupVersionKind()
	made, err := s.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s %q: %w", kind.Kind, object.GetName(), err)
	}
	typed, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("cannot read %s %q: it has no metadata", kind.Kind, object.GetName())
	}
	raw, err := object.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, object.GetName(), err)
	}
	// The decoder's own text may quote the object.
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, typed) != nil {
		return nil, fmt.Errorf("cannot read %s %q: a field is not of its type", kind.Kind, object.GetName())
	}
	return typed, nil
}
