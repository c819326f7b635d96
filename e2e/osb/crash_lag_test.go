package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// lagsBehind has the controller look at an instance and a binding as they were before
// anything was done: it acts on neither, because what it would do it writes first.
func (g *crashStack) lagsBehind(t *testing.T) {
	c := newCrash(t, g, crashOperation{class: openClass, resource: ofInstances, prepare: nothingBefore})
	intent := g.proxy.Hold(c.own(intends))
	c.Create(c.instance)
	arrivesAt(t, intent.Arrived, "the controller never began")
	catchUp := g.proxy.Lag(ofInstances, ofBindings)
	intent.Apply()
	intent.Answer()
	c.Ready(c.instance)
	stale := g.proxy.Hold(c.own(func(c *crash, w *apiproxy.Write) bool { return w.Resource == ofInstances }))
	c.lookAgain()
	arrivesAt(t, stale.Arrived, "the controller never looked again")
	assert.True(t, intends(c, stale.Write()), "it believes that nothing was done")
	stale.Apply()
	stale.Answer()
	arrivesAt(t, stale.Applied, "the stale write was never answered")
	catchUp()
	c.Ready(c.instance)
	assert.Len(t, c.broker.Calls(osbtest.Of(osbtest.Provision)), 1)
	c.Create(c.binding)
	c.ends()
	assert.Len(t, c.broker.Calls(osbtest.Of(osbtest.Provision)), 1)
}

// lookAgain changes the plan's object, which has its instances looked at.
func (c *crash) lookAgain() {
	c.Helper()
	plan := &api.ClusterServicePlan{}
	plan.Name = c.instance.Spec.ClusterServicePlanRef.Name
	c.Get(plan)
	patch := client.MergeFrom(plan.DeepCopy())
	plan.Annotations = map[string]string{"example.com/looked": "again"}
	require.NoError(c, c.Client().Patch(c.Context(), plan, patch))
}

// outlivesAbsence has the API server be away while outcomes and a Secret are to be
// stored: nothing is forgotten, and nothing asked for twice.
func (g *crashStack) outlivesAbsence(t *testing.T) {
	c := newCrash(t, g, crashOperation{class: shutClass, options: osbtest.Options{OneShot: true}, prepare: nothingBefore})
	for _, one := range []struct {
		verb   osbtest.Verb
		begin  func(c *crash)
		object client.Object
	}{
		{osbtest.Provision, toProvision, c.instance}, {osbtest.Update, toUpdate, c.instance}, {osbtest.Bind, toBind, c.binding},
	} {
		held := c.broker.Hold(one.verb)
		one.begin(c)
		arrivesAt(t, held.Arrived, "the call never came")
		enough, back := g.proxy.Away(3)
		held.Act()
		held.Answer()
		arrivesAt(t, enough, "the outcome was not tried to be stored again")
		back()
		c.Ready(one.object)
		assert.Len(t, c.broker.Calls(osbtest.Of(one.verb)), 1, one.verb)
	}
	c.ends()
	assert.Len(t, c.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
}
