package attacks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestCredentialsThatGrow: transforms that each multiply what is there, and expressions
// that look at everything over and over, end their own binding and no other. They took
// the controller's memory, and again after each restart.
func TestCredentialsThatGrow(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	i := c.CreateInstance("mine", env.OfPlan(c.Name("db"), "small"))
	c.Ready(i)
	add := func(n int, expression string) env.BindingEdit {
		return func(b *api.ServiceBinding) {
			for k := range n {
				b.Spec.SecretTransforms = append(b.Spec.SecretTransforms, api.SecretTransform{
					AddKey: &api.AddKeyTransform{Key: fmt.Sprintf("k%d", k), JSONPathExpression: &expression},
				})
			}
		}
	}
	for name, tc := range map[string]struct {
		edit env.BindingEdit
		says string
	}{
		"grows":  {edit: add(256, strings.Repeat("{$}", 1000)), says: "the credentials would be larger than a Secret may be, which is 1048576 bytes: add less"},
		"visits": {edit: add(1, strings.Repeat("{range ['uri','uri','uri','uri','uri','uri','uri','uri']}", 60)+strings.Repeat("{end}", 60)), says: "the jsonPathExpression may look at more than"},
	} {
		b := c.Binding(name, "mine", tc.edit)
		require.NoError(t, c.try(b), name)
		c.Becomes(b, func() bool { return strings.Contains(env.ConditionOf(b, api.ConditionReady).Message, tc.says) })
		assert.Equal(t, api.ConditionFalse, env.ConditionOf(b, api.ConditionReady).Status, name)
	}
	good := c.Binding("good", "mine", add(1, "{.uri}"))
	c.Create(good)
	c.Ready(good)
}
