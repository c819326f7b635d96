package osbtest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestAnswers sends one call after others, and compares the answer with the
// specification's.
func TestAnswers(t *testing.T) {
	t.Parallel()
	plan := func(plan string) func(*request) { return func(r *request) { r.body["plan_id"] = plan } }
	cases := map[string]struct {
		reason string
		before []*request
		async  []osbtest.Verb
		call   *request
		status int
		code   string
	}{
		"ProvisionNew":       {reason: "made", call: provision("i"), status: 201},
		"ProvisionSame":      {reason: "there already", before: []*request{provision("i")}, call: provision("i"), status: 200},
		"ProvisionOther":     {reason: "another of that ID", before: []*request{provision("i")}, call: provision("i").with(plan("large")), status: 409},
		"ProvisionOtherSize": {reason: "with other parameters", before: []*request{provision("i")}, call: provision("i").with(field("parameters", object{"size": 9})), status: 409},
		"ProvisionOtherUser": {reason: "in another namespace", before: []*request{provision("i")}, call: provision("i").with(field("space_guid", "ns2")), status: 409},
		"ProvisionRunning":   {reason: "the same again", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: provision("i"), status: 202},
		"ProvisionRunning2":  {reason: "another meanwhile", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: provision("i").with(plan("large")), status: 409},
		"ProvisionUnknown":   {reason: "no such plan", call: provision("i").with(plan("none")), status: 400},
		"ProvisionNoSpace":   {reason: "brokers require the deprecated fields", call: provision("i").with(func(r *request) { delete(r.body, "space_guid") }), status: 400},
		"ProvisionEmptyInfo": {reason: "never an empty maintenance_info", call: provision("i").with(func(r *request) { r.body["maintenance_info"] = object{} }), status: 422, code: "MaintenanceInfoConflict"},
		"ProvisionInfo":      {reason: "the plan's version", call: provision("i").with(func(r *request) { r.body["maintenance_info"] = object{"version": "1.0.0"} }), status: 201},
		"ProvisionNotAsync": {reason: "it takes long", async: []osbtest.Verb{osbtest.Provision}, call: provision("i").with(func(r *request) { r.query.Del("accepts_incomplete") }),
			status: 422, code: "AsyncRequired"},
		"ProvisionRemoving": {reason: "its removal runs", before: []*request{provision("i"), deprovision("i")}, async: []osbtest.Verb{osbtest.Deprovision}, call: provision("i"), status: 422, code: "ConcurrencyError"},
		"UpdateSync":        {reason: "changed", before: []*request{provision("i")}, call: update("i"), status: 200},
		"UpdateNone":        {reason: "nothing there", call: update("i"), status: 404},
		"UpdateRunning":     {reason: "one at a time", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: update("i"), status: 422, code: "ConcurrencyError"},
		"UpdatePlan":        {reason: "to another plan", before: []*request{provision("i")}, call: update("i").with(plan("large")), status: 200},
		"UpdateFixed":       {reason: "from a plan that stays", before: []*request{provision("i").with(plan("fixed"))}, call: update("i").with(plan("large")), status: 422},
		"UpdateInfo": {reason: "no such version", before: []*request{provision("i")}, call: update("i").with(func(r *request) { r.body["maintenance_info"] = object{"version": "9.0.0"} }),
			status: 422, code: "MaintenanceInfoConflict"},
		"DeprovisionSync":    {reason: "removed", before: []*request{provision("i")}, call: deprovision("i"), status: 200},
		"DeprovisionGone":    {reason: "there is none", call: deprovision("i"), status: 410},
		"DeprovisionAgain":   {reason: "the same again", before: []*request{provision("i"), deprovision("i")}, async: []osbtest.Verb{osbtest.Deprovision}, call: deprovision("i"), status: 202},
		"DeprovisionHalts":   {reason: "a creation is halted", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: deprovision("i"), status: 200},
		"DeprovisionBusy":    {reason: "an update is not", before: []*request{provision("i"), update("i")}, async: []osbtest.Verb{osbtest.Update}, call: deprovision("i"), status: 422, code: "ConcurrencyError"},
		"DeprovisionBound":   {reason: "bindings first", before: []*request{provision("i"), bind("i", "b")}, call: deprovision("i"), status: 400},
		"DeprovisionOther":   {reason: "another plan", before: []*request{provision("i")}, call: deprovision("i").set("plan_id", "large"), status: 400},
		"BindNew":            {reason: "made", before: []*request{provision("i")}, call: bind("i", "b"), status: 201},
		"BindSame":           {reason: "there already", before: []*request{provision("i"), bind("i", "b")}, call: bind("i", "b"), status: 200},
		"BindOther":          {reason: "with other parameters", before: []*request{provision("i"), bind("i", "b")}, call: bind("i", "b").with(func(r *request) { r.body["parameters"] = object{"a": 1} }), status: 409},
		"BindRunning":        {reason: "the same again", before: []*request{provision("i"), bind("i", "b")}, async: []osbtest.Verb{osbtest.Bind}, call: bind("i", "b"), status: 202},
		"BindNone":           {reason: "to nothing", call: bind("i", "b"), status: 404},
		"BindBusy":           {reason: "while the instance is being made", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: bind("i", "b"), status: 422, code: "ConcurrencyError"},
		"BindNot":            {reason: "not bindable", before: []*request{provision("i").with(box)}, call: bind("i", "b").with(box), status: 400},
		"BindRotates":        {reason: "taking over", before: []*request{provision("i"), bind("i", "b")}, call: bind("i", "c").with(func(r *request) { r.body["predecessor_binding_id"] = "b" }), status: 201},
		"BindRotatesNone":    {reason: "from nothing", before: []*request{provision("i")}, call: bind("i", "c").with(func(r *request) { r.body["predecessor_binding_id"] = "b" }), status: 400},
		"UnbindSync":         {reason: "removed", before: []*request{provision("i"), bind("i", "b")}, call: unbind("i", "b"), status: 200},
		"UnbindGone":         {reason: "there is none", before: []*request{provision("i")}, call: unbind("i", "b"), status: 410},
		"UnbindHalts":        {reason: "a creation is halted", before: []*request{provision("i"), bind("i", "b")}, async: []osbtest.Verb{osbtest.Bind}, call: unbind("i", "b"), status: 200},
		"FetchInstance":      {reason: "there", before: []*request{provision("i")}, call: fetch("i"), status: 200},
		"FetchCreating":      {reason: "not yet", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: fetch("i"), status: 404},
		"FetchUpdating":      {reason: "not now", before: []*request{provision("i"), update("i")}, async: []osbtest.Verb{osbtest.Update}, call: fetch("i"), status: 422, code: "ConcurrencyError"},
		"FetchUnretrievable": {reason: "not of this service", before: []*request{provision("i").with(box)}, call: fetch("i"), status: 404},
		"FetchBinding":       {reason: "there", before: []*request{provision("i"), bind("i", "b")}, call: fetch("i/service_bindings/b"), status: 200},
		"FetchNoBinding":     {reason: "there is none", before: []*request{provision("i")}, call: fetch("i/service_bindings/b"), status: 404},
		"PollSync":           {reason: "it was done at once", before: []*request{provision("i")}, call: poll("i", nil), status: 200},
		"PollNone":           {reason: "there never was one", call: poll("i", nil), status: 404},
		"PollGone":           {reason: "removed at once", before: []*request{provision("i"), deprovision("i")}, call: poll("i", nil), status: 410},
		"PollWrong":          {reason: "another operation", before: []*request{provision("i")}, async: []osbtest.Verb{osbtest.Provision}, call: poll("i", "other"), status: 400},
		"NoSuchEndpoint":     {reason: "not of the specification", call: fetch("i/other"), status: 404},
		"NoVersion":          {reason: "2.x is asked for", call: getCatalog().with(func(r *request) { r.header.Del("X-Broker-Api-Version") }), status: 412},
		"OtherVersion":       {reason: "2.x is asked for", call: getCatalog().with(func(r *request) { r.header.Set("X-Broker-Api-Version", "3.0") }), status: 412},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			for _, verb := range tc.async {
				p.broker.Async(verb, -1)
			}
			for _, r := range tc.before {
				require.Less(t, p.send(r).status, 300)
			}
			got := p.must(tc.status, tc.call)
			code, _ := got.body["error"].(string)
			assert.Equal(t, tc.code, code, tc.reason)
		})
	}
}

