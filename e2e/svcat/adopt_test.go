package svcat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An instance is retired without its broker, and taken over under another name: what is
// there is compared, never made, and never removed.
func TestRetireAndAdopt(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	small := []string{"--plan", s.Name("azure-mysql") + "/basic50"}
	s.Svcat(append([]string{"provision", "mydb", "--wait"}, small...)...)
	id := s.instance("mydb").Spec.ExternalID
	assert.Contains(t, s.Svcat("deprovision", "mydb", "--abandon", "--yes", "--wait"), "stays there, under the ID "+id)
	made := len(s.broker.Calls(osbtest.Of(osbtest.Provision)))
	assert.Contains(t, s.SvcatFails(2, append([]string{"adopt", "mydb"}, small...)...), "say which instance of the broker's: --external-id ID")
	assert.Contains(t, s.SvcatFails(2, append([]string{"adopt", "mydb", "--external-id", id, "--param", "a"}, small...)...), "--param: number 1")
	s.golden("adopt-manifest", s.normal(s.told(append([]string{"adopt", "mydb", "--external-id", id, "--dry-run=client", "-o", "yaml"}, small...)...)))

	wrong := s.SvcatFails(3, append([]string{"adopt", "wrong", "--external-id", "absent-" + s.Suffix, "--wait"}, small...)...)
	assert.Contains(t, wrong, "NotAtBroker: the broker has no instance under the ID")
	s.Svcat("deprovision", "wrong", "--wait")

	different := s.SvcatFails(3, "adopt", "again", "--external-id", id, "--plan", s.Name("azure-mysql")+"/premium-p1", "--wait")
	assert.Contains(t, different, "ExternalIDConflict: the broker has another instance under the ID")
	assert.Contains(t, different, "it is of another plan")
	s.Svcat("deprovision", "again", "--wait")

	s.golden("adopt", s.normal(s.told(append([]string{"adopt", "mydb2", "--external-id", id, "--wait"}, small...)...)))
	assert.Equal(t, "true", s.instance("mydb2").Annotations[api.AnnotationAdopt])
	assert.Contains(t, s.told("describe", "instance", "mydb2"), "Adopted:        yes, its deletion leaves it at the broker")
	s.Svcat("bind", "mydb2", "--wait")
	told := s.Svcat("deprovision", "mydb2")
	assert.Contains(t, told, "it was adopted: what broker "+s.Name("azure")+" has of it stays there, under the ID "+id)
	assert.Contains(t, told, "it will be deleted when its bindings are: mydb2")
	s.Svcat("unbind", "mydb2", "--wait")
	s.Eventually(func() (bool, error) { return s.isGone(&api.ServiceInstance{}, "mydb2"), nil })
	assert.Contains(t, s.broker.Instances(), id)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Provision)), made, "nothing was made")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), "nothing was removed")
}

// A binding is let go without its broker, and taken over under another name with a Secret that
// a user writes: it is never asked for again, and stays where it is.
func TestAdoptBinding(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.Svcat("bind", "mydb", "--wait")
	id := s.binding("mydb").Spec.ExternalID
	s.Svcat("unbind", "mydb", "--abandon", "--yes", "--wait")
	assert.Contains(t, s.SvcatFails(2, "bind", "mydb", "--adopt"), "--external-id ID")
	adopt := []string{"bind", "mydb", "--name", "again", "--external-id", id, "--adopt", "--wait"}
	assert.Contains(t, s.SvcatFails(3, adopt...), "CredentialsMissing: its broker does not let itself be asked for a binding")
	assert.Contains(t, s.told("describe", "binding", "again"), "not yet; nothing is made")
	s.Svcat("unbind", "--name", "again", "--wait")

	secret := s.Secret("again")
	secret.Annotations, secret.StringData = map[string]string{api.AnnotationCredentialsOf: id}, map[string]string{"password": "carried"}
	s.Create(secret)
	s.Svcat(adopt...)
	assert.Equal(t, "true", s.binding("again").Annotations[api.AnnotationAdopt])
	assert.Contains(t, s.told("describe", "binding", "again"), "yes, its deletion leaves it at the broker")
	assert.Contains(t, s.Svcat("unbind", "mydb", "--wait"), "again: it was adopted: what broker "+s.Name("azure")+" has of it stays there, under the ID "+id)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Bind)), 1, "nothing was made")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)), "nothing was removed")
}

// orderer may order instances, and adopt none.
const orderer = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: orderer-SUFFIX}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [clusterserviceclasses, clusterserviceplans, serviceclasses, serviceplans], verbs: [get, list]}
- {apiGroups: [servicecatalog.k8s.io], resources: [serviceinstances], verbs: [get, list, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: orderer-SUFFIX}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: orderer-SUFFIX}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: orderer-SUFFIX}]
`

// Who may not adopt is told who could let him, and not whether there is such an ID.
func TestAdoptTakesARight(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Apply(orderer)
	kubeconfig, err := s.KubeconfigFor(t.Context(), s.Name("orderer"))
	require.NoError(t, err)
	got := s.runAs(append(s.Environment(), "KUBECONFIG="+kubeconfig), "",
		"-n", s.Namespace, "adopt", "theirs", "--external-id", "e-1", "--plan", s.Name("azure-mysql")+"/basic50")
	assert.Equal(t, 1, got.code)
	s.golden("adopt-error-right", s.normal(got.out+got.err))
	assert.True(t, s.isGone(&api.ServiceInstance{}, "theirs"))
}
