package get

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

func TestWantedInstances(t *testing.T) {
	t.Parallel()
	row := &instanceRow{serviceType: "mysql", class: "azure-mysql", classRef: "id-c", plan: "small", planRef: "id-p"}
	cases := map[string]struct {
		reason string
		flags  claimFlags
		want   bool
	}{
		"All":          {reason: "no flag, no filter", want: true},
		"Type":         {reason: "of the type", flags: claimFlags{serviceType: "mysql"}, want: true},
		"OtherType":    {reason: "of another", flags: claimFlags{serviceType: "redis"}},
		"Class":        {reason: "by its external name", flags: claimFlags{class: "azure-mysql"}, want: true},
		"ClassRef":     {reason: "by its Kubernetes name", flags: claimFlags{class: "id-c"}, want: true},
		"Plan":         {reason: "by its name alone", flags: claimFlags{plan: "small"}, want: true},
		"ClassAndPlan": {reason: "as the tables of plans write it", flags: claimFlags{plan: "azure-mysql/small"}, want: true},
		"Refs":         {reason: "by Kubernetes names", flags: claimFlags{plan: "id-c/id-p"}, want: true},
		"OtherClass":   {reason: "a plan called so of another class", flags: claimFlags{plan: "other/small"}},
		"OtherPlan":    {reason: "another plan of the class", flags: claimFlags{plan: "azure-mysql/large"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.flags.wants(row), tc.reason)
		})
	}
}

// TestMissingRight: what is left out, why, and the command that helps.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "not shown: the cluster's plans: you may not list clusterserviceplans; an administrator grants it: "+
		"kubectl create clusterrolebinding servicecatalog-view-ann --clusterrole=servicecatalog-view --user=ann",
		missingRight(catalog.Place{Cluster: true}, "plans", "clusterserviceplans", "ann"))
	assert.Equal(t, `not shown: the plans of namespace "dev": you may not list serviceplans there (--cluster does not ask for them); an administrator grants it: `+
		"kubectl create rolebinding servicecatalog-view-ann --namespace=dev --clusterrole=servicecatalog-view --user=ann",
		missingRight(catalog.Place{Namespaces: true, Namespace: "dev"}, "plans", "serviceplans", "ann"))
	assert.Contains(t, missingRight(catalog.Place{Namespaces: true}, "plans", "serviceplans", "ann"), "kubectl create clusterrolebinding ")
}
