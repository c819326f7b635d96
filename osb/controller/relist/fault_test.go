package relist

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// failing is a client whose applies fail where the function says so.
func (w *world) failing(fails func(object client.Object, body string) error) client.Client {
	return interceptor.NewClient(w.client, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			w.writes.Add(1)
			body, err := patch.Data(object)
			require.NoError(w, err)
			if err := fails(object, string(body)); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
	})
}

var plansResource = schema.GroupResource{Group: "servicecatalog.k8s.io", Resource: "clusterserviceplans"}

// An object that fails does not keep the others; its class, if it is new, waits for it.
func TestOneFails(t *testing.T) {
	w := newWorld(t, false)
	down := errors.New("connection refused")
	w.engine.Client = w.failing(func(object client.Object, _ string) error {
		if object.GetName() == w.prefix+"l" {
			return down
		}
		return nil
	})
	result, _ := w.relist(w.catalog(mysql))
	require.ErrorIs(t, result.Err(), down)
	assert.Len(t, result.Failed, 1)
	assert.EqualError(t, result.Failed[0], `cannot apply ClusterServicePlan "`+w.prefix+`l": connection refused`)
	assert.False(t, w.absent(true, "s"))
	assert.True(t, w.absent(false, "db"), "with one plan, it would be another class")
	w.engine.Client = w.counting()
	result, writes := w.relist(w.catalog(mysql))
	require.NoError(t, result.Err())
	assert.Equal(t, 2+4, writes, "what was written stays")
}

// Where admission refuses a suggestion, that is said, and what else is suggested is
// applied.
func TestSuggestionRefused(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	w.engine.Client = w.failing(func(object client.Object, body string) error {
		if object.GetName() == w.prefix+"l" && strings.Contains(body, "other") {
			return apierrors.NewForbidden(plansResource, object.GetName(), errors.New("it is the default plan of its type"))
		}
		return nil
	})
	other := w.catalog(mysql, "ServiceType=@sql", "ServiceType=@other", "Cores=4", "Cores=8")
	result, _ := w.relist(other)
	require.NoError(t, result.Err())
	assert.Contains(t, Summary(result.Skipped), `plan "large" of service "`+w.prefix+`mysql": what it suggests is refused: `)
	assert.Contains(t, Summary(result.Skipped), "it is the default plan of its type")
	assert.Equal(t, w.prefix+"sql", w.plan("l").serviceType)
	assert.Equal(t, "8", w.plan("l").GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
	assert.Equal(t, w.prefix+"other", w.plan("s").serviceType)
}

// Where a plan was annotated as the default before its type came, the way out is told that
// there is for a broker, not that of a user.
func TestSuggestionOfDefaultRefused(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		const on, off = `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":"true"}}}`, `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":null}}}`
		w.relist(w.catalog(mysql))
		w.edit(w.plan("l"), on)
		w.edit(w.plan("s"), `{"spec":{"serviceType":"@other"}}`)
		w.edit(w.plan("s"), on) // so that admission denies it for the other, for every user
		other := w.catalog(mysql, "ServiceType=@sql", "ServiceType=@other", "Cores=4", "Cores=8")
		result, _ := w.relist(other)
		require.NoError(t, result.Err())
		place := "--cluster"
		if w.broker.Namespace != "" {
			place = "-n " + w.broker.Namespace
		}
		assert.Contains(t, Summary(result.Skipped), `plan "large" of service "`+w.prefix+`mysql": it is annotated as the default, and its type would make it that of "`+w.prefix+
			`other", which a broker may not decide: take the annotation off, `+"`svcat sync broker "+w.broker.Name+" "+place+"`, and set it again")
		assert.Equal(t, w.prefix+"sql", w.plan("l").serviceType)
		assert.Equal(t, "8", w.plan("l").GetLabels()["attributes.servicecatalog.k8s.io/Cores"], "what else is suggested is applied")

		w.edit(w.plan("l"), off)
		result, _ = w.relist(other)
		require.NoError(t, result.Err())
		assert.Empty(t, result.Skipped)
		assert.Equal(t, w.prefix+"other", w.plan("l").serviceType, "the way out is one")
	})
}

// Facts that the API server refuses are skipped, not tried for ever.
func TestFactsRefused(t *testing.T) {
	w := newWorld(t, false)
	w.engine.Client = w.failing(func(object client.Object, _ string) error {
		if object.GetName() == w.prefix+"l" {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "ClusterServicePlan"}, object.GetName(), nil)
		}
		return nil
	})
	result, _ := w.relist(w.catalog(mysql))
	require.NoError(t, result.Err())
	assert.Contains(t, Summary(result.Skipped), "it is refused: ")
	assert.False(t, w.absent(false, "db"), "the rest is there")
}

// A relist that is stopped says so, and marks nothing.
func TestStopped(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.engine.Relist(ctx, w.broker, w.catalog(`{"services":[]}`), unreported)
	require.ErrorIs(t, err, context.Canceled)
	assert.False(t, w.plan("s").removed)
}

// An object that was recreated under a name since it was read is not written.
func TestOnlyTheSameObject(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(mysql))
	old := w.plan("l")
	require.NoError(t, w.client.Delete(t.Context(), old.Object))
	w.engine.Reader = &staleReader{Reader: &listing{w.client, old.Object}, at: map[string]client.Object{}}
	result, _ := w.relist(w.catalog(mysql, "Large.", "Larger."))
	require.Error(t, result.Err())
	assert.True(t, apierrors.IsConflict(result.Failed[0]) || apierrors.IsNotFound(result.Failed[0]), result.Failed[0])
	assert.True(t, w.absent(true, "l"))
}

// A listing has an object that is gone.
type listing struct {
	client.Reader

	object client.Object
}

func (l *listing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := l.Reader.List(ctx, list, options...); err != nil {
		return err
	}
	return addItem(list, l.object)
}
