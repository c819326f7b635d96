package osbtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestPeaks: what existed for a moment counts, no matter which call made it.
func TestPeaks(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	to := func(plan string) func(*request) { return func(r *request) { r.body["plan_id"] = plan } }
	p.must(201, provision("i"))
	all, large := p.broker.Peak("small", "large"), p.broker.Peak("large")
	assert.Equal(t, 1, all(), "what was there before")
	p.must(201, provision("j"))
	p.must(200, update("j").with(to("large")))
	p.must(200, deprovision("j").with(func(r *request) { r.query.Set("plan_id", "large") }))
	p.must(200, deprovision("i"))
	assert.Equal(t, 2, all())
	assert.Equal(t, 1, large())
	p.broker.Async(osbtest.Provision, -1)
	p.must(202, provision("k").with(to("large")))
	p.broker.Add(osbtest.Instance{ID: "l", PlanID: "large"})
	assert.Equal(t, 2, large(), "what is being made, and what no call made")
}

// TestPeakOfBindings: those that are being made count, and those that are gone by now.
func TestPeakOfBindings(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.must(201, provision("i"))
	most := p.broker.PeakBindings()
	assert.Zero(t, most())
	p.must(201, bind("i", "a"))
	p.must(200, unbind("i", "a"))
	assert.Equal(t, 1, most())
	p.broker.Async(osbtest.Bind, -1)
	p.must(202, bind("i", "b"))
	p.must(202, bind("i", "c"))
	assert.Equal(t, 2, most())
}
