package osb

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ann = `{"username":"ann","uid":"u-1","groups":["dev"],"extra":{"scopes":["a"]}}`

// TestRequests says what every operation sends, to the byte.
func TestRequests(t *testing.T) {
	const where = `"context":{"clusterid":"c-1","namespace":"shop","platform":"kubernetes"}`
	const parameters = `"parameters":{"size":1.50,"name":"x"}`
	tests := map[string]struct {
		reason, method, uri, body string
		anonymous                 bool
	}{
		"Catalog": {
			reason: "no user caused it, so none is named",
			method: "GET", uri: "/prefix/v2/catalog", anonymous: true,
		},
		"Provision": {
			reason: "organization and space are still required",
			method: "PUT", uri: "/prefix/v2/service_instances/i-1?accepts_incomplete=true",
			body: `{"service_id":"s-1","plan_id":"p-1","organization_guid":"c-1","space_guid":"ns-1",` + where + `,` + parameters +
				`,"maintenance_info":{"version":"1.0.0"}}`,
		},
		"Update": {
			reason: "what was before is told under its own names",
			method: "PATCH", uri: "/prefix/v2/service_instances/i-1?accepts_incomplete=true",
			body: `{"service_id":"s-1","plan_id":"p-2",` + where + `,` + parameters + `,"maintenance_info":{"version":"2.0.0"},` +
				`"previous_values":{"service_id":"s-1","plan_id":"p-1","organization_id":"c-1","space_id":"ns-1","maintenance_info":{"version":"1.0.0"}}}`,
		},
		"Deprovision": {
			reason: "a deletion has a query and no body",
			method: "DELETE", uri: "/prefix/v2/service_instances/i-1?accepts_incomplete=true&service_id=s-1&plan_id=p-1",
		},
		"Bind": {
			reason: "the application is named in both places",
			method: "PUT", uri: "/prefix/v2/service_instances/i-1/service_bindings/b-1?accepts_incomplete=true",
			body: `{"service_id":"s-1","plan_id":"p-1","app_guid":"ns-1","bind_resource":{"app_guid":"ns-1"},` + where + `,` + parameters +
				`,"predecessor_binding_id":"b-0"}`,
		},
		"Unbind": {
			reason: "as a deprovision",
			method: "DELETE", uri: "/prefix/v2/service_instances/i-1/service_bindings/b-1?accepts_incomplete=true&service_id=s-1&plan_id=p-1",
		},
		"FetchInstance": {
			reason: "with hints",
			method: "GET", uri: "/prefix/v2/service_instances/i-1?service_id=s-1&plan_id=p-1",
		},
		"FetchBinding": {
			reason: "with hints",
			method: "GET", uri: "/prefix/v2/service_instances/i-1/service_bindings/b-1?service_id=s-1&plan_id=p-1",
		},
		"Poll": {
			reason: "the key is sent as it came",
			method: "GET", uri: "/prefix/v2/service_instances/i-1/last_operation?service_id=s-1&plan_id=p-1&operation=key%201",
		},
	}
	broker := &recorder{}
	client := serve(t, broker, func(c *Config) { c.URL += "/prefix//"; c.APIVersion = "2.16" })
	for _, operation := range operations() {
		t.Run(operation.name, func(t *testing.T) {
			test := tests[operation.name]
			broker.answer(200, `{"services":[],"state":"succeeded"}`)
			_, err := operation.call(t.Context(), client)
			require.NoError(t, err, test.reason)
			require.Len(t, broker.seen(), 1)
			seen := broker.seen()[0]
			assert.Equal(t, test.method+" "+test.uri, seen.Method+" "+seen.URI)
			assert.Equal(t, test.body, seen.Body, test.reason)
			assert.Equal(t, "2.16", seen.Header.Get(versionHeader))
			assert.Equal(t, "request-1", seen.Header.Get(requestHeader))
			assert.Equal(t, "application/json", seen.Header.Get("Accept"))
			assert.Empty(t, seen.Header.Get("Authorization"))
			assert.Equal(t, test.body != "", seen.Header.Get("Content-Type") == "application/json")
			if test.anonymous {
				assert.Empty(t, seen.Header.Get(userHeader))
				return
			}
			assert.Equal(t, "kubernetes "+base64.StdEncoding.EncodeToString([]byte(ann)), seen.Header.Get(userHeader))
		})
	}
}

