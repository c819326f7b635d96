package charts_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// refusal is an answer that is for good.
func refusal() osbtest.Fault {
	return osbtest.Status(http.StatusBadRequest, `{"description": "no"}`)
}

func (s *market) manifest(name, more string) string {
	return fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: %s}, spec: {serviceType: %s, %s}}`, name, s.serviceType, more)
}

func bindingManifest(name, instance string) string {
	return fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: %s}, spec: {instanceRef: {name: %s}}}`, name, instance)
}

// finishes ends the one operation that runs at the broker.
func (e *testEnv) finishes(s *market) {
	e.Helper()
	e.Eventually(func() (bool, error) { return len(s.Running()) == 1, nil })
	require.True(e, s.Finish(s.Running()[0]))
}

// What kstatus says of an instance and its binding at every version that is stored, from
// creation by asynchronous operations to the end.
func TestKstatusOfALife(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	for _, verb := range []osbtest.Verb{osbtest.Provision, osbtest.Update, osbtest.Deprovision} {
		s.Async(verb, -1)
	}
	db, admin := e.follows("ServiceInstance", "mydb"), e.follows("ServiceBinding", "admin")

	e.applies(bindingManifest("admin", "mydb")) // first: it waits for its instance
	admin.becomes("InProgress")
	e.applies(s.manifest("mydb", "parameters: {zone: a}"))
	e.polled(s, 2)
	db.becomes("InProgress")
	admin.becomes("InProgress")
	e.finishes(s)
	db.becomes("InProgress Current")
	admin.becomes("InProgress Current")

	e.applies(s.manifest("mydb", "parameters: {zone: b}"))
	db.becomes("InProgress Current InProgress")
	e.finishes(s)
	db.becomes("InProgress Current InProgress Current")

	e.must("kubectl", "delete", "serviceinstance", "mydb", "--wait=false")
	db.becomes("InProgress Current InProgress Current Terminating")
	e.must("kubectl", "delete", "servicebinding", "admin", "--wait=false")
	admin.becomes("InProgress Current Terminating NotFound")
	e.finishes(s)
	db.becomes("InProgress Current InProgress Current Terminating NotFound")
}

// How kstatus reads what goes wrong: tried again is in progress, given up is failed.
func TestKstatusOfFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		// verb goes wrong, by fault.
		verb  osbtest.Verb
		fault osbtest.Fault
		// instance and binding are their lives.
		instance, binding string
		// mended is the instance's life after its spec changed; empty: it is not mended.
		mended string
	}{
		"ProvisionUnavailable": {
			reason: "it is tried again, so it is in progress throughout", verb: osbtest.Provision,
			fault: osbtest.Status(http.StatusServiceUnavailable, `{}`), instance: "InProgress Current", binding: "InProgress Current",
		},
		"ProvisionRefused": {
			reason: "nothing is tried until the spec changes", verb: osbtest.Provision,
			fault: refusal(), instance: "InProgress Failed", binding: "InProgress", mended: "InProgress Failed InProgress Current",
		},
		"ProvisionFailed": {
			reason: "the removal of what may be left is no progress", verb: osbtest.Provision,
			fault: osbtest.AsyncFailed(1), instance: "InProgress Failed", binding: "InProgress", mended: "InProgress Failed InProgress Current",
		},
		"BindRefused": {
			reason: "the instance is none the worse", verb: osbtest.Bind,
			fault: refusal(), instance: "InProgress Current", binding: "InProgress Failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			s := e.registered()
			s.Next(test.verb, test.fault)
			db, admin := e.follows("ServiceInstance", "mydb"), e.follows("ServiceBinding", "admin")
			e.applies(s.manifest("mydb", "parameters: {zone: a}") + "\n---\n" + bindingManifest("admin", "mydb"))
			db.becomes(test.instance)
			admin.becomes(test.binding)
			if test.mended != "" {
				e.applies(s.manifest("mydb", "parameters: {zone: b}"))
				db.becomes(test.mended)
				admin.becomes("InProgress Current")
			}
		})
	}
}

