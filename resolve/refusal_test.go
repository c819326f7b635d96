package resolve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		name   string
		known  []string
		want   string
	}{
		"Twist":      {reason: "two letters that changed places are two wrong ones", name: "mysq1l", known: []string{"redis", "mysql"}, want: "mysql"},
		"Case":       {reason: "case is no difference", name: "MySQL", known: []string{"mysql"}, want: "mysql"},
		"Far":        {reason: "more than a third is wrong", name: "mysql", known: []string{"redis", "mongodb"}, want: ""},
		"MuchLonger": {reason: "a name that only begins alike is another", name: "my", known: []string{"mysql-cluster"}, want: ""},
		"Tie":        {reason: "of equally near names the first by name is told, whatever the order", name: "sqlx", known: []string{"sqlb", "sqla"}, want: "sqla"},
		"Nearer":     {reason: "the nearest is told, not the first that is near", name: "postgres", known: []string{"postgrex1", "postgre"}, want: "postgre"},
		"ShortWord":  {reason: "a short word may have one wrong letter", name: "s", known: []string{"m"}, want: "m"},
		"None":       {reason: "nothing is known", name: "mysql"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, resolve.Nearest(test.name, test.known), test.reason)
			slices.Reverse(test.known)
			assert.Equal(t, test.want, resolve.Nearest(test.name, test.known), test.reason)
		})
	}
}

func TestNearType(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, request, catalog string
		types                    []string
		want                     string
	}{
		"Near": {
			reason: "a type that is nearly called so was meant", request: "dev: type=mysqll", catalog: "mysql/db: a*", types: []string{"mysql", "redis"},
			want: `cannot resolve spec.serviceType "mysqll": no plan is of that type; did you mean "mysql"?`,
		},
		"Far": {
			reason: "others are not listed", request: "dev: type=mysqll", catalog: "redis/db: a*", types: []string{"redis"},
			want: `cannot resolve spec.serviceType "mysqll": no plan is of that type`,
		},
		"Itself": {
			reason: "what was asked for is no advice", request: "dev: type=mysql", catalog: "redis/db: a*", types: []string{"mysql"},
			want: `cannot resolve spec.serviceType "mysql": no plan is of that type`,
		},
		"TooLong": {
			reason: "what no type can be called is not compared", request: "dev: type=" + strings.Repeat("x", 64), catalog: "redis/db: a*",
			types: []string{strings.Repeat("x", 63)},
			want:  `cannot resolve spec.serviceType "` + strings.Repeat("x", 64) + `": no plan is of that type`,
		},
		"Known": {
			reason: "the type is there, and has plans", request: "dev: type=mysql", catalog: "mysql/db: a b", types: []string{"mysqll"},
			want: `cannot resolve spec.serviceType "mysql": no plan of that type is a default or suggestion that can be chosen (2 in all): db/a (cluster) is not the default; db/b (cluster) is not the default`,
		},
		"Class": {
			reason: "a class is no type", request: "dev: class=mysqll", catalog: "mysql/db: a*", types: []string{"mysql"},
			want: `cannot resolve spec.clusterServiceClassExternalName "mysqll": there is no such class in the cluster`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve.Plan(resolvetest.Request(t, test.request), resolvetest.Catalog(t, test.catalog))
			var refused *resolve.Error
			require.ErrorAs(t, err, &refused)
			if near := refused.NearType(test.types); near != "" {
				refused.SuggestType(near)
			}
			assert.EqualError(t, refused, test.want, test.reason)
		})
	}
}
