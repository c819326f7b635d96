package svcat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// create runs `svcat create` in the env's namespace.
func (m *market) create(args ...string) outcome {
	m.Helper()
	got := m.run("", append([]string{"create", "-n", m.Namespace}, args...)...)
	return outcome{m.normal(got.out), m.normal(got.err), got.code}
}

// A class is copied with its plans, the one is made the default, and what provisions by
// type gets the copy: the broker is sent its own ids, with the copy's parameters. A
// relist leaves the copy alone.
func TestCreateClassAndProvisionFromIt(t *testing.T) {
	t.Parallel()
	m := newEnv(t).register()
	kind := m.Name("fastdisk")
	got := m.create("class", m.Name("mine"), "--from", m.name, "--type", kind, "--provision-params", "tier: gold")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "class mine was created from store, with plans large, small\n", got.out)
	assert.Empty(t, got.err)

	class := &api.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: m.Name("mine")}}
	m.Get(class)
	assert.Empty(t, class.OwnerReferences)
	assert.Equal(t, m.Name("mine"), class.Spec.ExternalName)
	assert.Equal(t, m.Name("store"), class.Spec.ExternalID)
	assert.Equal(t, m.registered.Name, class.Spec.ClusterServiceBrokerName)
	assert.NotContains(t, class.Annotations, api.AnnotationCatalogHash)
	assert.NotContains(t, strings.Join(class.Spec.Tags, " "), "ServiceType=", "the original's type")
	small := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: m.Name("mine") + "-small"}}
	m.Get(small)
	assert.Empty(t, small.OwnerReferences)
	assert.Equal(t, "small", small.Spec.ExternalName)
	assert.Empty(t, small.Spec.ServiceType, "that of the class, which is another than the original's")
	assert.NotContains(t, small.Annotations, api.AnnotationSuggestedPlan, "it is no broker that suggests it")
	assert.Equal(t, "4", small.Labels[api.LabelAttributePrefix+"Cores"], "attributes stay")
	assert.Equal(t, api.HashLabelValue(class.Name), small.Labels[api.LabelClusterServiceClassRefName], "admission's labels are the copy's own")

	said := m.Svcat("set", "plan", m.Name("mine")+"/small", "--default", "--cluster")
	assert.Equal(t, "small is the default plan for fastdisk\n", m.normal(said))
	m.relist(9)
	m.Get(small)
	assert.JSONEq(t, `{"size":1}`, string(small.Spec.DefaultProvisionParameters.Raw), "a relist leaves the copy alone")

	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: "disk"}}
	instance.Spec.ServiceType = kind
	m.provisioned(instance)
	assert.Equal(t, small.Name, instance.Spec.ClusterServicePlanRef.Name)
	at := m.broker.Instances()[instance.Spec.ExternalID]
	assert.Equal(t, m.Name("store"), at.ServiceID, "what the broker knows it by")
	assert.Equal(t, m.Name("small"), at.PlanID)
	assert.Equal(t, map[string]any{"tier": "gold", "size": 1.0}, at.Parameters)
	assert.Empty(t, m.broker.Violations())
	m.end(instance)
}

// provisioned creates an instance and waits until it is ready.
func (m *market) provisioned(instance *api.ServiceInstance) {
	m.Helper()
	require.NoError(m, m.Client().Create(m.Context(), instance))
	m.Eventually(func() (bool, error) {
		if err := m.Client().Get(m.Context(), client.ObjectKeyFromObject(instance), instance); err != nil {
			return true, err
		}
		ready, _ := api.FindCondition(instance.Status.Conditions, api.ConditionReady)
		if ready.Status == api.ConditionTrue {
			return true, nil
		}
		return false, fmt.Errorf("it is %+v", instance.Status.Conditions)
	})
}

// end deletes an instance and waits until it is gone: its broker goes with the test.
func (m *market) end(instance *api.ServiceInstance) {
	m.Helper()
	require.NoError(m, m.Client().Delete(m.Context(), instance))
	m.Eventually(func() (bool, error) {
		err := m.Client().Get(m.Context(), client.ObjectKeyFromObject(instance), instance)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, errors.Join(err, errors.New("it is there still"))
	})
}

