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
				assert.Equal(t, tc.want, shown(t, column, tc.object))
			})
		}
	}
}

// shown is what a column shows of an object: the first result, as the API server takes it, if there is one.
func shown(t *testing.T, column string, object any) string {
	t.Helper()
	path := jsonpath.New("column").AllowMissingKeys(true)
	require.NoError(t, path.Parse("{"+column+"}"))
	results, err := path.FindResults(object)
	require.NoError(t, err)
	if len(results) == 0 || len(results[0]) == 0 {
		return ""
	}
	return results[0][0].Interface().(string)
}

// TestClassColumn: kubectl shows the class of a plan in words, as far as the relist wrote them.
func TestClassColumn(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for plural, ref := range map[string]string{"clusterserviceplans": "clusterServiceClassRef", "serviceplans": "serviceClassRef"} {
		column, spec := columnPath(t, plural, "Class"), object{ref: object{"name": "class-id"}}
		for name, tc := range map[string]struct {
			metadata object
			want     string
		}{
			"ByCatalog":   {object{"name": "plan-id", "annotations": object{"name": "x", AnnotationClassName: "azure-mysql"}}, "azure-mysql"},
			"UserDefined": {object{"name": "plan-id", "annotations": object{AnnotationDefaultPlan: "true"}}, "class-id"},
			"NoneAtAll":   {object{"name": "plan-id"}, "class-id"},
		} {
			t.Run(plural+name, func(t *testing.T) {
				t.Parallel()
				assert.Equal(t, tc.want, shown(t, column, object{"kind": "K", "metadata": tc.metadata, "spec": spec, "status": object{}}))
				assert.Equal(t, "class-id", shown(t, columnPath(t, plural, "Class-ID"), object{"metadata": tc.metadata, "spec": spec}))
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
