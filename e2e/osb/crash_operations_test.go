package osb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A crashOperation is what a controller is killed at.
type crashOperation struct {
	reason string
	// variant is an operation of which the short form plays the moments inDoubt only.
	variant bool
	// class is that of the instance: open can be asked for what it has, shut cannot.
	class string
	// resource is that whose status tells of the operation.
	resource string
	options  osbtest.Options
	// prepare makes what there is before, begin asks for the operation.
	prepare, begin func(c *crash)
	// meanwhile is what the user does when the controller is dead; nil: nothing.
	meanwhile func(c *crash)
	moments   crashMoments
}

const (
	openClass = "open"
	shutClass = "shut"

	ofInstances = "serviceinstances"
	ofBindings  = "servicebindings"
)

// catalogFor has a class of either kind, with names and IDs that no other broker has.
func catalogFor(suffix string) []byte {
	const service = `{"id": "%[1]s-%[2]s", "name": "%[1]s-%[2]s", "description": "d", "bindable": true, "plan_updateable": true,
		"instances_retrievable": %[3]t, "bindings_retrievable": %[3]t, "plans": [
		{"id": "%[1]s-small-%[2]s", "name": "small", "description": "d"}, {"id": "%[1]s-large-%[2]s", "name": "large", "description": "d"}]}`
	return fmt.Appendf(nil, `{"services": [%s, %s]}`, fmt.Sprintf(service, openClass, suffix, true), fmt.Sprintf(service, shutClass, suffix, false))
}

// A crash is an environment in which the controller is killed, with a broker of its own, an
// instance and a binding.
type crash struct {
	*testEnv

	stack      *crashStack
	operation  crashOperation
	broker     *osbtest.Broker
	registered *api.ClusterServiceBroker
	instance   *api.ServiceInstance
	binding    *api.ServiceBinding
}

func newCrash(t *testing.T, g *crashStack, o crashOperation) *crash {
	t.Helper()
	c := &crash{testEnv: newEnvOn(t, g.Stack), stack: g, operation: o}
	o.options.Catalog, o.options.Crashes = catalogFor(c.Suffix), true
	c.broker = osbtest.Start(t, o.options)
	t.Cleanup(c.tell)
	c.registered = c.Register(c.broker)
	c.instance = c.Instance("db", env.OfPlan(o.class+"-"+c.Suffix, "small"))
	c.instance.Spec.Parameters = env.RawJSON(`{"size": 1}`)
	c.binding = c.Binding("db-reader", "db")
	o.prepare(c)
	return c
}

func nothingBefore(*crash) {}

// wasProvisioned: there is an instance.
func wasProvisioned(c *crash) {
	c.Create(c.instance)
	c.Ready(c.instance)
}

// wasBound: there is an instance, and a binding to it.
func wasBound(c *crash) {
	wasProvisioned(c)
	c.Create(c.binding)
	c.Ready(c.binding)
}

func toProvision(c *crash) { c.Create(c.instance) }
func toBind(c *crash)      { c.Create(c.binding) }
func toUnbind(c *crash)    { c.Delete(c.binding) }

func toDeprovision(c *crash) { c.Delete(c.instance) }

// toUpdate changes the plan and the parameters.
func toUpdate(c *crash) {
	c.change(c.instance, `{"spec": {"clusterServicePlanExternalName": "large", "parameters": {"size": 2}}}`)
}

// toResize changes the parameters.
func toResize(c *crash) { c.change(c.instance, `{"spec": {"parameters": {"size": 2}}}`) }

// toResizeAgain changes the parameters to others.
func toResizeAgain(c *crash) { c.change(c.instance, `{"spec": {"parameters": {"size": 3}}}`) }

// change applies a merge patch, as it is written.
func (c *crash) change(o client.Object, patch string) {
	c.Helper()
	require.NoError(c, c.Client().Patch(c.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// takingPolls are options with which calls of the verbs are asynchronous.
func takingPolls(polls int, verbs ...osbtest.Verb) func(c *crash) {
	return func(c *crash) {
		for _, verb := range verbs {
			c.broker.Async(verb, polls)
		}
	}
}

// failingOnce has the next call of a verb fail after it was acted on.
func failingOnce(verb osbtest.Verb) func(c *crash) {
	return func(c *crash) { c.broker.Next(verb, osbtest.Status(500, "{}").Acting()) }
}

// inTurn does one thing after the other.
func inTurn(steps ...func(c *crash)) func(c *crash) {
	return func(c *crash) {
		for _, step := range steps {
			step(c)
		}
	}
}

// endAll has the broker end whatever it works on.
func (c *crash) endAll() {
	for _, id := range c.broker.Running() {
		c.broker.Finish(id)
	}
}

// tell logs the calls of a crash that went wrong, without what they held.
func (c *crash) tell() {
	if !c.Failed() {
		return
	}
	for _, call := range c.broker.Calls() {
		c.Logf("call %d at %s: %s of %s/%s: acted %t, answered %d, %s (%s)", call.N, call.Began.Format("05.000"), call.Verb,
			call.InstanceID, call.BindingID, call.Acted, call.Status, call.Outcome, call.Fault)
	}
}