func box(r *request) { r.body["service_id"], r.body["plan_id"] = "box", "only" }

func TestBooksFollowALife(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	for _, verb := range []osbtest.Verb{osbtest.Provision, osbtest.Update, osbtest.Bind, osbtest.Unbind, osbtest.Deprovision} {
		p.broker.Async(verb, 1)
	}
	finish := func(path string, started answer) {
		t.Helper()
		assert.Equal(t, "in progress", p.must(200, poll(path, started.body["operation"])).body["state"])
		assert.Equal(t, "succeeded", p.must(200, poll(path, started.body["operation"])).body["state"])
	}
	started := p.must(202, provision("i"))
	assert.NotEmpty(t, started.body["dashboard_url"])
	assert.Equal(t, started.body["operation"], p.must(202, provision("i")).body["operation"], "the same request, the same operation")
	assert.Equal(t, []string{"i"}, p.broker.Running())
	finish("i", started)
	finish("i", p.must(202, update("i").with(func(r *request) { r.body["plan_id"] = "large" })))
	instance := p.broker.Instances()["i"]
	assert.Equal(t, "large", instance.PlanID)
	assert.Equal(t, object{"size": 4.0}, instance.Parameters)
	assert.Equal(t, "ann", instance.Identity.Value["username"])
	onLarge := func(r *request) { r.body["plan_id"] = "large" }
	bound := p.must(202, bind("i", "b").with(onLarge))
	assert.NotContains(t, bound.body, "credentials")
	finish("i/service_bindings/b", p.must(202, bind("i", "b").with(onLarge)))
	fetched := p.must(200, fetch("i/service_bindings/b")).body["credentials"].(object)
	for _, key := range []string{"host", "port", "username", "password", "db-name", "uri"} {
		assert.Contains(t, fetched, key)
	}
	require.Equal(t, osbtest.Ready, p.broker.Instances()["i"].State)
	p.must(202, unbind("i", "b").set("plan_id", "large"))
	require.True(t, p.broker.Finish("b"))
	require.False(t, p.broker.Finish("b"))
	p.must(202, deprovision("i").set("plan_id", "large"))
	require.True(t, p.broker.Finish("i"))
	assert.Empty(t, p.broker.Instances())
	assert.Empty(t, p.broker.Bindings())
	assert.Equal(t, osbtest.History{Made: 1, Changed: 1, Removed: 1}, p.broker.History("i"))
	assert.Equal(t, map[string]osbtest.History{"i": {Made: 1, Changed: 1, Removed: 1}, "b": {Made: 1, Removed: 1}}, p.broker.Histories())
	assert.Equal(t, osbtest.History{}, p.broker.History("never"))
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{OneShot: true, Lifetime: time.Hour})
	p.must(201, provision("i"))
	first := p.must(201, bind("i", "b").with(func(r *request) { r.body["parameters"] = object{"user": "reader"} }))
	second := p.must(201, bind("i", "c"))
	assert.NotEqual(t, first.body["credentials"].(object)["password"], second.body["credentials"].(object)["password"])
	assert.Equal(t, "reader", first.body["credentials"].(object)["username"])
	assert.Equal(t, object{"expires_at": "2026-01-02T04:04:05.0Z", "renew_before": "2026-01-02T03:34:05.0Z"}, first.body["metadata"])
	assert.NotContains(t, p.must(200, fetch("i/service_bindings/b")).body, "credentials", "shown once")
	assert.Equal(t, 1, p.broker.Bindings()["b"].Shown)
	own := newPlatform(t, osbtest.Options{Credentials: func(b osbtest.Binding) map[string]any { return object{"for": b.ID} }})
	own.must(201, provision("i"))
	assert.Equal(t, object{"for": "b"}, own.must(201, bind("i", "b")).body["credentials"])
	assert.Equal(t, object{"for": "b"}, own.must(200, bind("i", "b")).body["credentials"])
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{Username: "u", Password: "secret"})
	p.must(401, getCatalog())
	with := func(value string) *request {
		return getCatalog().with(func(r *request) { r.header.Set("Authorization", value) })
	}
	p.must(200, with("Basic dTpzZWNyZXQ="))
	p.must(401, with("Bearer secret"))
	p.broker.SetAuth("", "", "token")
	p.must(200, with("Bearer token"))
	p.must(401, with("Basic dTpzZWNyZXQ="))
	for _, call := range p.broker.Calls() {
		assert.NotContains(t, call.Header, "Authorization")
		assert.Equal(t, call.Status == http.StatusOK, call.Authorized)
	}
}

