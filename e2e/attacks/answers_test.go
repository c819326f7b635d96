package attacks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestTinyElements: a namespace's broker sends what is three bytes an element and hundreds in memory. Its catalog and its
// bindings fail; they took the controller's memory, and again after each restart.
func TestTinyElements(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	huge := osbtest.Start(t, osbtest.Options{Catalog: []byte(`{"services":[{"id":"s","name":"s","bindable":true,"plans":[` + strings.Repeat("{},", 1_000_000) + `{}]}]}`)})
	own := &api.ServiceBroker{ObjectMeta: c.Meta("huge")}
	own.Spec.URL = huge.URL
	require.NoError(t, c.try(own))
	c.Becomes(own, func() bool { // a busy machine may not send so much in time at first
		return strings.Contains(env.ConditionOf(own, api.ConditionReady).Message, "its lists and objects have more than 300000 members")
	})

	many := osbtest.Start(t, osbtest.Options{Catalog: osbtest.GeneratedCatalog(1, 10_001)})
	own = &api.ServiceBroker{ObjectMeta: c.Meta("many")}
	own.Spec.URL = many.URL
	require.NoError(t, c.try(own))
	c.Becomes(own, func() bool {
		return strings.Contains(env.ConditionOf(own, api.ConditionReady).Message, "services has more than 10000 plans")
	})
	assert.Equal(t, "ErrorFetchingCatalog", env.ConditionOf(own, api.ConditionReady).Reason)

	i := c.CreateInstance("mine", env.OfPlan(c.Name("db"), "small"))
	c.Ready(i)
	c.broker.SetEndpoints(func(osbtest.Binding) []map[string]any { return make([]map[string]any, 500_000) })
	b := c.Binding("creds", "mine")
	require.NoError(t, c.try(b))
	c.Becomes(b, func() bool {
		return strings.Contains(env.ConditionOf(b, api.ConditionReady).Message, "its lists and objects have more than 100000 members")
	})
	c.broker.SetEndpoints(nil)
	c.Ready(b)
}
