package catalog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestNameError(t *testing.T) {
	t.Parallel()
	many := make([]string, 23)
	for i := range many {
		many[i] = fmt.Sprintf("p%02d", i)
	}
	cases := map[string]struct {
		reason string
		err    catalog.NameError
		want   string
	}{
		"Misspelt": {
			reason: "what was meant is said first, then what there is",
			err:    catalog.NameError{Kind: "plan", Name: "smal", Where: "class redis", Known: []string{"large", "small"}},
			want:   `no plan "smal" in class redis; did you mean small? plans: large, small`,
		},
		"Other": {
			reason: "nothing is guessed that is not near",
			err:    catalog.NameError{Kind: "class", Name: "mongodb", Where: "the cluster", Known: []string{"mysql", "redis"}},
			want:   `no class "mongodb" in the cluster; classes: mysql, redis`,
		},
		"None": {
			reason: "an empty list is said", err: catalog.NameError{Kind: "class", Name: "mysql", Where: `namespace "dev"`},
			want: `no class "mysql" in namespace "dev"; there are no classes`,
		},
		"Many": {
			reason: "a list has an end", err: catalog.NameError{Kind: "plan", Name: "gigantic", Where: "class c", Known: many},
			want: `no plan "gigantic" in class c; plans: p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19 and 3 more`,
		},
		"Classes": {
			reason: "people know a class sooner than a Kubernetes name",
			err:    catalog.NameError{Kind: "plan", Name: "small", Where: "the cluster", Fits: []string{"s1", "s2"}, Within: []string{"mysql/small", "redis/small"}},
			want:   `2 plans are called "small" in the cluster; name one as CLASS/PLAN: mysql/small, redis/small`,
		},
		"Forged": {
			reason: "what a broker calls its plans makes no line, and steers no terminal",
			err:    catalog.NameError{Kind: "plan", Name: "small", Where: "class a\n\tb", Known: []string{"large\x1b[2J\u009b\u202e", "sma\tll"}},
			want:   "no plan \"small\" in class a b; did you mean sma ll? plans: large\ufffd[2J\ufffd\ufffd, sma ll",
		},
		"ForgedTwice": {
			reason: "also where several fit",
			err:    catalog.NameError{Kind: "plan", Name: "small", Where: "the cluster", Fits: []string{"s1", "s2"}, Within: []string{"my\tsql/small", "re\x1bdis\n/small"}},
			want:   "2 plans are called \"small\" in the cluster; name one as CLASS/PLAN: my sql/small, re\ufffddis /small",
		},
		"Several": {
			reason: "a name of several needs another name",
			err:    catalog.NameError{Kind: "plan", Name: "small", Where: "the cluster", Fits: []string{"dev/s1", "s2"}},
			want:   `2 plans are called "small" in the cluster; name one by its Kubernetes name (--kube-name): dev/s1, s2`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.EqualError(t, &tc.err, tc.want, tc.reason)
		})
	}
}

func TestScopeInASentence(t *testing.T) {
	t.Parallel()
	for want, scope := range map[string]cli.Scope{
		"the cluster":                     {Cluster: true, Namespace: "dev"},
		"the cluster and its namespaces":  {Cluster: true, Namespaces: true},
		`the cluster and namespace "dev"`: {Cluster: true, Namespaces: true, Namespace: "dev"},
		`namespace "dev"`:                 {Namespaces: true, Namespace: "dev"},
		"any namespace":                   {Namespaces: true},
	} {
		assert.Equal(t, want, scope.String())
	}
}