func TestPaceRetryAfterAndNoOperation(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{
		Pace: map[string]map[osbtest.Verb]int{"small": {osbtest.Provision: 1}}, NoOperation: true, RetryAfter: "3", Prefix: "/acme",
	})
	started := p.must(202, provision("i"))
	assert.NotContains(t, started.body, "operation")
	assert.Equal(t, "3", started.header.Get("Retry-After"))
	assert.Equal(t, "Fri, 02 Jan 2026 03:04:05 GMT", started.header.Get("Date"), "the broker's clock")
	assert.Equal(t, "request-1", started.header.Get("X-Broker-Api-Request-Identity"))
	p.clock.pass(3 * time.Second)
	assert.Equal(t, "3", p.must(200, poll("i", nil)).header.Get("Retry-After"))
	p.clock.pass(3 * time.Second)
	assert.Empty(t, p.must(200, poll("i", nil)).header.Get("Retry-After"))
	p.broker.AssertDuties(t)
}

func TestIdsAreUnescapedOneByOne(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.must(201, provision("a%2Fb%20%3F..%C3%BC"))
	assert.Contains(t, p.broker.Instances(), "a/b ?..ü")
}

func TestCallsAreFilteredAndBounded(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{KeepCalls: 3})
	p.must(200, getCatalog())
	p.must(201, provision("i"))
	p.must(201, bind("i", "b"))
	p.must(200, fetch("i"))
	assert.Len(t, p.broker.Calls(), 3)
	assert.Empty(t, p.broker.Calls(osbtest.Of(osbtest.GetCatalog)), "the oldest is forgotten")
	assert.Len(t, p.broker.Calls(osbtest.Writes()), 2)
	assert.Len(t, p.broker.Calls(osbtest.About("b")), 1)
	bound := p.broker.Calls(osbtest.Of(osbtest.Bind), osbtest.About("i"))[0]
	assert.Equal(t, 3, bound.N)
	assert.Equal(t, "ann", bound.Identity.Value["username"])
	assert.Equal(t, "ns1", bound.Body["app_guid"])
	assert.Equal(t, 201, bound.Status)
	assert.True(t, bound.Acted)
	assert.False(t, bound.Ended.IsZero())
}

func TestBooksChangeWithoutACall(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Add(osbtest.Instance{ID: "i", ServiceID: "db", PlanID: "small", Organization: "c1", Space: "ns1", Parameters: object{"size": 3.0}})
	p.must(200, fetch("i"))
	p.must(200, provision("i"))
	p.must(201, bind("i", "b"))
	require.True(t, p.broker.Lose("i"))
	require.False(t, p.broker.Lose("i"))
	assert.Empty(t, p.broker.Bindings())
	p.must(410, unbind("i", "b"))
	p.must(410, deprovision("i"))
	assert.Equal(t, osbtest.History{Made: 1, Removed: 1}, p.broker.History("i"))
	assert.Equal(t, osbtest.History{Made: 1, Removed: 1}, p.broker.History("b"))
	p.broker.AssertDuties(t)
}
