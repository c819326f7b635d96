package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
)

// TestRefusalNamesTheNearestType: of those that a request sees and may have a plan of; other
// namespaces' types are not told.
func TestRefusalNamesTheNearestType(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	plan := func(name, serviceType string) *v1beta1.ClusterServicePlan {
		return &v1beta1.ClusterServicePlan{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1beta1.ClusterServicePlanSpec{CommonServicePlanSpec: v1beta1.CommonServicePlanSpec{ServiceType: serviceType}},
		}
	}
	removed := plan("rabbitmq-small", "rabbitmq")
	removed.Status.RemovedFromBrokerCatalog = true
	inner := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "postgres"}}, plan("postgres-small", "postgres"), plan("postgres-denied", "postgres"),
		&v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "kafka"}}, plan("kafka-denied", "kafka"),
		&v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "cassandra"}},
		&v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "rabbitmq"}}, removed,
		&v1beta1.ServiceType{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mysql"}},
		&v1beta1.ServicePlan{
			ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mysql-small"},
			Spec:       v1beta1.ServicePlanSpec{CommonServicePlanSpec: v1beta1.CommonServicePlanSpec{ServiceType: "mysql"}},
		},
	).WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldServiceType, func(o client.Object) []string {
		return []string{o.(*v1beta1.ClusterServicePlan).Spec.ServiceType}
	}).WithIndex(&v1beta1.ServicePlan{}, v1beta1.FieldServiceType, func(o client.Object) []string {
		return []string{o.(*v1beta1.ServicePlan).Spec.ServiceType}
	}).Build()
	reader := interceptor.NewClient(inner, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			switch list.(type) {
			case *v1beta1.ServiceTypeList, *v1beta1.ClusterServiceTypeList:
				asked := (&client.ListOptions{}).ApplyOptions(options)
				assert.Equal(t, int64(100), asked.Limit, "a tenant may make as many as fit")
			case *v1beta1.ServicePlanList, *v1beta1.ClusterServicePlanList:
			default:
				return nil // there are no classes, and the fake client has no index of them
			}
			return c.List(ctx, list, options...)
		},
	})
	see := func(_ context.Context, _ *resolve.Request, found *catalog.Slice, _ bool) error {
		for i := range found.Plans {
			if strings.HasSuffix(found.Plans[i].Name, "-denied") {
				found.Plans[i].Denied = "policy"
			}
		}
		return nil
	}
	for name, tc := range map[string]struct {
		reason, namespace, asked, want string
	}{
		"Cluster":   {"all see the cluster's", "prod", "postgers", `; did you mean "postgres"?`},
		"Own":       {"a namespace sees its own", "dev", "mysqll", `; did you mean "mysql"?`},
		"Elsewhere": {"and no other's", "prod", "mysqll", ""},
		"Far":       {"none is near", "dev", "redis", ""},
		"Denied":    {"the next request would be refused too", "dev", "kafak", ""},
		"Empty":     {"it has no plan", "dev", "casandra", ""},
		"Gone":      {"nor one that is still offered", "dev", "rabitmq", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := catalog.New(reader, reader, nil, clock.RealClock{}).
				Confirm(t.Context(), resolve.Request{Namespace: tc.namespace, Type: tc.asked}, see)
			require.EqualError(t, err, `cannot resolve spec.serviceType "`+tc.asked+`": no plan is of that type`+tc.want, tc.reason)
		})
	}
}
