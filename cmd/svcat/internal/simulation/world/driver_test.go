package world

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

var began = time.Unix(1_700_000_000, 0)

// A trial is a driver with one controller, which watches Namespaces. Its items are their names.
type trial struct {
	*driver

	queue controller.Queue[string]
	// done are the items that were handled, with the seconds since the beginning.
	done []string
}

// newTrial makes a controller that does something with an item, the nth that it handles.
func newTrial(do func(tr *trial, item string, n int) (after time.Duration, err error)) *trial {
	tr := &trial{driver: &driver{clock: clocktesting.NewFakeClock(began), wrote: began}}
	spec := &controller.Spec[string]{
		Name: "trial",
		Begin: func(q controller.Queue[string]) {
			tr.queue = q
			q.Add("at the start")
			q.Add("and more")
		},
		Do: func(_ context.Context, item string) (reconcile.Result, error) {
			tr.done = append(tr.done, fmt.Sprintf("%s %.0f", item, tr.clock.Since(began).Seconds()))
			after, err := do(tr, item, len(tr.done))
			return reconcile.Result{RequeueAfter: after}, err
		},
		Watches: []controller.Watch[string]{{Object: &corev1.Namespace{}, When: predicate.Funcs{}, Enqueue: func(_ context.Context, q controller.Queue[string], versions ...client.Object) {
			q.Add(versions[0].GetName())
		}}},
	}
	tr.controls = []driven{drive(spec, tr.clock)}
	return tr
}

func (tr *trial) wroteNamespace(name string) {
	namespace := &corev1.Namespace{}
	namespace.Name = name
	tr.write(written{after: namespace})
}

// Controllers do what writes and times ask for, until nothing is left that is due soon.
func TestSettle(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, tc := range map[string]struct {
		reason string
		do     func(tr *trial, item string, n int) (time.Duration, error)
		items  []string
		done   []string
		failed int
	}{
		"Nothing": {reason: "What would be done at a start is not."},
		"Once":    {reason: "Equal items are one.", items: []string{"a", "b", "a"}, done: []string{"a 0", "b 0"}},
		"Written": {
			reason: "A write has what watches it go on.", items: []string{"a"}, done: []string{"a 0", "b 0"},
			do: func(tr *trial, item string, _ int) (time.Duration, error) {
				if item == "a" {
					tr.wroteNamespace("b")
				}
				return 0, nil
			},
		},
		"Later": {
			reason: "What is due soon is waited for, and what a sweep does is not.", items: []string{"a"}, done: []string{"a 0", "a 20"},
			do: func(_ *trial, _ string, n int) (time.Duration, error) {
				return 20 * time.Second * time.Duration(n), nil
			},
		},
		"Failed": {
			reason: "Without a write, it would fail the same way again.", items: []string{"a"}, done: []string{"a 0"}, failed: 1,
			do: func(*trial, string, int) (time.Duration, error) { return 0, failed },
		},
		"Retried": {
			reason: "After one it may not.", items: []string{"a", "b"}, done: []string{"a 0", "b 0", "c 0", "a 0"},
			do: func(tr *trial, item string, n int) (time.Duration, error) {
				switch {
				case item == "b":
					tr.wroteNamespace("c")
				case n == 1:
					return 0, failed
				}
				return 0, nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.do == nil {
				tc.do = func(*trial, string, int) (time.Duration, error) { return 0, nil }
			}
			tr := newTrial(tc.do)
			for _, item := range tc.items {
				tr.queue.Add(item)
			}
			require.NoError(t, tr.settle(t.Context(), 1))
			assert.Equal(t, tc.done, tr.done, tc.reason)
			assert.Len(t, tr.failures(), tc.failed, tc.reason)
		})
	}
}

// What two controllers would do without end is an error that names one of the items.
func TestRestless(t *testing.T) {
	t.Parallel()
	tr := newTrial(func(tr *trial, item string, _ int) (time.Duration, error) {
		tr.wroteNamespace(item)
		return 0, nil
	})
	tr.queue.Add("a")
	err := tr.settle(t.Context(), 1)
	require.ErrorIs(t, err, errRestless)
	require.EqualError(t, err, "cannot simulate further than trial a: the controllers do not come to rest")
	assert.Len(t, tr.done, fewestSteps+stepsPerObject)
}

// The soonest time of an item counts, and none once it is ready.
func TestQueueTimes(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakeClock(began)
	q := newQueue[string](now, nil)
	q.AddAfter("a", time.Minute)
	q.AddAfter("a", time.Second)
	q.AddAfter("a", time.Hour)
	due, is := q.due()
	assert.True(t, is)
	assert.Equal(t, began.Add(time.Second), due)
	now.SetTime(due)
	_, is = q.due()
	assert.False(t, is)
	assert.Equal(t, 1, q.Len())
}

// What the controllers cannot do is a note.
func TestFailuresAreNotes(t *testing.T) {
	t.Parallel()
	cluster, err := offline.New(options.New())
	require.NoError(t, err)
	w, err := New(cluster, options.New())
	require.NoError(t, err)
	assert.Empty(t, w.Notes())
	tr := newTrial(func(*trial, string, int) (time.Duration, error) { return 0, errors.New("failed") })
	w.driver.controls = tr.controls
	tr.queue.Add("a")
	require.NoError(t, w.settle(t.Context()))
	assert.Equal(t, []string{"the keeper tries again without end: failed"}, w.Notes())
}
