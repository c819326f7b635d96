package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestPoliciesAreNotWrittenForNothing(t *testing.T) {
	t.Parallel()
	inHouse(t, append(market(), policyFor(v1beta1.PlanSubject{PlanName: "cache"})), func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		require.Len(t, h.written("ProvisioningPolicy", "no-mysql"), 1)
		h.pass(3 * time.Hour)
		require.NoError(t, updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Labels = map[string]string{"tier": "gold"} })(ctx, h))
		require.NoError(t, update(whole("mydb"), func(i *v1beta1.ServiceInstance) { i.Labels = nil })(ctx, h))
		require.NoError(t, update(denyMySQL(), func(p *v1beta1.ProvisioningPolicy) { p.Labels = map[string]string{"owner": "ops"} })(ctx, h))
		h.pass(time.Minute)
		assert.Len(t, h.written("ProvisioningPolicy", "no-mysql"), 1, "it selects what it did")
	})
}

func TestPoliciesAreReportedOnOnceASecond(t *testing.T) {
	t.Parallel()
	inHouse(t, append(market(), policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType})), func(ctx context.Context, h *house) {
		h.settled(ctx)
		const changes = 50
		for n := range changes {
			require.NoError(t, h.Create(ctx, with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Name = fmt.Sprintf("new%d", n) })))
			h.pass(100 * time.Millisecond)
		}
		h.pass(2 * time.Second)
		writes := h.written("ProvisioningPolicy", "no-mysql")
		assert.InDelta(t, 5, len(writes), 2, "%d changes in 5 seconds", changes)
		for i, write := range writes[1:] {
			assert.GreaterOrEqual(t, write.after-writes[i].after, time.Second)
		}
		assert.EqualValues(t, 4+changes, h.statusOf(ctx, denyMySQL()).Plans, "the last word counts")
	})
}

// A survey of a large catalog takes its time; so that it never takes much of a
// processor's, the pause after it is as many times as long.
func TestALongSurveyIsFollowedByALongPause(t *testing.T) {
	t.Parallel()
	inHouse(t, append(market(), policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType})), func(ctx context.Context, h *house) {
		options := h.options()
		options.Client = slow{h}
		h.keep(ctx, options)
		h.pass(time.Minute)
		h.forget()
		const seconds = 250
		for n := range seconds {
			require.NoError(t, h.Create(ctx, with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Name = fmt.Sprintf("new%d", n) })))
			h.pass(time.Second)
		}
		assert.InDelta(t, seconds/42, len(h.written("ProvisioningPolicy", "no-mysql")), 2)
	})
}

// slow is a cache in which it takes long to go through all classes.
type slow struct{ *house }

func (s slow) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, classes := list.(*v1beta1.ServiceClassList); classes {
		<-time.After(2 * time.Second)
	}
	return s.house.List(ctx, list, options...)
}

func TestReportsThatFailAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		answer error
		tries  int
	}{
		"Unreachable": {"it comes back: after 2, 4, 8, 16, 32 and 60 seconds", errors.New("connection refused"), 6},
		"Forbidden":   {"rights are given", status(403, metav1.StatusReasonForbidden), 6},
		"Gone":        {"there is nothing to report on", status(404, metav1.StatusReasonNotFound), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(market(), policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType})), func(ctx context.Context, h *house) {
				refusal := tc.answer
				options := h.options()
				options.Client = unwilling{h, &refusal}
				h.keep(ctx, options)
				h.pass(2*time.Minute + time.Second)
				assert.Len(t, h.written("ProvisioningPolicy", "no-mysql"), tc.tries, tc.reason)

				refusal = nil
				require.NoError(t, updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Labels = map[string]string{"tier": "gold"} })(ctx, h))
				h.pass(time.Minute + time.Second)
				assert.EqualValues(t, 4, h.statusOf(ctx, denyMySQL()).Plans)
			})
		})
	}
}

// unwilling refuses writes of status while there is a refusal.
type unwilling struct {
	*house

	refusal *error
}

func (u unwilling) Status() client.SubResourceWriter { return unwillingWriter{u.house.Status(), u} }

type unwillingWriter struct {
	client.SubResourceWriter

	of unwilling
}

func (w unwillingWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if *w.of.refusal == nil {
		return w.SubResourceWriter.Patch(ctx, object, patch, options...)
	}
	w.of.countStatus(object)
	return *w.of.refusal
}

func TestACacheThatFailsIsReportedFromLater(t *testing.T) {
	t.Parallel()
	inHouse(t, append(market(), policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType})), func(ctx context.Context, h *house) {
		reader := &broken{house: h}
		reader.listing.Store(true)
		options := h.options()
		options.Client = reader
		said := &lines{}
		options.Log = said.logger()
		h.keep(ctx, options)
		h.pass(time.Minute)
		assert.Contains(t, said.all(), "policies not reported on; to be tried again")
		require.Empty(t, h.written("ProvisioningPolicy", "no-mysql"))
		reader.listing.Store(false)
		h.pass(time.Minute)
		assert.EqualValues(t, 4, h.statusOf(ctx, denyMySQL()).Plans)
	})
}
