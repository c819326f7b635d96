package offline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	definitions "github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook"
)

// newestRevision is the largest revision of a restored object: the store counts on from it, and
// half of the numbers is left.
const newestRevision int64 = 1 << 62

// A store holds objects, and reads them by kind, name and field. The webhook reads
// from several goroutines; objects that are stored are never changed, only replaced.
type store struct {
	scheme *runtime.Scheme
	// indexes are those that the webhook's cache has, by kind and field.
	indexes map[schema.GroupVersionKind]map[string]client.IndexerFunc

	mu       sync.RWMutex
	objects  map[schema.GroupVersionKind]*table
	revision int64
	// histories are the managedFields of objects, and owned the fields in them, each text once.
	histories map[string]*history
	owned     map[string]*metav1.FieldsV1
	// fields are those that the API server selects by, of the kinds that were asked
	// for.
	fields map[schema.GroupVersionKind][]string
}

func newStore() (*store, error) {
	s := &store{
		scheme:  runtime.NewScheme(),
		indexes: map[schema.GroupVersionKind]map[string]client.IndexerFunc{},
		objects: map[schema.GroupVersionKind]*table{},
		owned:   map[string]*metav1.FieldsV1{}, histories: map[string]*history{},
		fields: map[schema.GroupVersionKind][]string{},
	}
	if err := errors.Join(corev1.AddToScheme(s.scheme), v1beta1.AddToScheme(s.scheme)); err != nil {
		return nil, fmt.Errorf("cannot make a scheme: %w", err)
	}
	return s, webhook.Index(context.Background(), s)
}

// clone is a store with the same objects, of which each is written without the other.
func (s *store) clone() *store {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := &store{
		scheme: s.scheme, indexes: s.indexes, revision: s.revision,
		objects: make(map[schema.GroupVersionKind]*table, len(s.objects)), fields: maps.Clone(s.fields),
		owned: maps.Clone(s.owned), histories: maps.Clone(s.histories),
	}
	for kind, of := range s.objects {
		copied.objects[kind] = of.clone()
	}
	return copied
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
		return found.object()
	}
	return nil
}

func (s *store) find(kind schema.GroupVersionKind, at types.NamespacedName) *stored {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[kind].find(at)
}

// list returns the objects of a kind, or those in a namespace, in the order of their
// names.
func (s *store) list(kind schema.GroupVersionKind, namespace string) (found []*stored, revision string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[kind].all(namespace), strconv.FormatInt(s.revision, 10)
}

// everything is all objects, in the order of their kinds and names.
func (s *store) everything() []*stored {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kinds := slices.SortedFunc(maps.Keys(s.objects), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.Kind, b.Kind) })
	var found []*stored
	for _, kind := range kinds {
		found = append(found, s.objects[kind].all("")...)
	}
	return found
}

// selected returns the objects of a kind that have a value of an index, in the order
// of their names.
func (s *store) selected(kind schema.GroupVersionKind, by *index, value string) (found []*stored, revision string) {
	s.mu.Lock() // the index may be made by this
	defer s.mu.Unlock()
	return s.objects[kind].selected(by, value), strconv.FormatInt(s.revision, 10)
}

// put stores the object under its name, at a new revision, and returns it as Go
// reads it.
func (s *store) put(object *unstructured.Unstructured) (client.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	object.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	raw, err := object.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	one, err := s.read(raw)
	if err != nil {
		return nil, err
	}
	s.insert(one)
	return one.typed, nil
}

// restore stores an object as JSON, which is the store's from then on, with the revision
// that it has.
func (s *store) restore(raw []byte) (client.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.read(raw)
	if err != nil {
		return nil, err
	}
	version := one.typed.GetResourceVersion()
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil || revision < 0 || revision > newestRevision {
		return nil, fmt.Errorf("cannot read %s %q: metadata.resourceVersion is %.40q; allowed are whole numbers from 0 to %d", one.kind.Kind, one.at.Name, version, newestRevision)
	}
	s.revision = max(s.revision, revision)
	s.insert(one)
	return one.typed, nil
}

func (s *store) insert(one *stored) {
	if s.objects[one.kind] == nil {
		s.objects[one.kind] = newTable()
	}
	s.objects[one.kind].insert(one)
}

// remove takes an object out, at a new revision.
func (s *store) remove(kind schema.GroupVersionKind, at types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	s.objects[kind].remove(at)
}
