package v1beta1

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/jsonpath"
)

// TestTypeColumn: kubectl shows the type that was asked for, else the one that the plan has.
func TestTypeColumn(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	spec, status := object{"serviceType": "mysql"}, object{"serviceType": "mariadb"}
	cases := map[string]struct {
		object object
		want   string
	}{
		"Asked":     {object{"spec": spec, "status": object{}}, "mysql"},
		"NoStatus":  {object{"spec": spec}, "mysql"},
		"Elsewhere": {object{"kind": "K", "metadata": object{"labels": status}, "spec": object{"parameters": status}}, ""},
		"ByPlan":    {object{"spec": object{}, "status": status}, "mariadb"},
		"NoneKnown": {object{"spec": object{}, "status": object{}}, ""},
	}
	for _, plural := range []string{"serviceinstances", "servicebindings"} {
		column := columnPath(t, plural, "Type")
		for name, tc := range cases {
			t.Run(plural+name, func(t *testing.T) {
				t.Parallel()
				// As the API server fills a column: the first result, if there is one.
				path := jsonpath.New("Type").AllowMissingKeys(true)
				require.NoError(t, path.Parse("{"+column+"}"))
				results, err := path.FindResults(tc.object)
				require.NoError(t, err)
				var shown string
				if len(results) > 0 && len(results[0]) > 0 {
					shown = results[0][0].Interface().(string)
				}
				assert.Equal(t, tc.want, shown)
			})
		}
	}
}

// columnPath is the JSON path of a resource's column.
func columnPath(t *testing.T, plural, name string) string {
	t.Helper()
	for _, column := range definition(t, plural).Spec.Versions[0].AdditionalPrinterColumns {
		if column.Name == name {
			return column.JSONPath
		}
	}
	require.Fail(t, "no such column", name)
	return ""
}
