package install_test

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// brokerName is that of the broker that the cluster knows.
const brokerName = "azure"

// team is the namespace of who uses the catalog.
const team = "shop"

// offer makes a broker known to the cluster, with a suggested plan for mysql, and a
// namespace for those who want one.
func (c *cluster) offer() *osbtest.Broker {
	c.Helper()
	broker := osbtest.Start(c, osbtest.Demo(osbtest.Azure))
	registered := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: brokerName}}
	registered.Spec.URL = broker.URL
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}, registered)
	c.isTrue(registered, api.ConditionReady)
	return broker
}

// withdraw takes the broker out of the cluster.
func (c *cluster) withdraw() {
	c.Helper()
	c.remove(&api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: brokerName}})
}

// database is an instance that says nothing but its type, not yet created.
func database(name string) *api.ServiceInstance {
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	i.Spec.ServiceType = "mysql"
	return i
}

// access is a binding to an instance, not yet created.
func access(name, instance string) *api.ServiceBinding {
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: instance}
	return b
}

// provision creates an instance by type and waits until it is ready.
func (c *cluster) provision(name string) *api.ServiceInstance {
	c.Helper()
	instance := database(name)
	c.create(instance)
	c.isTrue(instance, api.ConditionReady)
	require.NotNil(c, instance.Spec.ClusterServicePlanRef, "admission chose a plan")
	return instance
}

// bind binds to an instance and returns the binding, whose Secret is there.
func (c *cluster) bind(name, instance string) *api.ServiceBinding {
	c.Helper()
	binding := access(name, instance)
	c.create(binding)
	c.isTrue(binding, api.ConditionReady)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	c.get(secret)
	assert.NotEmpty(c, secret.Data)
	return binding
}

// remove deletes objects and waits until they are gone.
func (c *cluster) remove(objects ...client.Object) {
	c.Helper()
	for _, object := range objects {
		require.NoError(c, c.client.Delete(c.Context(), object))
		c.gone(object)
	}
}

// isTrue waits until a condition of an object is true, as its spec is now.
func (c *cluster) isTrue(object client.Object, kind string) {
	c.Helper()
	c.eventually(func() error {
		if err := c.client.Get(c.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		all := conditionsOf(object)
		found, _ := api.FindCondition(all, kind)
		if found.Status == api.ConditionTrue && found.ObservedGeneration == object.GetGeneration() {
			return nil
		}
		return fmt.Errorf("%T %s is not %s: %+v", object, object.GetName(), kind, all)
	})
}

func conditionsOf(object client.Object) []api.Condition {
	switch o := object.(type) {
	case *api.ServiceInstance:
		return o.Status.Conditions
	case *api.ServiceBinding:
		return o.Status.Conditions
	case *api.ClusterServiceBroker:
		return o.Status.Conditions
	}
	return nil
}

// choose makes a plan the default of its type, and waits until it is recorded.
func (c *cluster) choose(plan string) {
	c.Helper()
	object := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: plan}}
	patch := []byte(`{"metadata":{"annotations":{"` + api.AnnotationDefaultPlan + `":"true"}}}`)
	require.NoError(c, c.client.Patch(c.Context(), object, client.RawPatch(types.MergePatchType, patch)))
	c.eventually(func() error {
		trial := database("trial")
		err := c.client.Create(c.Context(), trial, client.DryRunAll)
		chosen := trial.Spec.ClusterServicePlanRef
		if err != nil || chosen == nil || chosen.Name != plan {
			return fmt.Errorf("the choice is %v: %w", chosen, err)
		}
		return nil
	})
}
