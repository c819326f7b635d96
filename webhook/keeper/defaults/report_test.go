package defaults

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What is zero is written out, or the columns of `kubectl get` would be empty; what
// is not there any more goes.
func TestAStatusIsWrittenWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		given  v1beta1.ServiceTypeStatus
		want   string
	}{
		"Empty": {
			reason: "0 and false are said, the rest is taken away",
			given:  v1beta1.ServiceTypeStatus{ObservedGeneration: 1},
			want:   `{"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":1,"plans":0,"resolvable":false,"confirmed":null,"defaultPlan":null,"suggestedPlan":null}}`,
		},
		"Full": {
			reason: "as it is",
			given:  v1beta1.ServiceTypeStatus{ObservedGeneration: 2, Confirmed: true, Plans: 3, DefaultPlan: "a/b", SuggestedPlan: "a/c", Resolvable: true},
			want:   `{"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":2,"plans":3,"resolvable":true,"confirmed":true,"defaultPlan":"a/b","suggestedPlan":"a/c"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patch, err := statusPatch("7", tc.given)
			require.NoError(t, err)
			assert.JSONEq(t, tc.want, string(patch), tc.reason)
		})
	}
}
