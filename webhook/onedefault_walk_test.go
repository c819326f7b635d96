package webhook

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A walk is a catalog that users and a keeper write to, one write after the other.
type walk struct {
	*stock

	env    *defaultsEnv
	random *rand.Rand
	steps  []string
	// switched says that a record was written since the keeper came by.
	switched bool
	// unrecorded says that no record is ever written.
	unrecorded bool
}

const walked = "t1/a: x* y z<t2>; b: x y z<t1>; t2/c: x y"

var walkedTypes = []string{"t1", "t2"}

// A user who may decide defaults never gets two of a type, and what the keeper
// then writes is never denied.
func TestNeverTwoDefaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWalk(t, seed)
			for range 40 {
				w.settle()
				w.step(walkedTypes)
				w.oneDefault()
			}
		})
	}
}

// Nor does he while the keeper is down and nothing is recorded.
func TestNeverTwoDefaultsUnrecorded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWalk(t, seed)
			w.unrecorded = true
			for range 40 {
				w.step(walkedTypes)
				w.oneDefault()
			}
		})
	}
}

// A user who may not decide defaults changes none, however plans and classes
// are written.
func TestNoDoorWithoutTheRight(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWalk(t, seed)
			for range 40 {
				w.settle()
				before := w.defaults()
				w.step(nil)
				require.Equal(t, before, w.defaults(), "%q", w.steps)
				w.step(walkedTypes)
			}
		})
	}
}

func newWalk(t *testing.T, seed uint64) *walk {
	t.Helper()
	w := &walk{stock: stocked(t, walked), random: rand.New(rand.NewPCG(seed, 1))}
	for _, serviceType := range walkedTypes {
		emptyType(serviceType)(w.stock)
	}
	w.env = w.defaultsEnv()
	return w
}

// try writes an object as someone who may decide these types, and says whether it was admitted.
func (w *walk) try(may []string, written, old client.Object) bool {
	w.env.reviews.granted = nil
	for _, serviceType := range may {
		w.env.reviews.granted = append(w.env.reviews.granted, "alice update clusterservicetypes "+serviceType)
	}
	if w.env.validate(written, old).denied() != nil {
		return false
	}
	w.remove(old)
	w.objects = append(w.objects, written)
	w.stores(func(store client.Client) error {
		object, _ := written.DeepCopyObject().(client.Object)
		object.SetResourceVersion("")
		return store.Create(w.tb.Context(), object)
	})
	return true
}

// remove takes an object away, if it is one.
func (w *walk) remove(gone client.Object) {
	if gone == nil {
		return
	}
	w.objects = slices.DeleteFunc(w.objects, func(object client.Object) bool { return object == gone })
	w.stores(func(store client.Client) error { return store.Delete(w.tb.Context(), gone) })
}

// stores changes both views of the catalog.
func (w *walk) stores(change func(client.Client) error) {
	for _, reader := range []*reader{w.env.cached, w.env.live} {
		store, ok := reader.objects.(client.Client)
		require.True(w.tb, ok)
		require.NoError(w.tb, change(store))
	}
}

// step is one write of a user: of a plan or class, and if they may, of a record or one that deletes a plan.
func (w *walk) step(may []string) {
	kinds := 4
	if len(may) > 0 {
		kinds = 6
	}
	switch w.random.IntN(kinds) {
	case 0:
		w.edit(may, isClass)
	case 1, 2:
		w.edit(may, isPlan)
	case 3:
		plan := &resolve.PlanEntry{Ref: resolve.Ref{Name: fmt.Sprintf("new-%d", len(w.steps))}, Class: w.one("a", "b", "c"), Type: w.one("", "t1", "t2")}
		plan.Default = w.random.IntN(2) == 0
		w.notef("create %v: %t", plan, w.try(may, planObject(plan), nil))
	case 4:
		if w.unrecorded {
			return
		}
		old := w.any(isType)
		written, _ := old.DeepCopyObject().(client.Object)
		setRecord(written, w.one("", w.any(isPlan).GetName()))
		w.switched = w.try(may, written, old)
		w.notef("record %v: %t", written, w.switched)
	case 5:
		if len(w.catalog().Plans) < 6 {
			return
		}
		gone := w.any(isPlan)
		w.remove(gone)
		w.notef("delete %s", gone.GetName())
	}
}

