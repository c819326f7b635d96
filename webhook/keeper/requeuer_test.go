package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// becomesWhole is a hook that finds a plan.
func becomesWhole(i *v1beta1.ServiceInstance) error {
	i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "p1"}
	return nil
}

// status is an answer of the API server with that code.
func status(code int32, reason metav1.StatusReason) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: "no"}}
}

func TestAnInstanceBecomesWholeWithNoSecondWriteByItsUser(t *testing.T) {
	t.Parallel()
	inHouse(t, nil, func(ctx context.Context, h *house) {
		h.answer(func(i *v1beta1.ServiceInstance) error {
			err := h.Get(ctx, client.ObjectKey{Name: "p1"}, &v1beta1.ClusterServicePlan{})
			if err == nil {
				return becomesWhole(i)
			}
			return client.IgnoreNotFound(err)
		})
		h.settled(ctx)
		mydb := ofMySQL("mydb")
		require.NoError(t, h.Create(ctx, mydb))
		h.pass(time.Minute)
		require.NoError(t, h.Create(ctx, clusterClass("mysql")))
		h.pass(time.Minute)
		require.NoError(t, h.Create(ctx, clusterPlan("")))
		h.pass(time.Second)
		require.NoError(t, h.Get(ctx, client.ObjectKeyFromObject(mydb), mydb))
		assert.True(t, mydb.Spec.Decided())

		h.forget()
		require.NoError(t, h.Create(ctx, clusterType("p1")))
		h.pass(time.Minute)
		assert.Empty(t, h.touched(), "a decided instance is never touched again")
	})
}

func TestWhatFollowsATouch(t *testing.T) {
	t.Parallel()
	type counts struct{ touches, events int }
	for name, tc := range map[string]struct {
		reason string
		answer error
		want   counts
		metric string
	}{
		"Undecided":       {"once more, in case the hook's cache was behind; then its user is told", nil, counts{2, 1}, "undecided"},
		"Invalid":         {"the same would be refused again", status(422, metav1.StatusReasonInvalid), counts{1, 1}, "denied"},
		"Forbidden":       {"the same would be refused again", status(403, metav1.StatusReasonForbidden), counts{1, 1}, "denied"},
		"BadRequest":      {"the same would be refused again", status(400, metav1.StatusReasonBadRequest), counts{1, 1}, "denied"},
		"WrappedInvalid":  {"the same error", fmt.Errorf("cannot patch: %w", status(422, metav1.StatusReasonInvalid)), counts{1, 1}, "denied"},
		"NotFound":        {"there is nothing to touch", status(404, metav1.StatusReasonNotFound), counts{1, 0}, "gone"},
		"HookUnreachable": {"the API server answers 500; it comes back", status(500, metav1.StatusReasonInternalError), counts{9, 0}, "failed"},
		"Conflict":        {"it passes", status(409, metav1.StatusReasonConflict), counts{9, 0}, "failed"},
		"TooManyRequests": {"it passes", status(429, metav1.StatusReasonTooManyRequests), counts{9, 0}, "failed"},
		"Timeout":         {"it passes", status(504, metav1.StatusReasonTimeout), counts{9, 0}, "failed"},
		"RequestTimeout":  {"it passes", status(408, metav1.StatusReasonTimeout), counts{9, 0}, "failed"},
		"Unauthorized":    {"credentials are replaced", status(401, metav1.StatusReasonUnauthorized), counts{9, 0}, "failed"},
		"NoConnection":    {"it passes", errors.New("connection refused"), counts{9, 0}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
				h.answer(func(*v1beta1.ServiceInstance) error { return tc.answer })
				h.keep(ctx, h.options())
				h.pass(time.Minute + 10*time.Second)
				got := counts{len(h.touched()), len(h.told())}
				assert.Equal(t, tc.want, got, tc.reason)
				series, err := testutil.GatherAndCount(h.registry, "defaultplan_keeper_touches_total")
				require.NoError(t, err)
				assert.Equal(t, 5, series, "every result has its series from the start")
				assert.InDelta(t, tc.want.touches, h.counted(tc.metric), 0)
			})
		})
	}
}

