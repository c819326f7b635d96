package osb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A user asks for a type, and gets a Secret; then all is deleted again.
func TestTypeOnlyToSecret(t *testing.T) {
	e := newEnv(t)
	broker := osbtest.Start(t, osbtest.Demo(osbtest.Azure))
	e.Register(broker)
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "mydb"}}
	instance.Spec.ServiceType = "mysql"
	e.Create(instance)
	binding := e.Binding("mydb-reader", "mydb")
	e.Create(binding)
	e.Ready(instance, binding)

	plan := instance.Status.ExternalProperties.ClusterServicePlanExternalName
	row := strings.Fields(e.Kubectl("", "get", "serviceinstance", "mydb", "--no-headers"))
	assert.Equal(t, []string{"mydb", "mysql", "azure-mysql", plan, "True", "ProvisionedSuccessfully"}, row[:len(row)-1], "in words, but for its age")
	wide := e.Kubectl("", "get", "serviceinstance", "mydb", "-o", "wide")
	assert.Contains(t, wide, instance.Spec.ClusterServiceClassRef.Name)
	assert.Contains(t, wide, instance.Spec.ClusterServicePlanRef.Name)
	row = strings.Fields(e.Kubectl("", "get", "clusterserviceplan", instance.Spec.ClusterServicePlanRef.Name, "--no-headers"))
	assert.Equal(t, plan, row[1])
	assert.Contains(t, row, "azure-mysql", "its class")

	secret := e.Secret("mydb-reader")
	e.Get(secret)
	assert.Equal(t, "servicebinding.io/mysql", string(secret.Type))
	assert.Contains(t, secret.Data, "database", "the plan's transform renamed it")
	require.NotNil(t, binding.Status.Binding)
	assert.Equal(t, "mydb-reader", binding.Status.Binding.Name)

	e.Delete(binding)
	e.Gone(binding)
	e.Gone(secret)
	e.Delete(instance)
	e.Gone(instance)
	assert.Empty(t, broker.Violations())
	assert.Empty(t, broker.Instances())
}
