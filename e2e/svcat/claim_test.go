package svcat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A binding with an instance of its own: one command, one Secret; and one command that
// takes all of it away, and says so.
func TestBindOneOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	args := []string{"bind", "shop-db", "--type", s.Name("mysql"), "--provision-param", "location=westus", "--param", "user=admin"}
	s.golden("claim-manifest", s.normal(s.told(append(args, "--dry-run=client", "-o", "yaml")...)))
	s.Svcat(append(args, "--wait")...)
	claim := s.binding("shop-db")
	require.True(t, claim.Dedicated())
	require.NotNil(t, claim.Status.InstanceRef)
	own := claim.Status.InstanceRef.Name
	assert.Contains(t, string(s.instance(own).Spec.Parameters.Raw), `"location":"westus"`)
	s.Get(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "shop-db"}})

	assert.Contains(t, s.told("get", "bindings"), own, "a claim is shown with its instance")
	assert.Contains(t, s.told("describe", "binding", "shop-db"), "Instance:      "+own)
	described := s.told("describe", "instance", own)
	assert.Contains(t, described, "Own of Binding:   shop-db")
	assert.Contains(t, described, "  shop-db   Ready")

	// What stands in its way is named by the flags, never guessed.
	assert.Contains(t, s.SvcatFails(2, "bind", "x", "--name", "y", "--type", s.Name("mysql")), "--name is for a binding to an INSTANCE")
	assert.Contains(t, s.SvcatFails(2, "bind", "x", "--provision-param", "a=b"), "say of what it is, by --type")
	assert.Contains(t, s.SvcatFails(1, "bind", "shop-db"), `no instance "shop-db"`)

	assert.Contains(t, s.Svcat("deprovision", own, "--dry-run=server"), "it will be deleted when its bindings are: shop-db")
	told := s.Svcat("unbind", "shop-db", "--wait")
	assert.Contains(t, told, `shop-db: its own instance "`+own+`" goes with it, and all that is in it`)
	assert.True(t, s.isGone(&api.ServiceBinding{}, "shop-db") && s.isGone(&api.ServiceInstance{}, own))
	assert.Empty(t, s.broker.Instances())
	assert.Empty(t, s.broker.Bindings())
}

// An instance of the binding's name is another thing: that there are two is told, and
// which of them is meant has to be said.
func TestClaimBesideAnInstance(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	assert.Contains(t, s.Svcat("bind", "mydb", "--type", s.Name("mysql"), "--wait"), `there is an instance "mydb" too: this binding gets another`)
	require.True(t, s.binding("mydb").Dedicated())
	assert.Contains(t, s.SvcatFails(1, "unbind", "mydb"), "if that is meant, svcat unbind --name mydb")
	s.Svcat("unbind", "--name", "mydb", "--wait")
	assert.Len(t, s.broker.Instances(), 1, "the other one stays")
	s.instance("mydb")
}