// edit changes the type, the annotation or both of an object.
func (w *walk) edit(may []string, which func(client.Object) bool) {
	old := w.any(which)
	written, _ := old.DeepCopyObject().(client.Object)
	if w.random.IntN(3) > 0 {
		edit(w.tb, written, w.one("plain", "default"))
	}
	if w.random.IntN(3) > 0 {
		setType(written, w.one("", "t1", "t2"))
	}
	w.notef("edit %v: %t", written, w.try(may, written, old))
}

func (w *walk) notef(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *walk) one(of ...string) string { return of[w.random.IntN(len(of))] }

func (w *walk) any(which func(client.Object) bool) client.Object {
	var all []client.Object
	for _, object := range w.objects {
		if which(object) {
			all = append(all, object)
		}
	}
	return all[w.random.IntN(len(all))]
}

// catalog is what resolve sees.
func (w *walk) catalog() resolve.Catalog {
	var cat resolve.Catalog
	for _, object := range w.objects {
		switch o := object.(type) {
		case *v1beta1.ClusterServiceClass:
			cat.Classes = append(cat.Classes, resolve.ClassFrom(o))
		case *v1beta1.ClusterServicePlan:
			cat.Plans = append(cat.Plans, resolve.PlanFrom(o))
		case *v1beta1.ClusterServiceType:
			cat.Records = append(cat.Records, resolve.RecordFrom(o))
		}
	}
	return cat
}

func (w *walk) defaultOf(serviceType string) (resolve.Choice, error) {
	return resolve.Plan(resolve.Request{Type: serviceType}, w.catalog())
}

func (w *walk) defaults() map[string]string {
	all := map[string]string{}
	for _, serviceType := range walkedTypes {
		if choice, err := w.defaultOf(serviceType); err == nil {
			all[serviceType] = choice.Plan.Name
		}
	}
	return all
}

// oneDefault holds that no type has two defaults, nor a class among its plans without a type.
func (w *walk) oneDefault() {
	for _, serviceType := range walkedTypes {
		_, err := w.defaultOf(serviceType)
		if refused, ok := errors.AsType[*resolve.Error](err); ok {
			require.NotEqual(w.tb, resolve.Ambiguous, refused.Reason, "%q", w.steps)
		}
	}
	cat, found := w.catalog(), map[string]int{}
	for _, class := range cat.Classes {
		for _, plan := range cat.Plans {
			if plan.Class == class.Name && plan.Default && class.Type == "" && plan.Type == "" {
				found[class.Name]++
			}
		}
		require.LessOrEqual(w.tb, found[class.Name], 1, "%q", w.steps)
	}
}

// settle does what the keeper does until record and annotation agree.
func (w *walk) settle() {
	defer func() { w.switched = false }()
	for _, serviceType := range walkedTypes {
		record, _ := w.object(serviceType, isType).(*v1beta1.ClusterServiceType)
		choice, err := w.defaultOf(serviceType)
		switch {
		case err != nil && record.Spec.DefaultPlanRef != nil:
			w.keeps(record, func(object client.Object) { setRecord(object, "") })
		case err == nil && !choice.Recorded:
			w.keeps(record, func(object client.Object) { setRecord(object, choice.Plan.Name) })
		case err == nil && !choice.Plan.Default && !w.switched:
			w.keeps(record, func(object client.Object) { setRecord(object, "") })
		case err == nil && !choice.Plan.Default:
			w.keeps(w.object(choice.Plan.Name, isPlan), func(object client.Object) { edit(w.tb, object, "default") })
		}
		if err != nil {
			continue
		}
		for _, candidate := range choice.Candidates() {
			if plan := w.object(candidate.Plan.Name, isPlan); candidate.Plan != choice.Plan.Ref && plan.GetAnnotations()[v1beta1.AnnotationDefaultPlan] == "true" {
				w.keeps(plan, func(object client.Object) { edit(w.tb, object, "plain") })
			}
		}
	}
}

// keeps is a write of the keeper, which is always admitted.
func (w *walk) keeps(old client.Object, change func(client.Object)) {
	written, _ := old.DeepCopyObject().(client.Object)
	change(written)
	require.True(w.tb, w.try(walkedTypes, written, old), "the keeper's write of %v is refused\n%q", written, w.steps)
}
