package keeper_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A cache may lag behind by any time. What it still shows is no reason to undo
// what users did since.
func TestACacheThatLagsUndoesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		since  step
		want   string
	}{
		"SwitchedThereAndBack": {
			reason: "plan a is annotated in the cache, but not any more: that is no confirmation",
			since:  and(records("b"), annotates("b"), takesOff("a"), records("a")),
			want:   "a recorded and confirmed, a annotated",
		},
		"Switched": {
			reason: "plan b is not annotated in the cache, but is",
			since:  and(records("b"), annotates("b"), takesOff("a")),
			want:   "b recorded and confirmed, b annotated",
		},
		"Nothing": {
			reason: "all is as it was",
			since:  and(),
			want:   "a recorded and confirmed, a annotated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atRegistry(t, offering("", "a", "b"), func(ctx context.Context, r *registry) {
				end := r.keep(ctx)
				r.annotate(ctx, "a")
				r.pass(time.Minute)
				end()
				options := r.options()
				lagging := &laggingClient{registry: r, plans: r.frozen(ctx)}
				lagging.lags.Store(true)
				options.Client = lagging
				tc.since(ctx, r)
				r.house.keep(ctx, options)
				r.pass(10 * time.Second)
				assert.Contains(t, r.defaults(ctx, "mysql"), tc.want[:len("a recorded and confirmed")], tc.reason)
				lagging.lags.Store(false)
				for _, plan := range []string{"a", "b"} {
					r.editf(ctx, planAt("", plan), `{"metadata":{"labels":{"heard":"of"}}}`)
				}
				r.pass(time.Hour)
				assert.Equal(t, tc.want, r.defaults(ctx, "mysql"), tc.reason)
			})
		})
	}
}

// A laggingClient shows plans as they were once.
type laggingClient struct {
	*registry

	plans client.Client
	lags  atomic.Bool
}

func (l *laggingClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, plans := list.(*v1beta1.ClusterServicePlanList); plans && l.lags.Load() {
		return l.plans.List(ctx, list, options...)
	}
	return l.registry.List(ctx, list, options...)
}

func (r *registry) frozen(ctx context.Context) client.Client {
	var plans v1beta1.ClusterServicePlanList
	require.NoError(r.t, r.WithWatch.List(ctx, &plans))
	builder := fake.NewClientBuilder().WithScheme(r.Scheme()).WithTypeConverters(managedfields.NewDeducedTypeConverter()).WithLists(&plans)
	addCatalogIndexes(builder)
	return builder.Build()
}

// Between a look and the write that follows from it, others write too.
func TestWhatOthersWriteMeanwhileStands(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		given     step
		meanwhile step
		want      string
		writes    []string
	}{
		"RecordSwitched": {
			reason:    "the record to be cleared is not there any more",
			given:     takesOff("a"),
			meanwhile: records("b"),
			want:      "b recorded and confirmed, b annotated",
			writes:    []string{"patch b"},
		},
		"ObjectMade": {
			reason:    "the object to be made is there",
			given:     and(takesOff("a"), deletesTheObject, annotates("a")),
			meanwhile: func(ctx context.Context, r *registry) { r.add(ctx, typeAt("", "mysql")) },
			want:      "a recorded and confirmed, a annotated",
			writes:    []string{"patch mysql"},
		},
		"PlanReplaced": {
			reason:    "another plan of that name is not the one to be annotated",
			given:     and(deletesPlan("a"), records("b")),
			meanwhile: and(deletesPlan("b"), func(ctx context.Context, r *registry) { r.add(ctx, planAt("", "b")) }, clears),
			want:      "none recorded, none annotated",
			writes:    []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atRegistry(t, offering("", "a", "b"), func(ctx context.Context, r *registry) {
				r.keep(ctx)
				r.annotate(ctx, "a")
				r.pass(time.Minute)
				r.wrote()
				r.meanwhile = func() { tc.meanwhile(ctx, r) }
				tc.given(ctx, r)
				r.pass(time.Minute)
				assert.Equal(t, tc.want, r.defaults(ctx, "mysql"), tc.reason)
				assert.Equal(t, tc.writes, append([]string{}, r.wrote()...), tc.reason)
			})
		})
	}
}

func TestAWriteThatFailsIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		failure error
	}{
		"Refused":  {"another hook's no need not be its last word", status(403, metav1.StatusReasonForbidden)},
		"Invalid":  {"nor is this", status(422, metav1.StatusReasonInvalid)},
		"Conflict": {"another wrote at the same time", status(409, metav1.StatusReasonConflict)},
		"Outage":   {"it passes", errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
				r.keep(ctx)
				r.pass(time.Minute)
				var tries []time.Time
				r.refuse(func(string, client.Object) error {
					tries = append(tries, time.Now())
					return tc.failure
				})
				r.annotate(ctx, "a")
				r.pass(time.Second)
				assert.GreaterOrEqual(t, len(tries), 6, "soon, and often at first: %s", tc.reason)
				r.pass(time.Hour)
				last := tries[len(tries)-1].Sub(tries[len(tries)-2])
				assert.Equal(t, 10*time.Second, last, "for ever, but not in haste")
				_, told, _ := r.typeStatus(ctx, "mysql")
				assert.Equal(t, "azure/a", told.DefaultPlan, "what counts meanwhile is told")
				assert.Equal(t, len(tries), r.counted("record", "failed"))
				assert.Empty(t, r.told(), "nothing happened")

				r.refuse(func(string, client.Object) error { return nil })
				r.pass(11 * time.Second)
				assert.Equal(t, "a recorded and confirmed, a annotated", r.defaults(ctx, "mysql"))
				assert.Equal(t, 1, r.counted("record", "stored"))
			})
		})
	}
}

// A cache that cannot be read is asked again.
func TestADefaultRecorderWhoseCacheFailsTriesAgain(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
		options := r.options()
		failing := &failingLists{registry: r}
		failing.fails.Store(true)
		options.Client = failing
		r.annotate(ctx, "a")
		r.house.keep(ctx, options)
		r.pass(time.Minute)
		assert.Equal(t, "no object, a annotated", r.defaults(ctx, "mysql"))
		failing.fails.Store(false)
		r.pass(11 * time.Second)
		assert.Equal(t, "a recorded and confirmed, a annotated", r.defaults(ctx, "mysql"))
	})
}

type failingLists struct {
	*registry

	fails atomic.Bool
}

func (f *failingLists) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if f.fails.Load() {
		return errors.New("no informer")
	}
	return f.registry.List(ctx, list, options...)
}
