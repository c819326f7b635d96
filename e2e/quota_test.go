package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestQuotaCountsWhatANamespaceHas: how many instances and bindings there may be
// is Kubernetes' own ResourceQuota; what is deleted makes room.
func TestQuotaCountsWhatANamespaceHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPlans(class{name: w.name("c")}, plan{name: w.name("p")})
	asked := ofPlan(w.name("c"), w.name("p"))
	w.createInstance("one", asked)
	const instances, bindings = "count/serviceinstances.servicecatalog.k8s.io", "count/servicebindings.servicecatalog.k8s.io"
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "databases"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{instances: resource.MustParse("2"), bindings: resource.MustParse("1")}},
	}
	w.create(quota)
	w.eventually(func() (bool, error) {
		err := w.client.Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		used := quota.Status.Used[instances]
		return used.Value() == 1, err
	})

	w.createInstance("two", asked)
	var err error
	w.eventually(func() (bool, error) {
		err = w.client.Create(t.Context(), w.instance("three", asked), client.DryRunAll)
		return apierrors.IsForbidden(err), nil
	})
	assert.Contains(t, err.Error(), "exceeded quota: databases, requested: "+instances+"=1, used: "+instances+"=2, limited: "+instances+"=2")
	w.create(w.bindingTo("creds", "one"))
	// The quota's controller counts anew now and then, from what it has seen.
	w.eventually(func() (bool, error) {
		err = w.client.Create(t.Context(), w.bindingTo("more", "one"), client.DryRunAll)
		return apierrors.IsForbidden(err), nil
	})
	assert.Contains(t, err.Error(), "exceeded quota: databases, requested: "+bindings+"=1, used: "+bindings+"=1, limited: "+bindings+"=1")
	require.NoError(t, w.elsewhere().tries(asked), "it is of one namespace")

	w.deletes("two")
	w.eventually(func() (bool, error) { return w.client.Create(t.Context(), w.instance("three", asked)) == nil, nil })
}
