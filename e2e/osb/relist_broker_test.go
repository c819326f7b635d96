package osb_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// authInfo has a broker be called with a Secret of the environment.
func (e *testEnv) authInfo(secret string) *api.ClusterServiceBrokerAuthInfo {
	ref := &api.ObjectReference{Namespace: e.Namespace, Name: secret}
	return &api.ClusterServiceBrokerAuthInfo{Basic: &api.ClusterBasicAuthConfig{SecretRef: ref}}
}

// again asks for the catalog once more.
func (s *brokerEnv) again() {
	s.Helper()
	s.Change(s.registered, func() { s.registered.Spec.RelistRequests++ })
}

// A Secret that is absent, one that lacks a key and one that the broker refuses are told
// apart, and each can be mended.
func TestBrokerAuthIsToldApart(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.except = []string{"M1"} }) // with the wrong password
	s.broker.SetAuth("me", "the-first-password", "")
	s.Change(s.registered, func() { s.registered.Spec.AuthInfo = s.authInfo("auth") })
	said := s.HasCondition(s.registered, api.ConditionReady, api.ConditionFalse, "ErrorGettingAuthCredentials")
	assert.Contains(t, said.Message, s.Namespace+"/auth")
	assert.Contains(t, said.Message, "is not there")
	assert.NotNil(t, s.registered.Status.NextRetry)

	secret := s.Secret("auth")
	secret.StringData = map[string]string{"username": "me"}
	s.Create(secret)
	s.again()
	said = s.HasCondition(s.registered, api.ConditionReady, api.ConditionFalse, "ErrorGettingAuthCredentials")
	assert.Contains(t, said.Message, `no key "password"`)

	s.Change(secret, func() { secret.StringData = map[string]string{"password": "not-the-password"} })
	s.again()
	said = s.HasCondition(s.registered, api.ConditionReady, api.ConditionFalse, "ErrorFetchingCatalog")
	assert.Contains(t, said.Message, "401")
	assert.NotContains(t, said.Message, "not-the-password")

	for _, password := range []string{"the-first-password", "the-second-password"} {
		s.broker.SetAuth("me", password, "")
		s.Change(secret, func() { secret.StringData = map[string]string{"password": password} })
		s.again()
		s.Ready(s.registered)
	}
}

// Restrictions are obeyed, and followed when they change; what is no selector is told.
func TestCatalogRestrictions(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) {
		s.register = func(b *api.ClusterServiceBroker) {
			b.Spec.CatalogRestrictions = &api.CatalogRestrictions{ServicePlan: []string{"spec.free=true"}}
		}
	})
	class := s.class(s.setting.service["id"])
	assert.Equal(t, []int32{1, 0}, []int32{class.Status.FreePlans, class.Status.PaidPlans})
	small := s.plan(s.setting.small["id"])
	assert.Len(t, s.versions(s.registered.Name), 2, "a class and a plan")

	s.Change(s.registered, func() { s.registered.Spec.CatalogRestrictions.ServicePlan = []string{"spec.free=false"} })
	s.Ready(s.registered)
	s.plan(s.setting.large["id"])
	s.Get(small)
	assert.True(t, small.Status.RemovedFromBrokerCatalog)
	s.Get(class)
	assert.Equal(t, []int32{0, 1}, []int32{class.Status.FreePlans, class.Status.PaidPlans})
}

// Two brokers with the same IDs: the second is told, and has all of it with a suffix.
func TestNameSuffixForEqualIDs(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	twin := osbtest.Start(t, s.setting.Options)
	registered := &api.ClusterServiceBroker{}
	registered.Name, registered.Spec.URL = s.Name("twin"), twin.URL
	s.Create(registered)
	said := s.HasCondition(registered, api.ConditionCatalogComplete, api.ConditionFalse, "PartsSkipped")
	assert.Contains(t, said.Message, "nameSuffix")
	assert.Contains(t, said.Message, s.registered.Name)
	assert.Empty(t, s.versions(registered.Name))
	before := s.versions(s.registered.Name)

	s.Change(registered, func() { registered.Spec.NameSuffix = "twin" })
	s.HasCondition(registered, api.ConditionCatalogComplete, api.ConditionTrue, "")
	s.Ready(registered)
	assert.Len(t, s.versions(registered.Name), 3)
	for name := range s.versions(registered.Name) {
		assert.True(t, strings.HasSuffix(name, "-twin"), name)
	}
	assert.Equal(t, before, s.versions(s.registered.Name), "the first one's are as they were")
	twin.AssertDuties(t)
}

