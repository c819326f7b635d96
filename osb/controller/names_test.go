package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

// Columns show the class and the plan in words: their external names, or else what is known of them.
func TestNamesOfInstance(t *testing.T) {
	t.Parallel()
	decided := func(class, plan string) *catalog.Offering {
		o := &catalog.Offering{Class: &v1beta1.CommonServiceClassSpec{ExternalName: class}, Plan: &v1beta1.CommonServicePlanSpec{}, PlanName: plan, PlanRefName: "plan-id"}
		o.Offer.Class.Kubernetes = "class-id"
		return o
	}
	lost := decided("", "small")
	lost.Offer.Class.Kubernetes = ""
	for name, test := range map[string]struct {
		reason      string
		ref         v1beta1.PlanReference
		before      [2]string
		offering    *catalog.Offering
		class, plan string
	}{
		"NothingYet":   {reason: "a type only, and undecided"},
		"ByType":       {reason: "the user named neither", offering: decided("mysql", "small"), class: "mysql", plan: "small"},
		"ByIDs":        {reason: "words, whatever they were named by", ref: v1beta1.PlanReference{ClusterServiceClassExternalID: "id", ClusterServicePlanName: "p"}, offering: decided("mysql", "small"), class: "mysql", plan: "small"},
		"Changed":      {reason: "another plan", before: [2]string{"mysql", "large"}, offering: decided("mysql", "small"), class: "mysql", plan: "small"},
		"Older":        {reason: "as an older release or the retired catalog wrote it", before: [2]string{"ClusterServiceClass/mysql", "p"}, offering: decided("mysql", "small"), class: "mysql", plan: "small"},
		"NoWords":      {reason: "they have no external names", offering: decided("", ""), class: "class-id", plan: "plan-id"},
		"LostClass":    {reason: "it had that name", before: [2]string{"mysql", "small"}, offering: lost, class: "mysql", plan: "small"},
		"LostByID":     {reason: "words, whatever it was named by", ref: v1beta1.PlanReference{ClusterServiceClassExternalID: "id"}, before: [2]string{"mysql", "small"}, offering: lost, class: "mysql", plan: "small"},
		"Gone":         {reason: "nothing tells of other names", before: [2]string{"mysql", "small"}, class: "mysql", plan: "small"},
		"Undecided":    {reason: "what the user waits for", ref: v1beta1.PlanReference{ClusterServiceClassExternalName: "mysql", ClusterServiceClassExternalID: "id", ClusterServicePlanExternalName: "small"}, class: "mysql", plan: "small"},
		"UndecidedIDs": {reason: "as they were named", ref: v1beta1.PlanReference{ClusterServiceClassExternalID: "id", ClusterServicePlanExternalID: "p"}, class: "id", plan: "p"},
		"UndecidedK8s": {reason: "as they were named", ref: v1beta1.PlanReference{ClusterServiceClassName: "k", ClusterServicePlanName: "p"}, class: "k", plan: "p"},
		"Local":        {reason: "of the namespace", ref: v1beta1.PlanReference{ServiceClassExternalName: "mysql", ServicePlanExternalName: "small"}, class: "mysql", plan: "small"},
		"Forged":       {reason: "a name stays in its column", offering: decided("my\tsql", "small\tTrue\nProvisioned"), class: "my sql", plan: "small True Provisioned"},
		"LocalByName":  {reason: "as they were named", ref: v1beta1.PlanReference{ServiceClassName: "k", ServicePlanName: "p"}, class: "k", plan: "p"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := &v1beta1.ServiceInstance{}
			instance.Spec.PlanReference = test.ref
			status := &instance.Status
			status.UserSpecifiedClassName, status.UserSpecifiedPlanName = test.before[0], test.before[1]
			(&instanceResource{instance: instance, offering: test.offering}).describe(status)
			assert.Equal(t, test.class, status.UserSpecifiedClassName, test.reason)
			assert.Equal(t, test.plan, status.UserSpecifiedPlanName, test.reason)
		})
	}
}

