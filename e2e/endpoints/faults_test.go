package endpoints_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A faulty bind is how each call goes wrong, until the broker is mended, and what the
// binding's status says of it.
type faultyBind struct {
	fault osbtest.Fault
	says  string
}

// answered are answers to a bind whose credentials are lawful and whose endpoints are not,
// or of which not all came. The broker has made the binding.
func answered() map[string]faultyBind {
	const huge = 6 << 20
	body := func(endpoints string) osbtest.Fault {
		return osbtest.Status(201, `{"credentials":{"region":"west","password":"hunter2"},"endpoints":`+endpoints).Acting()
	}
	return map[string]faultyBind{
		"text":        {body(`"10.1.2.3:443"}`), "endpoints is not a list"},
		"numbers":     {body(`[7]}`), "endpoints[0] is not an object"},
		"host-number": {body(`[{"host":"10.1.2.3","ports":["443"]},{"host":7,"ports":["443"]}]}`), "endpoints[1].host is not a string"},
		"protocol":    {body(`[{"host":"10.1.2.3","ports":["443"],"protocol":{}}]}`), "endpoints[0].protocol is not a string"},
		"cut-json":    {body(`[{"host":"10.1.2.3","ports":["44`), "it is not JSON"},
		"wrong-types": {osbtest.WrongType(), "operation is not a string"},
		"huge":        {osbtest.Oversized(huge), "it is too long"},
	}
}

// unanswered are calls after which it is not known whether the broker made a binding.
func unanswered() map[string]faultyBind {
	return map[string]faultyBind{
		"error":      {osbtest.Status(500, `{"description":"out of order"}`).Acting(), ""},
		"error-page": {osbtest.Status(502, "<html>"), ""},
		"cut-after":  {osbtest.CutAfter(), ""},
		"cut-middle": {osbtest.CutMiddle(), ""},
		"hang":       {osbtest.Hang().Acting(), ""},
	}
}

// While a broker's answers to binds are faulty, nothing of a binding is made, and its
// status says so; when the broker is mended, all of it is made, once.
func TestBindsGoWrong(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]map[string]faultyBind{"Answered": answered(), "Unanswered": unanswered()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.broker.On(func(c osbtest.Call) osbtest.Fault {
				parameters, _ := c.Body["parameters"].(map[string]any)
				kind, _ := parameters["fault"].(string)
				return faults[kind].fault
			})
			var all []*api.ServiceBinding
			for _, kind := range slices.Sorted(maps.Keys(faults)) {
				b := e.Binding(kind, "mydb")
				b.Spec.Parameters = env.RawJSON(fmt.Sprintf(
					`{"fault":%q,"credentials":{"region":"west","password":"hunter2"},"endpoints":[{"host":"10.1.2.3","ports":["443"]}]}`, kind))
				e.Create(b)
				all = append(all, b)
			}
			for _, b := range all {
				e.goesWrong(b, faults[b.Name].says)
			}
			e.broker.Sync()
			for _, b := range all {
				e.whole(b)
			}
			assert.Len(t, e.broker.Bindings(), len(all))
			assert.Empty(t, e.broker.Orphans())
			for _, b := range all {
				e.Delete(b)
			}
			for _, b := range all {
				e.Gone(b)
			}
			for _, b := range all {
				e.withdrawn(b)
			}
			assert.Empty(t, e.broker.Bindings())
		})
	}
}

// goesWrong waits until a binding's status says what went wrong, and looks that nothing
// is there of it.
func (e *testEnv) goesWrong(b *api.ServiceBinding, says string) {
	e.Helper()
	e.Becomes(b, func() bool {
		ready := env.ConditionOf(b, api.ConditionReady)
		told := slices.ContainsFunc(b.Status.Conditions, func(c api.Condition) bool { return strings.Contains(c.Message, says) })
		return told && ready.Status != "" && ready.Status != api.ConditionTrue && ready.Reason != "" && ready.Message != "" && ready.Reason != "Binding"
	})
	assert.Empty(e, b.Status.Service, b.Name)
	assert.Empty(e, b.Status.Endpoints, b.Name)
	assert.Nil(e, b.Status.Binding, b.Name)
	e.nothing(b)
}