// ownController has a broker be handled by a controller with flags of its own, beside those of all.
func ownController(t *testing.T, flags ...string) func(*setting) {
	t.Helper()
	e := newEnv(t)
	name := e.Name("own")
	_, err := e.StartController(t.Context(), stack.ControllerOptions{
		Name: name, Args: slices.Concat(controllerFlags, []string{"--controller-name=" + name}, flags),
	})
	require.NoError(t, err)
	return func(s *setting) {
		s.register = func(b *api.ClusterServiceBroker) { b.Spec.ControllerName = name }
	}
}

// A catalog that did not change is not sent again.
func TestCatalogNotModified(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, ownController(t, "--broker-relist-interval=1s")) // spec.relistDuration is a minute at least
	before := s.versions(s.registered.Name)
	var calls []osbtest.Call
	s.Eventually(func() (bool, error) {
		calls = s.broker.Calls(osbtest.Of(osbtest.GetCatalog), func(c osbtest.Call) bool { return c.Status == http.StatusNotModified })
		return len(calls) >= 2, nil
	})
	s.Get(s.registered)
	assert.Equal(t, calls[0].Header.Get("If-None-Match"), s.registered.Status.CatalogETag)
	assert.Equal(t, before, s.versions(s.registered.Name))
	s.setting.small["description"] = "another one"
	require.NoError(t, s.broker.SetCatalog(s.catalog()))
	s.Eventually(func() (bool, error) { return s.plan(s.setting.small["id"]).Spec.Description == "another one", nil })
}

// A service that cannot be taken is told by name, and the rest is taken.
func TestInvalidServiceIsSkipped(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.setting.service["plans"] = []object{s.setting.small, s.setting.large}
	bad := object{"id": s.Name("bad-id"), "name": s.Name("bad"), "description": "it has no plans", "bindable": true, "plans": []object{}}
	other := object{
		"id": s.Name("other-id"), "name": s.Name("other"), "description": "a good one", "bindable": true,
		"plans": []object{{"id": s.Name("only-id"), "name": "only", "description": "one"}},
	}
	catalog, err := json.Marshal(object{"services": []object{bad, s.setting.service, other}})
	require.NoError(t, err)
	s.takes(catalog)
	said := s.HasCondition(s.registered, api.ConditionCatalogComplete, api.ConditionFalse, "PartsSkipped")
	assert.Contains(t, said.Message, `"`+s.Name("bad")+`"`)
	assert.Contains(t, said.Message, "no plans")
	s.class(s.Name("other-id"))
	s.plan(s.Name("only-id"))
	s.provisioned()
}

// What a class's flags refused is looked at again when they change, not only when everything is.
func TestFlagsOfAClassAreWatched(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, ownController(t, "--secret-interval=1h"))
	i := s.provisioned()
	b := s.Binding("reader", "mydb")
	b.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: "late", Key: "parameters"}}}
	s.Create(b)
	s.waits(b, "ErrorWithParameters")
	s.setting.service["bindable"] = false
	s.relist()
	s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "ErrorNonbindableServiceClass")
	late := s.Secret("late")
	late.StringData = map[string]string{"parameters": `{"role": "reader"}`}
	s.Create(late)
	s.setting.service["bindable"] = true
	s.relist()
	s.Ready(b)

	s.broker.On(func(c osbtest.Call) osbtest.Fault {
		if c.Verb != osbtest.Update {
			return osbtest.Fault{}
		}
		// Long enough that no second call comes between the broker's change and the relist.
		return osbtest.Status(http.StatusTooManyRequests, `{}`).WithRetryAfter("10")
	})
	s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "UpdateInstanceCallFailed")
	s.setting.service["plan_updateable"] = false
	s.relist()
	s.stalled(i, "PlanNotUpdatable")
	s.broker.Sync()
	s.setting.service["plan_updateable"] = true
	s.relist()
	s.Ready(i)
	assert.Equal(t, s.setting.large["id"], s.only().PlanID)
}