// An instance says in status, in words, of which class and plan it is: with the writes of its
// provisioning.
func TestStatusSaysTheNames(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	w.reconciled()
	made := w.instance()
	require.Equal(t, v1beta1.Provisioned, made.Status.ProvisionStatus)
	assert.Equal(t, [2]string{"mysql", "small"}, [2]string{made.Status.UserSpecifiedClassName, made.Status.UserSpecifiedPlanName})
	w.reconciled()
	assert.Equal(t, made.ResourceVersion, w.instance().ResourceVersion, "at rest nothing is written")

	w.upgraded()
	w.reconciled()
	again := w.instance()
	assert.Equal(t, made.Status, again.Status, "what an older release wrote is replaced")
	w.reconciled()
	assert.Equal(t, again.ResourceVersion, w.instance().ResourceVersion, "once")
}

// upgraded has the names in status as an older release wrote them.
func (w *instanceWorld) upgraded() {
	w.Helper()
	older := w.instance()
	older.Status.UserSpecifiedClassName, older.Status.UserSpecifiedPlanName = "ClusterServiceClass/mysql", ""
	require.NoError(w, w.cache.Status().Update(w.Context(), older))
}

// next is the time until the pass after a pass.
func (w *instanceWorld) next() time.Duration {
	w.Helper()
	p, begun := w.reconciler.engine.brokers.Queues.Begin(queue.Item{Kind: "ServiceInstance", NamespacedName: w.at}, func(*queue.Pass) {})
	require.True(w, begun)
	defer p.End(nil)
	result, err := w.instances.Reconcile(queue.NewContext(w.Context(), p), reconcile.Request{NamespacedName: w.at})
	require.NoError(w, err)
	return result.RequeueAfter
}

// After an upgrade the names of all instances are written: one after the other, unless an instance
// is written anyway.
func TestNamesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	w.reconciled()
	made := w.instance().Status
	engine, clock := w.instances.engine, testclock.NewFakePassiveClock(time.Now())
	engine.clock, engine.names = clock, rate.NewLimiter(1, 1)
	for range 3 { // other instances came first
		engine.names.ReserveN(clock.Now(), 1)
	}

	w.upgraded()
	older := w.instance().Status
	assert.Equal(t, 3*time.Second, w.next())
	clock.SetTime(clock.Now().Add(time.Second))
	assert.Equal(t, 2*time.Second, w.next(), "it keeps its turn")
	assert.Equal(t, older, w.instance().Status)
	clock.SetTime(clock.Now().Add(2 * time.Second))
	assert.GreaterOrEqual(t, w.next(), time.Minute, "nothing waits any more")
	assert.Equal(t, made, w.instance().Status)

	w.upgraded()
	assert.Positive(t, w.next())
	changed := w.instance()
	changed.Generation++
	changed.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"b": 2}`)}
	require.NoError(t, w.cache.Update(t.Context(), changed))
	w.next()
	assert.Equal(t, made.UserSpecifiedPlanName, w.instance().Status.UserSpecifiedPlanName, "with the update's own writes")
}

func TestOnlyNames(t *testing.T) {
	t.Parallel()
	named, typed, busy := &v1beta1.ServiceInstance{}, &v1beta1.ServiceInstance{}, &v1beta1.ServiceInstance{}
	named.Status.UserSpecifiedClassName, named.Status.UserSpecifiedPlanName = "c", "p"
	typed.Status.ServiceType, busy.Status.CurrentOperation = "t", v1beta1.InstanceUpdate
	for name, tc := range map[string]struct {
		stored, next client.Object
		want         bool
	}{
		"Instance":     {&v1beta1.ServiceInstance{}, named, true},
		"InstanceMore": {busy, named, false},
		"Type":         {&v1beta1.ServiceInstance{}, typed, false},
		"Binding":      {&v1beta1.ServiceBinding{}, &v1beta1.ServiceBinding{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, onlyNames(tc.stored, tc.next))
		})
	}
}