// A plan is copied and made the default at once, by the same switch.
func TestCreatePlanAsDefault(t *testing.T) {
	t.Parallel()
	m := newEnv(t).register()
	got := m.create("plan", m.Name("tiny"), "--from", m.name+"/small", "--provision-params", "null", "--weight", "3", "--default")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "plan store/tiny was created from store/small\ntiny is the default plan for disk\n", got.out)
	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: m.Name("tiny")}}
	m.Get(plan)
	assert.Nil(t, plan.Spec.DefaultProvisionParameters)
	assert.EqualValues(t, 3, plan.Spec.Weight)
	assert.Equal(t, "true", plan.Annotations[api.AnnotationDefaultPlan])
	assert.Equal(t, m.Name("small"), plan.Spec.ExternalID)

	// The next one replaces it; the default's annotation is not copied.
	got = m.create("plan", m.Name("tinier"), "--from", m.Name("tiny"), "--default")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "plan store/tinier was created from store/tiny\ntiny is no longer the default plan for disk\ntinier is the default plan for disk\n", got.out)
	got = m.create("plan", m.Name("other"), "--from", m.Name("tinier"))
	require.Zero(t, got.code, got.err)
	copied := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: m.Name("other")}}
	m.Get(copied)
	assert.NotContains(t, copied.Annotations, api.AnnotationDefaultPlan)

	// A name that is taken, by either kind of name.
	got = m.create("plan", m.Name("tiny"), "--from", m.name+"/small")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, `plan "tiny" is there already in the cluster; choose another name, or change it: svcat set plan tiny`)
	got = m.create("plan", "small", "--from", m.name+"/large")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, `plan "small" is there already`)
	assert.Equal(t, 2, m.create("plan", "Tiny", "--from", m.name+"/small").code, "no Kubernetes name")
	assert.Equal(t, 2, m.create("plan", "tiny").code, "--from is missing")
}

// What the cluster has is copied into a namespace, if one may use its broker there; its
// plans are looked for in the namespace from then on.
func TestCreateInANamespace(t *testing.T) {
	t.Parallel()
	m := newEnv(t).register()
	s := &stall{testEnv: m.testEnv, at: m.Namespace, kind: m.kind}
	readers := s.userWith("dev", rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"serviceclasses", "serviceplans"}, Verbs: []string{"create", "delete"}})
	refused := m.runAs(readers, "", "create", "class", "disks", "--from", m.name, "--scope", "namespace", "-n", m.Namespace)
	assert.Equal(t, 1, refused.code)
	assert.Contains(t, refused.err, "may not use ClusterServiceBroker")
	assert.Empty(t, m.made(), "nothing of it stands")

	got := m.create("class", "disks", "--from", m.name, "--scope", "namespace")
	require.Zero(t, got.code, got.err)
	class := &api.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: "disks"}}
	m.Get(class)
	assert.Equal(t, m.registered.Name, class.Spec.ClusterServiceBrokerName)
	assert.Equal(t, []string{"disks", "disks-large", "disks-small"}, m.made())

	got = m.create("plan", "tiny", "--from", m.name+"/small", "--scope", "namespace")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "name it with --class, or first: svcat create class NAME --from store --scope namespace")
	got = m.create("plan", "tiny", "--from", m.name+"/small", "--scope", "namespace", "--class", "disks", "--default")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "plan disks/tiny in namespace NAMESPACE was created from store/small\ntiny is the default plan for disk in namespace NAMESPACE\n", got.out)
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: "disk"}}
	instance.Spec.ServiceType = m.kind
	m.provisioned(instance)
	assert.Equal(t, "tiny", instance.Spec.ServicePlanRef.Name)
	m.end(instance)

	// A class of another service has no place for it.
	s.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceClass, metadata: {name: other}, spec: {externalName: other, externalID: other-SUFFIX}}`)
	got = m.create("plan", "stray", "--from", "disks/tiny", "--class", "other")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "class other is another service than disks, or of another broker")

	// And up again, where the broker is the cluster's.
	got = m.create("class", m.Name("disks"), "--from", "disks", "--scope", "cluster", "--no-plans")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "class disks was created from disks, without plans\n", got.out)
}

// Manifests for others to apply, in an order that can be applied.
func TestCreateInADryRun(t *testing.T) {
	t.Parallel()
	m := newEnv(t).register()
	got := m.run("", "create", "class", "disks", "--from", m.name, "--scope", "namespace", "-n", m.Namespace, "--dry-run", "-o", "yaml")
	require.Zero(t, got.code, got.err)
	assert.Empty(t, m.made())
	m.Apply(got.out)
	assert.Equal(t, []string{"disks", "disks-large", "disks-small"}, m.made())
	got = m.run("", "create", "class", "disks2", "--from", m.name, "--scope", "namespace", "-n", m.Namespace, "--dry-run=server")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "class disks2 in namespace NAMESPACE was created from store, with plans large, small (server dry run)\n", m.normal(got.out))
	assert.Len(t, m.made(), 3)
	for _, mode := range []string{"client", "none"} {
		got = m.create("plan", m.Name("tiny"), "--from", m.name+"/small", "--default", "--dry-run="+mode, "-o", "yaml")
		require.Zero(t, got.code, got.err)
		assert.Contains(t, got.out, api.AnnotationDefaultPlan+`: "true"`, "as it is after the switch")
	}
}
