package fairness_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestRefusedPlan: a broker answers 503 to all that would provision one plan. Instances of it wait
// and say so, most of them without a call, and are provisioned once the plan is; another plan is
// provisioned meanwhile, and what is of the refused one already is removed.
func TestRefusedPlan(t *testing.T) {
	const instances = 40 // more than calls at once
	e := env.New(t)
	broker := e.StartBroker(osbtest.Options{Catalog: e.Catalog(e.Service(e.Plan("small"), e.Plan("large")))})
	e.Register(broker)
	before := e.CreateInstance("before", env.OfPlan(e.Name("db"), "small"))
	e.Ready(before)
	var served atomic.Bool
	refused := func(call osbtest.Call) bool {
		return call.Verb == osbtest.Provision && strings.Contains(string(call.Raw), e.PlanID("small"))
	}
	broker.On(func(call osbtest.Call) osbtest.Fault {
		if refused(call) && !served.Load() {
			return osbtest.Status(503, "{}")
		}
		return osbtest.Fault{}
	})
	var waiting []client.Object
	for n := range instances {
		waiting = append(waiting, e.CreateInstance(fmt.Sprintf("refused-%d", n), env.OfPlan(e.Name("db"), "small")))
	}
	for _, o := range waiting {
		i := o.(*api.ServiceInstance)
		e.Becomes(i, func() bool {
			held := env.ConditionOf(i, api.ConditionReconciling)
			return held.Reason == "BrokerUnavailable" && strings.Contains(held.Message, "429 or 503")
		})
	}
	other := e.CreateInstance("other", env.OfPlan(e.Name("db"), "large"))
	e.Ready(other)
	e.Delete(before)
	e.Gone(before)

	calls := 0
	for _, call := range broker.Calls(osbtest.Of(osbtest.Provision)) {
		if call.Status == 503 {
			calls++
		}
	}
	assert.Less(t, calls, instances, "one finds out for all")
	served.Store(true)
	e.Ready(waiting...)
}