// nothing looks that nothing is there of a binding.
func (e *testEnv) nothing(b *api.ServiceBinding) {
	e.Helper()
	for _, o := range []client.Object{e.service(b.Name), e.configMap(b.Name), e.Secret(b.Name)} {
		assert.True(e, e.Absent(o), "%s: %T", b.Name, o)
	}
	assert.Empty(e, e.leads(b.Name), b.Name)
}

// whole waits until all of a binding is there.
func (e *testEnv) whole(b *api.ServiceBinding) {
	e.Helper()
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	e.Ready(b)
	assert.Equal(e, []string{"10.1.2.3"}, e.leads(b.Name), b.Name)
	published, secret := e.configMap(b.Name), e.Secret(b.Name)
	e.Get(published)
	e.Get(secret)
	assert.Equal(e, map[string]string{"region": "west"}, published.Data, b.Name)
	assert.Equal(e, "hunter2", string(secret.Data["password"]), b.Name)
}

// absurd are lists of endpoints that are lawful JSON, and of which no Service can be made,
// with the reason that the condition Endpoints then has.
func absurd() map[string]struct {
	endpoints []object
	reason    string
} {
	const many = 5000
	names, addresses, ports := make([]object, many), make([]object, many), make([]string, many)
	for i := range many {
		names[i] = endpoint(fmt.Sprintf("db-%d.example.com", i), "443")
		addresses[i] = endpoint(fmt.Sprintf("10.9.%d.%d", i/250, i%250+1), "443")
		ports[i] = fmt.Sprint(i + 1)
	}
	return map[string]struct {
		endpoints []object
		reason    string
	}{
		"no-host":    {[]object{{"ports": []string{"443"}}}, "EndpointsUnlawful"},
		"long-host":  {[]object{endpoint(strings.Repeat("x.", 20_000)+"example.com", "443")}, "EndpointsUnlawful"},
		"lines":      {[]object{endpoint("db\r\nX-Evil: 1", "443")}, "EndpointsUnlawful"},
		"url":        {[]object{endpoint("https://user:pw@db.example.com/", "443")}, "EndpointsUnlawful"},
		"no-ports":   {[]object{{"host": "10.1.2.3"}}, "EndpointsUnlawful"},
		"port-0":     {[]object{endpoint("10.1.2.3", "0")}, "EndpointsUnlawful"},
		"port-65536": {[]object{endpoint("10.1.2.3", "65536")}, "EndpointsUnlawful"},
		"port-huge":  {[]object{endpoint("10.1.2.3", strings.Repeat("9", 20_000))}, "EndpointsUnlawful"},
		"port-float": {[]object{{"host": "10.1.2.3", "ports": []any{443.5}}}, "EndpointsUnlawful"},
		"reversed":   {[]object{endpoint("10.1.2.3", "9001-9000")}, "EndpointsUnlawful"},
		"protocol":   {[]object{{"host": "10.1.2.3", "ports": []string{"443"}, "protocol": strings.Repeat("sctp", 5000)}}, "EndpointsUnlawful"},
		"second-bad": {[]object{endpoint("10.1.2.3", "443"), endpoint("", "443")}, "EndpointsUnlawful"},
		"all-ports":  {[]object{endpoint("10.1.2.3", "1-65535")}, "TooManyEndpoints"},
		"many-ports": {[]object{endpoint("10.1.2.3", ports...)}, "TooManyEndpoints"},
		"same-ports": {[]object{endpoint("10.1.2.3", slices.Repeat([]string{"443"}, many)...)}, "TooManyEndpoints"},
		"names":      {names, "TooManyEndpoints"},
		"addresses":  {addresses, "TooManyEndpoints"},
		"some-names": {names[:100], "EndpointsMixed"},
	}
}

