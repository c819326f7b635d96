package planflags

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A person types an attribute as svcat shows it, without the prefix of its label.
func TestExpandAttributes(t *testing.T) {
	t.Parallel()
	labels := func(names ...string) map[string]string {
		all := map[string]string{}
		for _, name := range names {
			all[name] = "x"
		}
		return all
	}
	const attribute = v1beta1.LabelAttributePrefix
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: labels(attribute+"Cores", "Both", attribute+"Both")}},
		&v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "p", Labels: labels(attribute + "Local")}},
		&v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "p", Labels: labels(attribute + "Elsewhere")}},
		&v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: labels(attribute + "Region")}},
	).Build()
	cases := map[string]struct{ reason, selector, want string }{
		"Plan":       {"the cluster's", "Cores=4", attribute + "Cores=4"},
		"Namespaced": {"of the namespace", "Local", attribute + "Local"},
		"Class":      {"a class's labels count", "Region in (eu,us)", attribute + "Region in (eu,us)"},
		"Label":      {"what is a label is meant", "Both=1", "Both=1"},
		"Full":       {"as it was given", attribute + "Cores=4,other.example/Cores=1", attribute + "Cores=4,other.example/Cores=1"},
		"Several":    {"each by itself", "Cores=4,tier=dev", attribute + "Cores=4,tier=dev"},
		"Twice":      {"the label is given, too, and neither is lost", "Cores=4," + attribute + "Cores=8", "Cores=4," + attribute + "Cores=8"},
		"Elsewhere":  {"another namespace's counts for nothing here", "Elsewhere=1", "Elsewhere=1"},
		"Case":       {"admission says which is near", "cores=4", "cores=4"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given, err := metav1.ParseToLabelSelector(tc.selector)
			require.NoError(t, err)
			got := expandAttributes(t.Context(), reader, cli.Scope{Cluster: true, Namespaces: true, Namespace: "dev"}, given)
			assert.Equal(t, tc.want, metav1.FormatLabelSelector(got), tc.reason)
		})
	}
}