func TestRetriesGrowApartToAMinuteAndEnd(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		h.answer(func(*v1beta1.ServiceInstance) error { return errors.New("connection refused") })
		h.keep(ctx, h.options())
		h.pass(time.Hour)
		var gaps []time.Duration
		for i, touch := range h.touches[1:] {
			gaps = append(gaps, (touch.after - h.touches[i].after).Round(time.Millisecond))
		}
		assert.Equal(t, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}, gaps[:4])
		assert.Equal(t, time.Minute, gaps[len(gaps)-1])

		h.answer(func(*v1beta1.ServiceInstance) error { return nil })
		h.pass(time.Hour)
		h.forget()
		h.answer(func(*v1beta1.ServiceInstance) error { return errors.New("connection refused") })
		require.NoError(t, h.Create(ctx, clusterPlan("mysql")))
		h.pass(time.Second)
		assert.Len(t, h.touched(), 3, "after an answer, retries start over")

		h.answer(becomesWhole)
		h.pass(time.Minute)
		h.forget()
		h.pass(time.Hour)
		assert.Empty(t, h.touched(), "it is whole")
	})
}

func TestARefusedInstanceIsTriedAgainAtTheNextChange(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		h.answer(func(*v1beta1.ServiceInstance) error { return status(422, metav1.StatusReasonInvalid) })
		h.settled(ctx)
		h.pass(time.Hour)
		require.Empty(t, h.touched())
		require.NoError(t, h.Create(ctx, clusterPlan("mysql")))
		h.pass(time.Minute)
		assert.Equal(t, []string{"a/mydb"}, h.touched())
	})
}

// A hook that answers from a cache which is yet to hear of the plan is the
// reason for the second touch.
func TestAHookThatIsBehindIsAskedAgain(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		h.settled(ctx)
		asked := 0
		h.answer(func(i *v1beta1.ServiceInstance) error {
			if asked++; asked == 1 {
				return nil
			}
			return becomesWhole(i)
		})
		require.NoError(t, h.Create(ctx, clusterPlan("mysql")))
		h.pass(3 * time.Second)
		assert.Equal(t, []string{"a/mydb", "a/mydb"}, h.touched())
		assert.Empty(t, h.told(), "who is served need not be told of having waited")
	})
}

func TestAHangingTouchHoldsUpNothingForLong(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		options := h.options()
		options.Client = hanging{h}
		h.keep(ctx, options)
		h.pass(20 * time.Second)
		assert.InDelta(t, 1, h.counted("failed"), 0)
	})
}

// hanging never answers a patch.
type hanging struct{ *house }

func (hanging) Patch(ctx context.Context, _ client.Object, _ client.Patch, _ ...client.PatchOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestTouchesKeepToTheRate(t *testing.T) {
	t.Parallel()
	var many []client.Object
	for n := range 450 {
		many = append(many, ofMySQL(fmt.Sprintf("i%d", n)))
	}
	inHouse(t, many, func(ctx context.Context, h *house) {
		h.answer(becomesWhole)
		h.keep(ctx, h.options())
		assert.Len(t, h.touched(), 50, "the burst")
		h.pass(10 * time.Second)
		assert.InDelta(t, 250, len(h.touched()), 1, "20 a second")
		h.pass(11 * time.Second)
		assert.Len(t, h.touched(), 450, "each once")
	})
}

func TestNamespacesAreWokenInTurn(t *testing.T) {
	t.Parallel()
	var many []client.Object
	for n := range 450 {
		many = append(many, ofMySQL(fmt.Sprintf("i%d", n)))
	}
	inHouse(t, many, func(ctx context.Context, h *house) {
		h.answer(becomesWhole)
		h.keep(ctx, h.options())
		h.forget()
		var others []string
		for _, namespace := range []string{"b", "c"} {
			for _, name := range []string{"first", "second"} {
				require.NoError(t, h.Create(ctx, instance(namespace, name, func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "mysql" })))
				others = append(others, namespace+"/"+name)
			}
		}
		h.pass(time.Second)
		assert.Subset(t, h.touched(), others, "400 of a came before")
		h.pass(21 * time.Second)
		assert.Len(t, h.touched(), 404, "each once")
	})
}

