package svcat_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Credentials of an instance, with the plan's default parameter and with the user's
// own in its place.
func TestBind(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.golden("bind-manifest", s.normal(s.told("bind", "mydb", "--name", "mydb-admin", "--param", "user=admin", "--dry-run=client", "-o", "yaml")))
	s.golden("bind", s.normal(s.told("bind", "mydb", "--wait")))
	s.golden("bind-admin", s.normal(s.told("bind", "mydb", "--name", "mydb-admin", "--secret-name", "admin", "--param", "user=admin", "--wait")))
	assert.JSONEq(t, `{"user": "reader"}`, string(s.binding("mydb").Spec.Parameters.Raw))
	assert.JSONEq(t, `{"user": "admin"}`, string(s.binding("mydb-admin").Spec.Parameters.Raw))
	for _, name := range []string{"mydb", "admin"} {
		s.Get(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}})
	}
	assert.Contains(t, s.Svcat("bind", "mydb", "--name", "other", "--dry-run=server", "-o", "yaml"), "user: reader")
	assert.True(t, s.isGone(&api.ServiceBinding{}, "other"))
}

// Every flag of the older svcat, once.
func TestBindAsEver(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.secret("mysecret", "more", `{"user": "writer"}`)
	s.Svcat("bind", "mydb", "--external-id", "c8ca2fcc-4398-11e8-842f-"+s.Suffix, "--secret", "mysecret[more]", "--wait", "--timeout", "1m", "--interval", "2s")
	assert.Equal(t, "c8ca2fcc-4398-11e8-842f-"+s.Suffix, s.binding("mydb").Spec.ExternalID)
	s.Svcat("bind", "mydb", "--name", "json", "--secret-name", "credentials", "--params-json", `{"user": "json"}`)
	s.Svcat("unbind", "--name", "json", "--wait", "--timeout", "1m", "--interval", "1s")
	s.Svcat("unbind", "mydb", "--wait")
	s.Svcat("deprovision", "mydb", "--wait")
}

// A binding to an instance that is not there was accepted once, and could not be
// removed; now it is refused, with what there is. One whose instance has gone can be
// removed by the instance's name.
func TestBindToNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.golden("bind-error-unknown", s.normal(s.SvcatFails(1, "bind", "mydbb")))
	s.golden("unbind-error-unknown", s.normal(s.SvcatFails(1, "unbind", "mydbb")))
	s.golden("unbind-error-name", s.normal(s.SvcatFails(1, "unbind", "--name", "none")))
	s.golden("deprovision-error-unknown", s.normal(s.SvcatFails(1, "deprovision", "my/db")))
	assert.Equal(t, "instance \"mydb\" has no bindings\n", s.told("unbind", "mydb"))
	s.SvcatFails(2, "bind")
	s.SvcatFails(2, "unbind")

	s.Apply("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceBinding\nmetadata: {name: early}\nspec: {instanceRef: {name: never}}\n")
	assert.Equal(t, "deleted early\n", s.told("unbind", "never", "--wait"))
	assert.True(t, s.isGone(&api.ServiceBinding{}, "early"))
}

// Of an instance all bindings are removed, or those that are named; if one of the
// names is wrong, none.
func TestUnbind(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.database("other")
	for _, name := range []string{"a", "b", "c"} {
		s.Svcat("bind", "mydb", "--name", name, "--wait")
	}
	s.Svcat("bind", "other", "--wait")
	assert.Contains(t, s.SvcatFails(1, "unbind", "--name", "a", "--name", "absent"), `no binding "absent"`)
	assert.Contains(t, s.SvcatFails(1, "unbind", "mydb", "--name", "other"), `binding "other" is not of instance "mydb"`)
	assert.Contains(t, s.told("unbind", "mydb", "--dry-run=server"), "deleted a (server dry run)\ndeleted b (server dry run)\n")
	assert.Equal(t, "deleted a\n", s.told("unbind", "mydb", "--name", "a", "--wait"))
	assert.Equal(t, "deleted b\ndeleted c\n", s.told("unbind", "mydb", "--wait"))
	s.binding("other")
	assert.Equal(t, "deleted other: its broker is being asked to remove it\n", s.told("unbind", "--name=other"))
}

// A broker that never removes anything: what is abandoned goes, the broker was not
// asked, and it is said what stays there.
func TestAbandon(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.database("mydb").Spec.ExternalID
	s.Svcat("bind", "mydb", "--wait")
	bound := s.binding("mydb").Spec.ExternalID
	told := s.SvcatFails(2, "deprovision", "mydb", "--abandon")
	assert.Contains(t, told, "add --yes if it is meant")
	assert.Empty(t, s.instance("mydb").Annotations[api.AnnotationAbandon])

	got := s.Svcat("deprovision", "mydb", "--abandon", "--yes", "--wait")
	assert.Contains(t, got, "what broker "+s.Name("azure")+" has of it stays there, under the ID "+id)
	assert.Contains(t, got, "its bindings are not let go with it: mydb; svcat unbind --abandon does that")
	assert.Contains(t, got, "deleted mydb\n")
	got = s.Svcat("unbind", "mydb", "--abandon", "-y", "--wait")
	assert.Contains(t, got, "stays there, under the ID "+bound)
	assert.True(t, s.isGone(&api.ServiceInstance{}, "mydb") && s.isGone(&api.ServiceBinding{}, "mydb"))
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), "abandoned is abandoned")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))
	require.Contains(t, s.broker.Instances(), id)
}

// What stays undeleted because its broker fails goes on, and can be abandoned then.
func TestAbandonWhatIsStuck(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.broker.On(func(call osbtest.Call) osbtest.Fault {
		if call.Verb == osbtest.Deprovision {
			return osbtest.Status(http.StatusTooManyRequests, `{"description": "never"}`)
		}
		return osbtest.Fault{}
	})
	s.Svcat("deprovision", "mydb", "--yes")
	s.HasCondition(s.Instance("mydb"), api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed") // which takes a busy machine some time
	told := s.SvcatFails(4, "deprovision", "mydb", "--wait", "--timeout", "3s")
	assert.Contains(t, told, `instance "mydb" is still there after 3s: Ready=False DeprovisionCallFailed: `)
	s.Svcat("deprovision", "mydb", "--abandon", "--yes", "--wait")
	assert.True(t, s.isGone(&api.ServiceInstance{}, "mydb"))
}

// secret makes a Secret of one key.
func (e *testEnv) secret(name, key, value string) {
	e.Helper()
	secret := e.Secret(name)
	secret.StringData = map[string]string{key: value}
	e.Create(secret)
}

// isGone says whether nothing has that name.
func (e *testEnv) isGone(object client.Object, name string) bool {
	e.Helper()
	return apierrors.IsNotFound(e.Client().Get(e.Context(), client.ObjectKey{Namespace: e.Namespace, Name: name}, object))
}
