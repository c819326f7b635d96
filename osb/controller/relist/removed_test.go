package relist

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// Another broker's objects, other IDs and other classes under a name are not written;
// it is said whose the name is, and what helps.
func TestTakenNames(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		first := w.broker
		w.relist(w.catalog(mysql))
		before := w.plan("s").GetResourceVersion()
		w.object.SetName(w.prefix + "second")
		w.object.SetResourceVersion("")
		w.object.SetUID("")
		w.create(w.object)
		w.broker, _ = BrokerOf(w.object)
		result, writes := w.relist(w.catalog(mysql))
		require.NoError(t, result.Err())
		assert.Zero(t, writes)
		require.Len(t, result.Skipped, 3)
		for _, skipped := range result.Skipped {
			assert.Contains(t, skipped.Reason, "belongs to "+first.kind()+" "+first.Name)
			assert.Contains(t, skipped.Reason, "nameSuffix")
		}
		w.broker.NameSuffix = "two"
		result, _ = w.relist(w.catalog(mysql))
		assert.Empty(t, result.Skipped)
		assert.NotEqual(t, before, w.plan("s").GetResourceVersion())
		w.broker = first
		assert.Equal(t, before, w.plan("s").GetResourceVersion())

		moved := w.catalog(`{"services":[{"id":"@db","name":"a","plans":[{"id":"@l","name":"large"}]},{"id":"@other","name":"b","plans":[{"id":"@s","name":"small"}]}]}`)
		result, _ = w.relist(moved)
		assert.Contains(t, Summary(result.Skipped), "belongs to class")
		assert.True(t, w.plan("s").removed)
		assert.True(t, w.absent(false, "other"), "a class without a plan is not made")
		old := w.plan("s").Object
		_, _, err := w.engine.Sweep(t.Context(), w.broker, noted)
		require.NoError(t, err)
		if w.broker.Namespace == "" {
			w.engine.Reader = &listing{w.client, old} // which has yet to hear of that
		}
		result, _ = w.relist(moved)
		assert.Empty(t, result.Skipped)
		assert.Equal(t, w.prefix+"other", w.plan("s").class)
	})
}

// What a catalog lists no more is marked, comes back unmarked, and is deleted once
// nothing refers to it.
func TestRemoved(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		fewer := w.catalog(mysql, `{"id":"@s","name":"small","description":"Small.","free":true,"metadata":{"tags":["Cores=2","Note=not a label"]}},`, "")
		result, writes := w.relist(fewer)
		assert.Equal(t, 1, result.Removed)
		assert.Equal(t, 2, writes, "the mark, and the class's counts")
		assert.True(t, w.plan("s").removed)
		assert.Equal(t, "it has no plan of that name", strings.Split(Summary(result.Skipped), ": ")[2])
		_, writes = w.relist(fewer)
		assert.Zero(t, writes)
		w.relist(w.catalog(mysql))
		assert.False(t, w.plan("s").removed)
		assert.Equal(t, int32(1), w.class("db").freePlans)

		namespace := w.broker.Namespace
		if namespace == "" {
			namespace = "default"
		}
		instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.prefix + "i"}}
		if w.broker.Namespace == "" {
			instance.Spec.ClusterServicePlanName, instance.Spec.ClusterServiceClassName = w.prefix+"s", w.prefix+"db"
		} else {
			instance.Spec.ServicePlanName, instance.Spec.ServiceClassName = w.prefix+"s", w.prefix+"db"
		}
		w.create(instance)
		w.relist(&osb.Catalog{})
		for _, reader := range []client.Reader{blindReader{w.client}, w.client} {
			w.engine.Reader = reader
			remaining, _, err := w.engine.Sweep(t.Context(), w.broker, noted)
			require.NoError(t, err)
			assert.Equal(t, 2, remaining, "the plan in use, and its class")
		}
		assert.True(t, w.absent(true, "l"))
		require.NoError(t, w.client.Patch(t.Context(), instance, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
		require.NoError(t, w.client.Delete(t.Context(), instance))
		remaining, _, err := w.engine.Sweep(t.Context(), w.broker, noted)
		require.NoError(t, err)
		assert.Zero(t, remaining)
		assert.True(t, w.absent(true, "s") && w.absent(false, "db"))
	})
}