// An update that the broker refuses is failed, and mended by taking it back.
func TestKstatusOfARefusedUpdate(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	db := e.follows("ServiceInstance", "mydb")
	e.applies(s.manifest("mydb", "parameters: {zone: a}"))
	db.becomes("InProgress Current")
	s.Next(osbtest.Update, refusal())
	e.applies(s.manifest("mydb", "parameters: {zone: b}"))
	db.becomes("InProgress Current InProgress Failed")
	e.applies(s.manifest("mydb", "parameters: {zone: a}"))
	db.becomes("InProgress Current InProgress Failed InProgress Current")
}

// A changed Secret is an update without a change of spec: the generation does not tell.
func TestKstatusOfAChangedSecret(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	secret := &corev1.Secret{StringData: map[string]string{"all": `{"size": 1}`}}
	secret.Namespace, secret.Name = e.Namespace, "more"
	require.NoError(t, e.Client().Create(t.Context(), secret))
	s.Async(osbtest.Update, -1)
	db := e.follows("ServiceInstance", "mydb")
	e.applies(s.manifest("mydb", "parametersFrom: [{secretKeyRef: {name: more, key: all}}]"))
	db.becomes("InProgress Current")
	secret.StringData = map[string]string{"all": `{"size": 2}`}
	require.NoError(t, e.Client().Update(t.Context(), secret))
	db.becomes("InProgress Current InProgress")
	e.finishes(s)
	db.becomes("InProgress Current InProgress Current")
}

// What only a person can put right is failed, although the broker never refused it.
func TestKstatusOfAClash(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	secret := &corev1.Secret{StringData: map[string]string{"all": `{"size": 1}`}}
	secret.Namespace, secret.Name = e.Namespace, "more"
	require.NoError(t, e.Client().Create(t.Context(), secret))
	db := e.follows("ServiceInstance", "mydb")
	e.applies(s.manifest("mydb", "parameters: {size: 3}, parametersFrom: [{secretKeyRef: {name: more, key: all}}]"))
	db.becomes("InProgress Failed")
	e.applies(s.manifest("mydb", "parameters: {}, parametersFrom: [{secretKeyRef: {name: more, key: all}}]"))
	db.becomes("InProgress Failed InProgress Current")
}

// What waits for something that is not there is in progress, also where a typed client
// sent the zero values of a status.
func TestKstatusOfTheUndecided(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	db := e.follows("ServiceInstance", "mydb")
	i := &api.ServiceInstance{}
	i.Namespace, i.Name = e.Namespace, "mydb"
	i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = e.Name("db"), "small"
	require.NoError(t, e.Client().Create(t.Context(), i))
	e.Eventually(func() (bool, error) {
		c := condition(e.read(e.an("ServiceInstance", "mydb")), api.ConditionReady)
		return c != nil && c["status"] == "Unknown", nil
	})
	db.becomes("InProgress")
	e.registered()
	db.becomes("InProgress Current")
}

// A broker is current once its catalog was read, and in progress while that is tried again;
// so is the type that its catalog brings. (What would be Stalled, admission refuses.)
func TestKstatusOfABroker(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	name := e.Name("db")
	broker, serviceType := e.follows("ClusterServiceBroker", name), e.follows("ClusterServiceType", e.Name("sql"))
	s := e.registered()
	broker.becomes("InProgress Current")
	serviceType.becomes("InProgress Current")

	s.Next(osbtest.GetCatalog, osbtest.Status(http.StatusInternalServerError, `{}`))
	e.must("kubectl", "patch", "clusterservicebroker", name, "--type=merge", "-p", `{"spec": {"relistRequests": 1}}`)
	broker.becomes("InProgress Current InProgress Current")
	e.must("kubectl", "delete", "clusterservicebroker", name)
	broker.becomes("InProgress Current InProgress Current Terminating NotFound")
	assert.Empty(t, s.Instances())
}
