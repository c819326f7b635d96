package fairness_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// What the controller's flags leave to the brokers of one namespace by default.
const (
	callsOfANamespace   = 32
	fetchesOfANamespace = 3
)

// A crowd is a namespace with many brokers that hang at one verb.
type crowd struct {
	*env.Env

	brokers []*osbtest.Broker
}

// newCrowd starts so many brokers and makes them known to the namespace, once all of them run:
// on a busy machine the first would be asked long before the last.
func newCrowd(e *env.Env, count int, verb osbtest.Verb) *crowd {
	e.Helper()
	c := &crowd{Env: e}
	for n := range count {
		service := e.Service(e.Plan("small")).With("id", e.Name(fmt.Sprintf("db-id-%d", n))).With("name", className(e, n))
		service["plans"] = []env.Object{e.Plan("small").With("id", e.Name(fmt.Sprintf("small-id-%d", n)))}
		broker := e.StartBroker(osbtest.Options{Catalog: e.Catalog(service)})
		broker.On(func(call osbtest.Call) osbtest.Fault {
			if call.Verb == verb {
				return osbtest.Hang()
			}
			return osbtest.Fault{}
		})
		c.brokers = append(c.brokers, broker)
	}
	for n, broker := range c.brokers {
		registered := &api.ServiceBroker{ObjectMeta: e.Meta(fmt.Sprintf("broker-%d", n))}
		registered.Spec.URL = broker.URL
		e.Create(registered)
	}
	return c
}

func className(e *env.Env, n int) string { return e.Name(fmt.Sprintf("db-%d", n)) }

// hanging is how many calls of a verb are under way, and how many are over.
func (c *crowd) hanging(verb osbtest.Verb) (under, over int) {
	for _, broker := range c.brokers {
		for _, call := range broker.Calls(osbtest.Of(verb)) {
			if call.Ended.IsZero() {
				under++
			} else {
				over++
			}
		}
	}
	return under, over
}

// hangs waits until so many calls of a verb are under way.
func (c *crowd) hangs(verb osbtest.Verb, want int) {
	c.Helper()
	c.Eventually(func() (bool, error) {
		under, over := c.hanging(verb)
		if under == want {
			return true, nil
		}
		return false, fmt.Errorf("%d calls are under way, and %d over", under, over)
	})
}

// TestHangingBrokers: the brokers of one namespace hang, with more instances than the
// controller makes calls. Another tenant's instances are provisioned meanwhile, at the
// cluster's broker and at one of its own.
func TestHangingBrokers(t *testing.T) {
	const brokers, instances = 12, 4 // more together than workers, and than the share
	mallory := env.New(t)
	c := newCrowd(mallory, brokers, osbtest.Provision)
	for n := range brokers {
		registered := &api.ServiceBroker{ObjectMeta: mallory.Meta(fmt.Sprintf("broker-%d", n))}
		c.Ready(registered)
		for k := range instances {
			c.CreateInstance(fmt.Sprintf("mine-%d-%d", n, k), env.OfLocalPlan(className(mallory, n), "small"))
		}
	}
	c.hangs(osbtest.Provision, callsOfANamespace)

	alice := env.New(t)
	catalog := osbtest.Options{Catalog: alice.Catalog(alice.Service(alice.Plan("small")))}
	alice.Register(alice.StartBroker(catalog))
	alice.RegisterLocally(alice.StartBroker(catalog))
	wanted := alice.CreateInstance("theirs", env.OfPlan(alice.Name("db"), "small"))
	local := alice.CreateInstance("own", env.OfLocalPlan(alice.Name("db"), "small"))
	alice.Ready(wanted, local)
	binding := alice.Binding("creds", "theirs")
	alice.Create(binding)
	alice.Ready(binding)

	under, over := c.hanging(osbtest.Provision)
	assert.Equal(t, callsOfANamespace, under, "no more than their share")
	assert.Zero(t, over, "what was provisioned did not wait for what hangs")
}

// TestSilentCatalogs: brokers of one namespace do not answer for their catalogs. Another
// tenant's broker is Ready meanwhile.
func TestSilentCatalogs(t *testing.T) {
	const brokers = 12
	c := newCrowd(env.New(t), brokers, osbtest.GetCatalog)
	c.hangs(osbtest.GetCatalog, fetchesOfANamespace)

	alice := env.New(t)
	alice.RegisterLocally(alice.StartBroker(osbtest.Options{Catalog: alice.Catalog(alice.Service(alice.Plan("small")))}))

	under, over := c.hanging(osbtest.GetCatalog)
	assert.LessOrEqual(t, under, fetchesOfANamespace, "no more than their share")
	assert.Less(t, under+over, brokers, "it did not wait for all of them")
}
