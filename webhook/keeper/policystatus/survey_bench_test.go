package policystatus

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// BenchmarkSurvey goes through 10,000 plans in 1,000 classes for 1,000 policies:
// such that each name a class, and such that each select by label, which is the
// worst there is.
func BenchmarkSurvey(b *testing.B) {
	for name, subject := range map[string]func(int) v1beta1.PlanSubject{
		"Named": func(n int) v1beta1.PlanSubject { return v1beta1.PlanSubject{ClassName: fmt.Sprintf("class%d", n)} },
		"Selecting": func(n int) v1beta1.PlanSubject {
			return v1beta1.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": fmt.Sprint(n)}}}
		},
	} {
		b.Run(name, func(b *testing.B) {
			reader := largeCatalog(b)
			var policies []*v1beta1.ProvisioningPolicy
			for n := range 1000 {
				policies = append(policies, &v1beta1.ProvisioningPolicy{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("policy%d", n)},
					Spec: v1beta1.ProvisioningPolicySpec{
						PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny},
						Subjects:   []v1beta1.PolicySubject{{PlanSubject: subject(n)}},
					},
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				reports := make([]*report, len(policies))
				for i := range policies {
					reports[i] = reportOnProvisioning(policies[i])
				}
				s := newSurvey(reader, reports)
				require.NoError(b, s.plans(b.Context()))
				require.EqualValues(b, 10, reports[7].plans.count)
			}
		})
	}
}

// A benchReader is a cache of cluster classes and plans, read as the keeper's is.
type benchReader struct {
	client.Reader

	classes []v1beta1.ClusterServiceClass
	plans   toolscache.Indexer
}

func largeCatalog(b *testing.B) *benchReader {
	b.Helper()
	r := &benchReader{plans: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
		"class": func(object any) ([]string, error) {
			return []string{object.(*v1beta1.ClusterServicePlan).Spec.ClusterServiceClassRef.Name}, nil
		},
	})}
	for class := range 1000 {
		name := fmt.Sprintf("class%d", class)
		r.classes = append(r.classes, v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: name}})
		for plan := range 10 {
			require.NoError(b, r.plans.Add(&v1beta1.ClusterServicePlan{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-plan%d", name, plan), Labels: map[string]string{"tier": fmt.Sprint(class)}},
				Spec:       v1beta1.ClusterServicePlanSpec{ClusterServiceClassRef: v1beta1.ClusterObjectReference{Name: name}},
			}))
		}
	}
	return r
}

func (r *benchReader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	switch l := list.(type) {
	case *v1beta1.ClusterServiceClassList:
		l.Items = append(l.Items, r.classes...)
	case *v1beta1.ClusterServicePlanList:
		class, _ := asked.FieldSelector.RequiresExactMatch(v1beta1.FieldClusterServiceClassRefName)
		found, err := r.plans.ByIndex("class", class)
		for _, plan := range found {
			l.Items = append(l.Items, *plan.(*v1beta1.ClusterServicePlan))
		}
		return err
	case *corev1.NamespaceList, *v1beta1.ServiceClassList:
	}
	return nil
}
