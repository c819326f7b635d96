package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Somebody asks for a type, and gets a Secret; then all goes again.
func TestTypeOnlyToSecret(t *testing.T) {
	w := newWorld(t)
	broker := osbtest.Start(t, osbtest.Demo(osbtest.Azure))
	w.register(broker)
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mydb"}}
	instance.Spec.ServiceType = "mysql"
	w.Create(instance)
	binding := w.binding("mydb-reader", "mydb")
	w.Create(binding)
	w.Ready(instance, binding)

	secret := w.secret("mydb-reader")
	w.Get(secret)
	assert.Equal(t, "servicebinding.io/mysql", string(secret.Type))
	assert.Contains(t, secret.Data, "database", "the plan's transform renamed it")
	require.NotNil(t, binding.Status.Binding)
	assert.Equal(t, "mydb-reader", binding.Status.Binding.Name)

	w.Delete(binding)
	w.Gone(binding)
	w.Gone(secret)
	w.Delete(instance)
	w.Gone(instance)
	assert.Empty(t, broker.Violations())
	assert.Empty(t, broker.Instances())
}