func TestLeanRequests(t *testing.T) {
	t.Parallel()
	broker := &recorder{}
	broker.answer(200, `{"state":"succeeded"}`)
	client := serve(t, broker)
	full := completeRequests()
	full.provision.Context, full.provision.Parameters, full.provision.MaintenanceVersion, full.provision.Identity = nil, nil, "", nil
	_, err := client.Provision(t.Context(), full.provision)
	require.NoError(t, err)
	full.provision.Parameters = json.RawMessage(" null\n")
	_, err = client.Provision(t.Context(), full.provision)
	require.NoError(t, err)
	_, err = client.Update(t.Context(), UpdateRequest{InstanceID: "i-1", ServiceID: "s-1", Parameters: json.RawMessage(" {} ")})
	require.NoError(t, err)
	_, err = client.Bind(t.Context(), BindRequest{InstanceID: "i-1", BindingID: "b-1", ServiceID: "s-1", PlanID: "p-1"})
	require.NoError(t, err)
	_, err = client.Poll(t.Context(), PollRequest{InstanceID: "i-1", BindingID: "b-1"})
	require.NoError(t, err)
	_, err = client.Poll(t.Context(), PollRequest{InstanceID: "i-1", Operation: new("")})
	require.NoError(t, err)
	_, err = client.FetchInstance(t.Context(), FetchRequest{InstanceID: "i-1"})
	require.NoError(t, err)

	seen := broker.seen()
	const bare = `{"service_id":"s-1","plan_id":"p-1","organization_guid":"c-1","space_guid":"ns-1"}`
	assert.JSONEq(t, bare, seen[0].Body, "no empty maintenance_info, parameters or context")
	assert.JSONEq(t, bare, seen[1].Body, "null is what an empty map becomes, and says nothing")
	assert.JSONEq(t, `{"service_id":"s-1","parameters":{}}`, seen[2].Body, "an empty object was given, so it is sent; no plan, no previous values")
	assert.JSONEq(t, `{"service_id":"s-1","plan_id":"p-1"}`, seen[3].Body)
	assert.Equal(t, "/v2/service_instances/i-1/service_bindings/b-1/last_operation", seen[4].URI)
	assert.Equal(t, "/v2/service_instances/i-1/last_operation?operation=", seen[5].URI, "an empty key was returned too")
	assert.Equal(t, "/v2/service_instances/i-1", seen[6].URI)
	for _, call := range seen {
		assert.NotContains(t, call.Header, userHeader)
	}
}