// A blindReader is a cache that has not heard of any instance yet.
type blindReader struct{ client.Reader }

func (b blindReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*api.ServiceInstanceList); is {
		return nil
	}
	return b.Reader.List(ctx, list, options...)
}

// A part of a catalog that cannot be taken any more is said; what was made of it before
// stays as it is.
func TestUnfitStays(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	for name, text := range map[string]string{
		"Unfit":  strings.ReplaceAll(mysql, `"name":"small"`, `"name":"`+strings.Repeat("x", 64)+`"`),
		"Unread": strings.ReplaceAll(mysql, `"name":"small",`, `"name":"small","free":"maybe","x":`),
		"Whole":  strings.ReplaceAll(mysql, `"bindable":true`, `"bindable":"maybe"`),
	} {
		if name == "Unread" {
			text = strings.ReplaceAll(mysql, `"free":true`, `"free":"maybe"`)
		}
		result, _ := w.relist(w.catalog(text))
		assert.NotEmpty(t, result.Skipped, name)
		assert.False(t, w.plan("s").removed, name)
		assert.Zero(t, result.Removed, name)
	}
}

// What anyone but the relist wrote a field of is marked and not deleted, nor is its class;
// once it is given up, it is. Status is the controller's, also where another writes it.
func TestSweepKeepsWhatOthersWrote(t *testing.T) {
	for by, patch := range map[string]string{
		"kubectl-edit":       `{"metadata":{"labels":{"team":"a"}}}`,
		api.FieldOwnerKeeper: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-suggested-plan":"false"}}}`,
		"helm":               `{"spec":{"weight":7}}`,
	} {
		bothScopes(t, func(t *testing.T, w *world) {
			w.relist(w.catalog(mysql))
			w.editBy(by, w.plan("l"), patch)
			small := w.plan("s")
			require.NoError(t, w.client.Status().Patch(t.Context(), small.Object, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"removedFromBrokerCatalog":true}}`)), client.FieldOwner("kubectl-edit")))
			w.relist(&osb.Catalog{})
			remaining, _, err := w.engine.Sweep(t.Context(), w.broker, noted)
			require.NoError(t, err)
			assert.Zero(t, remaining, "nothing that is waited for")
			assert.True(t, w.absent(true, "s"), by)
			require.False(t, w.absent(true, "l") || w.absent(false, "db"), by)
			assert.True(t, w.plan("l").removed && w.class("db").removed)

			w.editBy(by, w.plan("l"), `{"metadata":{"labels":{"team":null},"annotations":{"servicecatalog.kubernetes.io/is-suggested-plan":null}},"spec":{"weight":null}}`)
			_, _, err = w.engine.Sweep(t.Context(), w.broker, noted)
			require.NoError(t, err)
			assert.True(t, w.absent(true, "l") && w.absent(false, "db"), by)
		})
	}
}

// What another's finalizer keeps is deleted once, whatever name the other one used.
func TestSweepPassesOverWhatIsBeingDeleted(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		w.editBy(api.FieldOwnerCatalog, w.plan("s"), `{"metadata":{"finalizers":["example.com/kept"]}}`)
		w.relist(&osb.Catalog{})
		_, deleted, err := w.engine.Sweep(t.Context(), w.broker, noted)
		require.NoError(t, err)
		assert.Equal(t, 2, deleted, "the plans; the class waits for them")
		require.False(t, w.absent(true, "s"))
		remaining, deleted, err := w.engine.Sweep(t.Context(), w.broker, func() error { return errors.New("nothing is to be deleted") })
		require.NoError(t, err)
		assert.Equal(t, []int{2, 0}, []int{remaining, deleted})
		w.editBy(api.FieldOwnerCatalog, w.plan("s"), `{"metadata":{"finalizers":null}}`)
	})
}
