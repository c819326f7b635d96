package osb

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResponses(t *testing.T) {
	full := completeRequests()
	broker := &recorder{header: map[string]string{"Retry-After": "120"}}
	client := serve(t, broker)
	provision := func() (*Response, error) { return client.Provision(t.Context(), full.provision) }
	bind := func() (*Response, error) { return client.Bind(t.Context(), full.bind) }
	unbind := func() (*Response, error) { return client.Unbind(t.Context(), full.unbind) }
	tests := map[string]struct {
		reason string
		status int
		body   string
		call   func() (*Response, error)
		want   Response
	}{
		"Provisioned": {
			reason: "labels and attributes of scalars are kept as texts, others left out",
			status: 201, body: `{"dashboard_url":"https://d","metadata":{"labels":{"a":"b","n":1.50,"t":true,"o":{},"z":null},"attributes":{}}}`,
			call: provision,
			want: Response{
				Created: true, DashboardURL: "https://d",
				Labels: map[string]string{"a": "b", "n": "1.50", "t": "true"}, Attributes: map[string]string{},
			},
		},
		"Provisioning": {
			reason: "the dashboard comes with the first answer, also when it is a 202",
			status: 202, body: "\xef\xbb\xbf" + `{"operation":"a","operation":"key/1?","Operation":"no","dashboard_url":"https://d"}`,
			call: provision, want: Response{Async: true, Operation: new("key/1?"), DashboardURL: "https://d"},
		},
		"NoKey":    {reason: "a key is not required", status: 202, body: `{"operation":null}`, call: provision, want: Response{Async: true}},
		"EmptyKey": {reason: "an empty key is one", status: 202, body: `{"operation":""}`, call: unbind, want: Response{Async: true, Operation: new("")}},
		"BoundToNothing": {
			reason: "an empty list mounts nothing", status: 201, body: `{"volume_mounts":[]}`, call: bind, want: Response{Created: true, Binding: &Binding{}},
		},
		"Bound": {
			reason: "numbers in credentials keep their text; odd ports and times lose nothing else",
			status: 201, body: `{"credentials":{"port":5432.0,"big":12345678901234567890,"deep":{"a":[1]}},"syslog_drain_url":"syslog://s",
				"route_service_url":"https://r","volume_mounts":[{"driver":"x"}],"parameters":[1],
				"endpoints":[{"host":"h","ports":["80","9000-9010",443,null,{}],"protocol":"tcp"},{"host":"i","ports":8080},{"host":"j"}],
				"metadata":{"expires_at":"2030-01-02T03:04:05.6Z","renew_before":"soon"}}`,
			call: bind,
			want: Response{Created: true, Binding: &Binding{
				Credentials: map[string]json.RawMessage{
					"port": json.RawMessage(`5432.0`), "big": json.RawMessage(`12345678901234567890`), "deep": json.RawMessage(`{"a":[1]}`),
				},
				SyslogDrainURL: "syslog://s", RouteServiceURL: "https://r", VolumeMounts: json.RawMessage(`[{"driver":"x"}]`),
				Endpoints: []Endpoint{
					{Host: "h", Ports: []string{"80", "9000-9010", "443"}, Protocol: "tcp"}, {Host: "i", Ports: []string{"8080"}}, {Host: "j"},
				},
				ExpiresAt: time.Date(2030, 1, 2, 3, 4, 5, 600_000_000, time.UTC),
			}},
		},
		"BoundWithNothing": {reason: "a binding without credentials is one", status: 200, body: `{}`, call: bind, want: Response{Binding: &Binding{}}},
		"Binding": {
			reason: "a 202 holds only the key: what else is there is not meant",
			status: 202, body: `{"operation":"k","credentials":{"a":"b"}}`, call: bind, want: Response{Async: true, Operation: new("k")},
		},
		"Unbound": {reason: "a word is enough", status: 200, body: `OK`, call: unbind, want: Response{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			broker.answer(test.status, test.body)
			response, err := test.call()
			require.NoError(t, err, test.reason)
			test.want.RetryAfter = 2 * time.Minute
			assert.Equal(t, &test.want, response, test.reason)
		})
	}
}

func TestFetched(t *testing.T) {
	t.Parallel()
	broker := &recorder{}
	client := serve(t, broker)
	full := completeRequests()
	broker.answer(200, `{"service_id":"s","plan_id":"p","dashboard_url":"https://d","parameters":{"n":1.0},
		"maintenance_info":{"version":"1.2.3","x":1},"metadata":{"labels":{"a":"b"},"attributes":{"c":"d"}}}`)
	instance, err := client.FetchInstance(t.Context(), full.fetch)
	require.NoError(t, err)
	assert.Equal(t, &Instance{
		ServiceID: "s", PlanID: "p", DashboardURL: "https://d", Parameters: json.RawMessage(`{"n":1.0}`), MaintenanceVersion: "1.2.3",
		Labels: map[string]string{"a": "b"}, Attributes: map[string]string{"c": "d"},
	}, instance)

	broker.answer(200, `{"credentials":{"a":"b"},"parameters":{"n":1.0}}`)
	binding, err := client.FetchBinding(t.Context(), full.fetchBinding)
	require.NoError(t, err)
	assert.Equal(t, &Binding{
		Credentials: map[string]json.RawMessage{"a": json.RawMessage(`"b"`)}, Parameters: json.RawMessage(`{"n":1.0}`),
	}, binding)

	broker.answer(200, `{"state":"failed","description":"no\u202e room\u0007","instance_usable":false,"update_repeatable":true}`)
	operation, err := client.Poll(t.Context(), full.poll)
	require.NoError(t, err)
	assert.Equal(t, &LastOperation{State: Failed, Description: "no room", Usable: new(false), Repeatable: new(true)}, operation)
}