func TestEscaping(t *testing.T) {
	broker := &recorder{}
	broker.answer(200, `{"state":"succeeded"}`)
	client := serve(t, broker)
	tests := map[string]struct{ reason, text, want string }{
		"Unreserved": {"stays", "aZ0-._~", "aZ0-._~"},
		"Slash":      {"one segment", "a/b", "a%2Fb"},
		"Up":         {"no way up the path", "..", "%2E%2E"},
		"UpInside":   {"no way up, however deep", "../../v2/catalog?x=", "..%2F..%2Fv2%2Fcatalog%3Fx%3D"},
		"Here":       {"nor to nowhere", ".", "%2E"},
		"Reserved":   {"no query, fragment or pair", "a?b#c&d=e+f;g:h@i", "a%3Fb%23c%26d%3De%2Bf%3Bg%3Ah%40i"},
		"Space":      {"no plus, which means itself in a path", "a b", "a%20b"},
		"Unicode":    {"as UTF-8", "größe", "gr%C3%B6%C3%9Fe"},
		"Percent":    {"not taken for escaped", "%2F", "%252F"},
		"Control":    {"no header of its own", "a\r\nX: y", "a%0D%0AX%3A%20y"},
		"NotUTF8":    {"byte for byte", "\xff", "%FF"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			broker.answer(200, `{"state":"succeeded"}`)
			_, err := client.Poll(t.Context(), PollRequest{
				InstanceID: test.text, BindingID: test.text, ServiceID: test.text, PlanID: test.text, Operation: &test.text,
			})
			require.NoError(t, err)
			want := "/v2/service_instances/W/service_bindings/W/last_operation?service_id=W&plan_id=W&operation=W"
			want = strings.ReplaceAll(want, "W", test.want)
			// In a query the dots are safe, but are encoded alike.
			assert.Equal(t, want, broker.seen()[0].URI, test.reason)
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		value  IdentityValue
		want   string
	}{
		"Empty": {
			reason: "all four keys, and no null",
			want:   `{"username":"","uid":"","groups":[],"extra":{}}`,
		},
		"NullInside": {
			reason: "nor a null inside",
			value:  IdentityValue{Username: "system:serviceaccount:a:b", Extra: map[string][]string{"k": nil}},
			want:   `{"username":"system:serviceaccount:a:b","uid":"","groups":[],"extra":{"k":[]}}`,
		},
		"Long": {
			reason: "no line breaks in base64, padding kept",
			value:  IdentityValue{Username: strings.Repeat("x", 200)},
			want:   `{"username":"` + strings.Repeat("x", 200) + `","uid":"","groups":[],"extra":{}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header, err := Identity{Value: test.value}.header()
			require.NoError(t, err)
			encoded, ok := strings.CutPrefix(header, "kubernetes ")
			require.True(t, ok)
			decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
			require.NoError(t, err, test.reason)
			assert.Equal(t, test.want, string(decoded), test.reason)
		})
	}
}

// TestUnlawfulRequests are refused before anything is sent.
func TestUnlawfulRequests(t *testing.T) {
	broker := &recorder{}
	broker.answer(200, `{}`)
	client := serve(t, broker)
	tests := map[string]struct {
		reason string
		change func(*ProvisionRequest)
		want   string
	}{
		"NoInstanceID":     {"it would be another URL", func(r *ProvisionRequest) { r.InstanceID = "" }, "cannot provision: the instance ID is empty"},
		"NoServiceID":      {"required", func(r *ProvisionRequest) { r.ServiceID = "" }, "cannot provision: the service ID is empty"},
		"NoPlanID":         {"required", func(r *ProvisionRequest) { r.PlanID = "" }, "cannot provision: the plan ID is empty"},
		"NoOrganization":   {"brokers answer 400", func(r *ProvisionRequest) { r.Organization = "" }, "cannot provision: the organization is empty"},
		"NoSpace":          {"brokers answer 400", func(r *ProvisionRequest) { r.Space = "" }, "cannot provision: the space is empty"},
		"ParametersList":   {"an object or nothing", func(r *ProvisionRequest) { r.Parameters = json.RawMessage(`["s3cret"]`) }, "cannot provision: the parameters are not a JSON object"},
		"ParametersBroken": {"and their text is not disclosed", func(r *ProvisionRequest) { r.Parameters = json.RawMessage(`{s3cret}`) }, "cannot provision: the context or the parameters are not lawful JSON"},
		"ContextOdd":       {"nor is the context's", func(r *ProvisionRequest) { r.Context = map[string]any{"s3cret": func() {}} }, "cannot provision: the context or the parameters are not lawful JSON"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := completeRequests().provision
			test.change(&request)
			_, err := client.Provision(t.Context(), request)
			assert.EqualError(t, err, test.want, test.reason)
			assert.Equal(t, NeverSent, KindOf(err))
		})
	}
	_, err := client.Bind(t.Context(), BindRequest{InstanceID: "i", ServiceID: "s", PlanID: "p"})
	assert.EqualError(t, err, "cannot bind: the binding ID is empty")
	_, err = client.FetchBinding(t.Context(), FetchRequest{InstanceID: "i"})
	assert.EqualError(t, err, "cannot fetch binding: the binding ID is empty", "else an instance would be fetched")
	assert.Empty(t, broker.seen())
}

func TestRequestIDs(t *testing.T) {
	broker := &recorder{}
	broker.answer(404, ``)
	for name, mint := range map[string]func() string{"Default": nil, "Empty": func() string { return "" }} {
		t.Run(name, func(t *testing.T) {
			client := serve(t, broker, func(c *Config) { c.NewRequestID = mint })
			broker.answer(404, ``)
			_, first := client.Catalog(t.Context(), "")
			_, second := client.Catalog(t.Context(), "")
			require.Len(t, broker.seen(), 2)
			assert.Len(t, failure(t, first).RequestID, 36)
			assert.NotEqual(t, failure(t, first).RequestID, failure(t, second).RequestID)
			assert.Equal(t, failure(t, second).RequestID, broker.seen()[1].Header.Get(requestHeader))
		})
	}

	broker.answer(404, ``)
	client := serve(t, broker, func(*Config) {})
	_, err := client.Catalog(WithRequestID(t.Context(), "given"), "")
	assert.Equal(t, "given", failure(t, err).RequestID)
	seen := broker.seen()
	assert.Equal(t, "given", seen[len(seen)-1].Header.Get(requestHeader))
	_, err = client.Catalog(WithRequestID(t.Context(), ""), "")
	assert.NotEmpty(t, failure(t, err).RequestID, "an empty one changes nothing")
}