func TestChangesInQuickSuccessionAreOneTouch(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		gate := make(chan struct{})
		options := h.options()
		options.Client = gated{h, gate}
		h.keep(ctx, options)
		for n := range 20 {
			p := clusterPlan("mysql")
			p.Name = fmt.Sprintf("p%d", n)
			require.NoError(t, h.Create(ctx, p))
		}
		h.pass(time.Second)
		close(gate)
		h.pass(time.Second)
		assert.Len(t, h.touched(), 2, "the one under way, and one for all that came meanwhile")
		h.pass(time.Minute)
		assert.Len(t, h.touched(), 3, "and one to settle it")
		assert.Len(t, h.told(), 1)
	})
}

// gated holds patches up until the gate is closed.
type gated struct {
	*house

	gate chan struct{}
}

func (g gated) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	<-g.gate
	return g.house.Patch(ctx, object, patch, options...)
}

func TestUsersAreToldOncePerGeneration(t *testing.T) {
	t.Parallel()
	mydb := ofMySQL("mydb")
	inHouse(t, []client.Object{mydb}, func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		h.pass(time.Minute)
		require.Len(t, h.told(), 1)
		for _, name := range []string{"p1", "p2"} {
			p := clusterPlan("mysql")
			p.Name = name
			require.NoError(t, h.Create(ctx, p))
			h.pass(time.Minute)
		}
		require.Len(t, h.told(), 1, "the same again")
		require.NoError(t, update(mydb, func(i *v1beta1.ServiceInstance) { i.Generation, i.Spec.ServiceType = 2, "redis" })(ctx, h))
		h.pass(time.Minute)
		assert.Len(t, h.told(), 2, "it asks for something else")
	})
}

func TestWhatUsersAreTold(t *testing.T) {
	t.Parallel()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	objects := []client.Object{
		ofMySQL("1"),
		instance("a", "2", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServiceClassExternalName = "azure" }),
		instance("a", "3", func(s *v1beta1.ServiceInstanceSpec) {
			s.ServiceClassName, s.ServicePlanExternalName, s.ServiceType = "c1", "50%s", "mysql"
		}),
		instance("a", "4", func(s *v1beta1.ServiceInstanceSpec) { s.PlanSelector = selector }),
		instance("a", "5", func(s *v1beta1.ServiceInstanceSpec) {
			s.ClusterServiceClassExternalID, s.ServiceType, s.PlanSelector = "c1-id", "mysql", selector
		}),
	}
	const after = ": it is decided on as soon as there is one"
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		h.pass(time.Minute)
		assert.Equal(t, []string{
			`a/1 Warning Undecided waits for a default plan of type "mysql"` + after,
			`a/2 Warning Undecided waits for a default plan of class "azure"` + after,
			`a/3 Warning Undecided waits for plan "50%s" of class "c1" of type "mysql"` + after,
			`a/4 Warning Undecided waits for a plan that planSelector matches` + after,
			`a/5 Warning Undecided waits for a plan that planSelector matches of class "c1-id" of type "mysql"` + after,
		}, h.told())
	})
	inHouse(t, objects[:1], func(ctx context.Context, h *house) {
		h.answer(func(*v1beta1.ServiceInstance) error { return status(422, metav1.StatusReasonInvalid) })
		h.keep(ctx, h.options())
		assert.Equal(t, []string{
			`a/1 Warning Undecided admission refused the last try (to see why: svcat explain instance/1 -n a, or with kubectl: kubectl patch serviceinstances.servicecatalog.k8s.io 1 -n a --type=merge -p '{}');` +
				` it waits for a default plan of type "mysql"`,
		}, h.told())
	})
}

// counted is how often a touch had a result, by the metric.
func (h *house) counted(result string) float64 {
	h.t.Helper()
	families, err := h.registry.Gather()
	require.NoError(h.t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if labels := metric.GetLabel(); len(labels) == 1 && labels[0].GetValue() == result {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return -1
}
