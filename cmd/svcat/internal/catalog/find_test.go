package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A name of several plans is told with what people tell them apart by.
func TestAmbiguousPlan(t *testing.T) {
	t.Parallel()
	class := func(name, external string) client.Object {
		c := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.ExternalName = external
		return c
	}
	plan := func(name, class string) client.Object {
		p := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
		p.Spec.ExternalName, p.Spec.ClusterServiceClassRef.Name = "small", class
		return p
	}
	const kubeNames = `2 plans are called "small" in the cluster; name one by its Kubernetes name (--kube-name): p1, p2`
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    string
	}{
		"Classes":   {"by their classes", []client.Object{class("c1", "mysql"), class("c2", "redis"), plan("p1", "c1"), plan("p2", "c2")}, `2 plans are called "small" in the cluster; name one as CLASS/PLAN: mysql/small, redis/small`},
		"SameClass": {"two brokers have a class of that name", []client.Object{class("c1", "mysql"), class("c2", "mysql"), plan("p1", "c1"), plan("p2", "c2")}, kubeNames},
		"NoClass":   {"a class is gone", []client.Object{class("c1", "mysql"), plan("p1", "c1"), plan("p2", "c2")}, kubeNames},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := runtime.NewScheme()
			require.NoError(t, v1beta1.AddToScheme(scheme))
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.objects...).
				WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldExternalName, func(o client.Object) []string {
					return []string{o.(*v1beta1.ClusterServicePlan).Spec.ExternalName}
				}).Build()
			_, err := catalog.Finder{Reader: reader, Scope: cli.Scope{Cluster: true}}.Plan(t.Context(), "", "small")
			assert.EqualError(t, err, tc.want, tc.reason)
		})
	}
}