func TestUnlawfulBodies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ reason, body, want string }{
		"Empty":        {"no object", " \n", "it is empty"},
		"CredentialsS": {"an object or nothing", `{"credentials":"s3cret"}`, "credentials is not an object"},
		"Volumes":      {"a list", `{"volume_mounts":{}}`, "volume_mounts is not a list"},
		"Endpoints":    {"a list", `{"endpoints":{}}`, "endpoints is not a list"},
		"Endpoint":     {"of objects", `{"endpoints":[{},null]}`, "endpoints[1] is not an object"},
		"Host":         {"named by its place", `{"endpoints":[{"host":"a"},{"host":1}]}`, "endpoints[1].host is not a string"},
		"Metadata":     {"an object", `{"metadata":"x"}`, "metadata is not an object"},
		"Drain":        {"a string", `{"syslog_drain_url":1}`, "syslog_drain_url is not a string"},
		"Route":        {"a string", `{"route_service_url":[]}`, "route_service_url is not a string"},
		"First":        {"the first fault is told", `{"metadata":1,"credentials":1}`, "metadata is not an object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &httpResponse{status: 201, body: []byte(test.body)}
			_, err := a.bound()
			failed := failure(t, err)
			assert.Equal(t, test.want, failed.Unlawful, test.reason)
			assert.True(t, failed.Malformed)
		})
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	early, late := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		reason, metadata string
		expires, renew   time.Time
	}{
		"Both":      {"renewal before expiry", `{"expires_at":"2031-01-01T00:00:00.0Z","renew_before":"2030-01-01T00:00:00Z"}`, late, early},
		"Reversed":  {"a renewal after the expiry is no help", `{"expires_at":"2030-01-01T00:00:00Z","renew_before":"2031-01-01T00:00:00Z"}`, early, time.Time{}},
		"OnlyRenew": {"without an expiry there is nothing to be after", `{"renew_before":"2030-01-01T00:00:00.000000Z"}`, time.Time{}, early},
		"Odd":       {"numbers and other texts are ignored", `{"expires_at":1893456000,"renew_before":"2030-01-01"}`, time.Time{}, time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := binding(open([]byte(`{"metadata":` + test.metadata + `}`)))
			assert.True(t, test.expires.Equal(read.ExpiresAt), test.reason)
			assert.True(t, test.renew.Equal(read.RenewBefore), test.reason)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		reason, value, date string
		want                time.Duration
	}{
		"None":     {"nothing was asked", "", "", 0},
		"Seconds":  {"the recommended form", " 120 ", "", 2 * time.Minute},
		"Zero":     {"now", "0", "", 0},
		"Negative": {"not a wait", "-5", "", 0},
		"Fraction": {"not lawful", "1.5", "", 0},
		"Long":     {"a day is the most", "86401", "", LongestWait},
		"Huge":     {"also where it fits no number", strings.Repeat("9", 400), "", LongestWait},
		"Date":     {"by our clock where the answer shows none", "Mon, 04 May 2026 12:00:30 GMT", "", 30 * time.Second},
		"ItsClock": {"by the broker's clock, which may be hours off", "Mon, 04 May 2026 12:00:30 GMT", "Mon, 04 May 2026 12:00:20 GMT", 10 * time.Second},
		"Past":     {"no wait", "Mon, 04 May 2026 11:00:00 GMT", "", 0},
		"FarAway":  {"a day is the most", "Mon, 04 May 2036 11:00:00 GMT", "", LongestWait},
		"Words":    {"cannot be read", "soon", "", 0},
		"Vendor":   {"SAP's own form is not HTTP's", "2026-05-04T12:00:30", "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := map[string][]string{"Retry-After": {test.value}, "Date": {test.date}}
			assert.Equal(t, test.want, retryAfter(header, now), test.reason)
		})
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ reason, text, want string }{
		"Plain":    {"stays", "no room", "no room"},
		"Lines":    {"become one", "  a\r\n\tb\u2028c\x00d ", "a b c d"},
		"Bidi":     {"turns nothing around", "a\u202eb\u2066c\u200bd\ufeffe", "abcde"},
		"NotUTF8":  {"shows that something was there", "a\xffb", "a\ufffdb"},
		"Exact":    {"fits", "12345678", "12345678"},
		"Exactgap": {"fits with its gap", "123 5678", "123 5678"},
		"Cut":      {"ends in an ellipsis", "123456789", "1234567…"},
		"CutAtGap": {"within the bound", "1234567 9", "1234567…"},
		"EndSpace": {"is no reason to cut", "12345678   ", "12345678"},
		"Wide":     {"counts characters", "öööööööö", "öööööööö"},
		"Escape":   {"moves no cursor", "\x1b[31mred", "[31mred"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, Printable(test.text, 8), test.reason)
		})
	}
}
