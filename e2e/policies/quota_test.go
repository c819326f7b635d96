package policies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestQuotaCountsWhatANamespaceHas: how many instances and bindings there may be
// is Kubernetes' own ResourceQuota; what is deleted makes room.
func TestQuotaCountsWhatANamespaceHas(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
	asked := env.OfPlan(e.Name("c"), e.Name("p"))
	e.CreateInstance("one", asked)
	const instances, bindings = "count/serviceinstances.servicecatalog.k8s.io", "count/servicebindings.servicecatalog.k8s.io"
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "databases"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{instances: resource.MustParse("2"), bindings: resource.MustParse("1")}},
	}
	e.Create(quota)
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		used := quota.Status.Used[instances]
		return used.Value() == 1, err
	})

	// The API server's admission of quotas learns by a watch what its controller counted,
	// and refuses everything until then.
	e.Eventually(func() (bool, error) {
		err := e.Client().Create(t.Context(), e.Instance("two", asked))
		return err == nil, err
	})
	var err error
	e.Eventually(func() (bool, error) {
		err = e.Client().Create(t.Context(), e.Instance("three", asked), client.DryRunAll)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"), nil
	})
	assert.Contains(t, err.Error(), "exceeded quota: databases, requested: "+instances+"=1, used: "+instances+"=2, limited: "+instances+"=2")
	e.Create(e.Binding("creds", "one"))
	// The quota's controller recounts from time to time, from what it has seen.
	e.Eventually(func() (bool, error) {
		err = e.Client().Create(t.Context(), e.Binding("more", "one"), client.DryRunAll)
		return apierrors.IsForbidden(err), nil
	})
	assert.Contains(t, err.Error(), "exceeded quota: databases, requested: "+bindings+"=1, used: "+bindings+"=1, limited: "+bindings+"=1")
	require.NoError(t, tries(elsewhere(e), asked), "it is of one namespace")

	two := e.Instance("two")
	e.Delete(two)
	e.Gone(two)
	e.Eventually(func() (bool, error) { return e.Client().Create(t.Context(), e.Instance("three", asked)) == nil, nil })
}