// Of absurd endpoints nothing is made but the Secret, and the condition says why in a
// message of bounded length; when the broker gives others, the Service is made.
func TestEndpointsAreAbsurd(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	credentials := object{"region": "west", "password": "hunter2"}
	cases := absurd()
	var all []*api.ServiceBinding
	e.broker.SetEndpoints(func(b osbtest.Binding) []map[string]any {
		if list := e.endpoints(b); list != nil {
			return list
		}
		kind, _ := b.Parameters["kind"].(string)
		return cases[kind].endpoints
	})
	for _, kind := range slices.Sorted(maps.Keys(cases)) {
		b := e.Binding(kind, "mydb")
		b.Spec.Parameters = env.RawJSON(fmt.Sprintf(`{"kind":%q,"credentials":{"region":%q,"password":%q}}`, kind, credentials["region"], credentials["password"]))
		e.Create(b)
		all = append(all, b)
	}
	for _, b := range all {
		said := e.HasCondition(b, api.ConditionEndpoints, api.ConditionFalse, cases[b.Name].reason)
		assert.NotEmpty(t, said.Message, b.Name)
		assert.Less(t, len(said.Message), 400, b.Name)
		assert.NotContains(t, said.Message, "\n", b.Name)
		e.Ready(b)
		assert.Empty(t, b.Status.Service, b.Name)
		assert.True(t, e.Absent(e.service(b.Name)), b.Name)
		assert.Empty(t, e.leads(b.Name), b.Name)
	}
	e.moves(endpoint("10.1.2.3", "443"))
	for _, b := range all {
		e.Delete(e.Secret(b.Name)) // then the credentials are asked for again
	}
	for _, b := range all {
		e.whole(b)
	}
}

// What a broker says of a binding while it makes it counts for nothing, and nor does a
// fetch that goes wrong: the credentials and endpoints are those of the one answer that
// is whole.
func TestEndpointsChangeBetweenPolls(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	stale := func(rest string) osbtest.Fault {
		return osbtest.Status(200, `{"credentials":{"region":"east","password":"stale"},"endpoints":[{"host":"10.7.7.7","ports":["1"]}]`+rest)
	}
	e.broker.Async(osbtest.Bind, -1)
	b := e.binding("reader", object{"region": "west", "password": "hunter2"}, endpoint("10.8.8.8", "443"))
	e.Create(b)
	e.Eventually(func() (bool, error) { return len(e.broker.Running()) > 0, nil })
	e.moves(endpoint("10.9.9.9", "443"))
	e.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "Binding")
	e.nothing(b)
	e.moves(endpoint("10.1.2.3", "443"))
	e.broker.Next(osbtest.FetchBinding, stale(""), osbtest.Status(500, `{"credentials":{"password":"stale"}}`), osbtest.CutMiddle(), stale(`,"parameters":7}`))
	e.Eventually(func() (bool, error) { return slices.ContainsFunc(e.broker.Running(), e.broker.Finish), nil })
	e.whole(b)
	e.moves(endpoint("10.1.2.3", "443"), endpoint("10.1.2.4", "443"))
	e.broker.Next(osbtest.FetchBinding, stale(""), osbtest.Malformed())
	e.Delete(e.Secret("reader"))
	e.Eventually(func() (bool, error) {
		if addresses := e.leads("reader"); !slices.Equal(addresses, []string{"10.1.2.3", "10.1.2.4"}) {
			return false, fmt.Errorf("it leads to %v", addresses)
		}
		return true, nil
	})
	e.Eventually(func() (bool, error) { return !e.Absent(e.Secret("reader")), nil })
	secret := e.Secret("reader")
	e.Get(secret)
	assert.Equal(t, "hunter2", string(secret.Data["password"]))
}
