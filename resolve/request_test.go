package resolve_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/resolve"
)

// TestValidate: what the API server must not be asked for is refused before a catalog is read.
func TestValidate(t *testing.T) {
	t.Parallel()
	byName, byExternalName := resolve.ByName, resolve.ByExternalName
	for name, tc := range map[string]struct {
		reason  string
		request resolve.Request
		want    string
	}{
		"Type":          {"as the schema has it", resolve.Request{Type: "my-sql8"}, ""},
		"TypeSlash":     {"it would be a path of the API server's", resolve.Request{Type: "my/sql"}, `InvalidReference spec.serviceType: at most 63`},
		"TypeUpper":     {"another case", resolve.Request{Type: "MySQL"}, `InvalidReference spec.serviceType: did you mean "mysql"?`},
		"TypeLong":      {"longer than the schema's", resolve.Request{Type: strings.Repeat("x", 64)}, "InvalidReference spec.serviceType: at most 63"},
		"ClassName":     {"a name of an object", resolve.Request{Class: resolve.Named{By: byName, Value: "b.c-1"}}, ""},
		"ClassDots":     {"another path", resolve.Request{Class: resolve.Named{By: byName, Value: ".."}}, "InvalidReference spec.clusterServiceClassName: at most 253"},
		"ClassExternal": {"an external name is a value, whatever it holds", resolve.Request{Class: resolve.Named{By: byExternalName, Value: "a/b"}}, ""},
		"PlanSlash": {
			"in a namespace too", resolve.Request{Namespace: "dev", Namespaced: true, Class: resolve.Named{By: byName, Value: "c"}, Plan: resolve.Named{By: byName, Value: "a/b"}},
			"InvalidReference spec.servicePlanName: at most 253",
		},
		"SelectorBesidePlan": {
			"that it stands there is what is wrong, not that it is empty",
			resolve.Request{
				Class: resolve.Named{By: byExternalName, Value: "c"}, Plan: resolve.Named{By: byExternalName, Value: "p"},
				Selector: &metav1.LabelSelector{},
			}, "InvalidReference spec.planSelector: beside it",
		},
		"Selector": {
			"its size only", resolve.Request{Selector: &metav1.LabelSelector{MatchExpressions: requirements(resolve.MaxRequirements+1, 1)}},
			"InvalidSelector spec.planSelector: at most 64",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.request.Validate()
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			head, detail, _ := strings.Cut(tc.want, ": ")
			assert.Equal(t, head, refusal(t, err), tc.reason)
			assert.ErrorContains(t, err, detail, tc.reason)
		})
	}
}
