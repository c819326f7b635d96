package offline

import (
	"cmp"
	"strings"

	"github.com/google/btree"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A stored object is held as JSON, as it was written but for its managedFields, and as it is
// read. So a number is the same whichever way it came.
type stored struct {
	kind  schema.GroupVersionKind
	at    types.NamespacedName
	json  []byte
	typed client.Object
	// history are its managedFields, nil if json has what there is of them.
	history *history
}

// object is the object as it was written, and the caller's.
func (s *stored) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	_ = utiljson.Unmarshal(s.json, &object.Object) // it was read before
	s.history.writeTo(object)
	return object
}

func (s *stored) compare(other *stored) int {
	return cmp.Or(strings.Compare(s.at.Namespace, other.at.Namespace), strings.Compare(s.at.Name, other.at.Name))
}

// within says whether an object is in a namespace that is asked for; none asks for all.
func within(asked string, one *stored) bool { return asked == "" || asked == one.at.Namespace }

// An index says by which values objects are found.
type index struct {
	name   string
	values func(*stored) []string
}

// An entry is an object under one of its values of an index.
type entry struct {
	value string
	one   *stored
}

// degree is of the trees: how many items their nodes have.
const degree = 32

// A table holds the objects of a kind in the order of their names, and the indexes that
// were asked for. A clone of its trees costs nothing, and shares what neither writes.
// The nil table is empty.
type table struct {
	objects *btree.BTreeG[*stored]
	indexes map[string]*indexed
}

// An indexed tree has the objects by the values of an index.
type indexed struct {
	*index

	entries *btree.BTreeG[entry]
}

func newTable() *table {
	return &table{
		objects: btree.NewG(degree, func(a, b *stored) bool { return a.compare(b) < 0 }),
		indexes: map[string]*indexed{},
	}
}

// clone is a table with the same objects. Nothing else may use the table meanwhile.
func (t *table) clone() *table {
	copied := &table{objects: t.objects.Clone(), indexes: make(map[string]*indexed, len(t.indexes))}
	for name, of := range t.indexes {
		copied.indexes[name] = &indexed{of.index, of.entries.Clone()}
	}
	return copied
}

func (t *table) find(at types.NamespacedName) *stored {
	if t == nil {
		return nil
	}
	found, _ := t.objects.Get(&stored{at: at})
	return found
}

// all are the objects, or those in a namespace.
func (t *table) all(namespace string) []*stored {
	if t == nil {
		return nil
	}
	var found []*stored
	t.objects.AscendGreaterOrEqual(&stored{at: types.NamespacedName{Namespace: namespace}}, func(one *stored) bool {
		if !within(namespace, one) {
			return false
		}
		found = append(found, one)
		return true
	})
	return found
}

// selected are the objects that have a value of an index, which is made if it is asked
// for the first time.
func (t *table) selected(by *index, value string) []*stored {
	if t == nil {
		return nil
	}
	of := t.indexes[by.name]
	if of == nil {
		of = &indexed{by, btree.NewG(degree, func(a, b entry) bool {
			return cmp.Or(strings.Compare(a.value, b.value), a.one.compare(b.one)) < 0
		})}
		t.indexes[by.name] = of
		t.objects.Ascend(func(one *stored) bool {
			of.insert(one)
			return true
		})
	}
	var found []*stored
	of.entries.AscendGreaterOrEqual(entry{value, &stored{}}, func(e entry) bool {
		if e.value != value {
			return false
		}
		found = append(found, e.one)
		return true
	})
	return found
}

func (t *table) insert(one *stored) {
	before, replaced := t.objects.ReplaceOrInsert(one)
	for _, of := range t.indexes {
		if replaced {
			of.remove(before)
		}
		of.insert(one)
	}
}

func (t *table) remove(at types.NamespacedName) {
	if t == nil {
		return
	}
	before, found := t.objects.Delete(&stored{at: at})
	if !found {
		return
	}
	for _, of := range t.indexes {
		of.remove(before)
	}
}

func (i *indexed) insert(one *stored) {
	for _, value := range i.values(one) {
		i.entries.ReplaceOrInsert(entry{value, one})
	}
}

func (i *indexed) remove(one *stored) {
	for _, value := range i.values(one) {
		i.entries.Delete(entry{value, one})
	}
}
