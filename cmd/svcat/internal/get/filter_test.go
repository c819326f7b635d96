package get

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestWantedInstances(t *testing.T) {
	t.Parallel()
	row := &instanceRow{serviceType: "mysql", class: "azure-mysql", classRef: "id-c", plan: "small", planRef: "id-p"}
	cases := map[string]struct {
		reason string
		flags  flags
		want   bool
	}{
		"All":          {reason: "no flag, no filter", want: true},
		"Type":         {reason: "of the type", flags: flags{serviceType: "mysql"}, want: true},
		"OtherType":    {reason: "of another", flags: flags{serviceType: "redis"}},
		"Class":        {reason: "by its external name", flags: flags{class: "azure-mysql"}, want: true},
		"ClassRef":     {reason: "by its Kubernetes name", flags: flags{class: "id-c"}, want: true},
		"Plan":         {reason: "by its name alone", flags: flags{plan: "small"}, want: true},
		"ClassAndPlan": {reason: "as the tables of plans write it", flags: flags{plan: "azure-mysql/small"}, want: true},
		"Refs":         {reason: "by Kubernetes names", flags: flags{plan: "id-c/id-p"}, want: true},
		"OtherClass":   {reason: "a plan called so of another class", flags: flags{plan: "other/small"}},
		"OtherPlan":    {reason: "another plan of the class", flags: flags{plan: "azure-mysql/large"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, (&instanceList{tc.flags}).wantsInstance(row), tc.reason)
		})
	}
}

// TestInstancesOfType: by the type that was asked for, and by that of the plan.
func TestInstancesOfType(t *testing.T) {
	t.Parallel()
	instance := func(name, asked, has string) client.Object {
		return &v1beta1.ServiceInstance{
			ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: name},
			Spec:       v1beta1.ServiceInstanceSpec{ServiceType: asked}, Status: v1beta1.ServiceInstanceStatus{ServiceType: has},
		}
	}
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	field := func(of func(*v1beta1.ServiceInstance) string) client.IndexerFunc {
		return func(o client.Object) []string { return []string{of(o.(*v1beta1.ServiceInstance))} }
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).
		WithIndex(&v1beta1.ServiceInstance{}, v1beta1.FieldServiceType, field(func(i *v1beta1.ServiceInstance) string { return i.Spec.ServiceType })).
		WithIndex(&v1beta1.ServiceInstance{}, v1beta1.FieldStatusServiceType, field(func(i *v1beta1.ServiceInstance) string { return i.Status.ServiceType })).
		WithObjects(instance("asked", "mysql", ""), instance("named", "", "mysql"),
			instance("other", "redis", "redis"), instance("none", "", "")).Build()
	names := func(f flags) (names []string) {
		rows, err := (&instanceList{f}).rows(t.Context(), reader, cli.Scope{Namespaces: true}, nil)
		require.NoError(t, err)
		for _, row := range rows {
			names = append(names, row.name)
		}
		return names
	}
	assert.Equal(t, []string{"asked", "named"}, names(flags{serviceType: "mysql"}))
	assert.Len(t, names(flags{}), 4)
}

// TestMissingRight: what is left out, why, and the command that helps.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "not shown: the cluster's plans: you may not list clusterserviceplans; an administrator grants it: "+
		"kubectl create clusterrolebinding servicecatalog-catalog-view-ann --clusterrole=servicecatalog-catalog-view --user=ann",
		missingRight(cli.Scope{Cluster: true}, "plans", "clusterserviceplans", "ann"))
	assert.Equal(t, `not shown: the plans of namespace "dev": you may not list serviceplans there (--cluster does not ask for them); an administrator grants it: `+
		"kubectl create rolebinding servicecatalog-view-ann --namespace=dev --clusterrole=servicecatalog-view --user=ann",
		missingRight(cli.Scope{Namespaces: true, Namespace: "dev"}, "plans", "serviceplans", "ann"))
	assert.Contains(t, missingRight(cli.Scope{Namespaces: true}, "plans", "serviceplans", "ann"), "kubectl create clusterrolebinding ")
}
