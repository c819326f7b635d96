package osb

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// statuses and bodies span the table of answers; every operation is given each pair.
var (
	statuses = []int{200, 201, 202, 204, 302, 304, 400, 401, 403, 404, 408, 409, 410, 412, 422, 429, 500, 502, 503}
	bodies   = []struct{ name, body string }{
		{"full", `{"services":[],"state":"succeeded","operation":"o","credentials":{"user":"u"},"dashboard_url":"https://d","description":"d"}`},
		{"extra", `{"services":[],"state":"in progress","x_vendor":[1,{"a":null}]}`},
		{"nulls", `{"services":null,"state":"failed","operation":null,"credentials":null,"dashboard_url":null,"error":null,"description":null,
			"metadata":null,"endpoints":null,"volume_mounts":null,"parameters":null,"maintenance_info":null,"instance_usable":null}`},
		{"object", `{}`},
		{"empty", ``},
		{"text", `Gone fishing`},
		{"html", "<html>\n<b>Bad gateway</b>"},
		{"null", `null`},
		{"array", `[{}]`},
		{"cutJSON", `{"state":"succe`},
		{"trailing", `{"services":[],"state":"succeeded"} {}`},
		{"badOperation", `{"services":{},"state":3,"operation":5}`},
		{"longOperation", `{"services":[],"state":"succeeded","operation":"` + strings.Repeat("ö", maxOperation+1) + `"}`},
		{"longestOperation", `{"services":[],"state":"succeeded","operation":"` + strings.Repeat("ö", maxOperation) + `"}`},
		{"badDashboard", `{"services":[],"state":"succeeded","dashboard_url":{}}`},
		{"badCredentials", `{"services":[],"state":"succeeded","credentials":"s3cret"}`},
		{"badParameters", `{"services":[],"state":"succeeded","parameters":[1]}`},
		{"oddState", `{"services":[],"state":"Succeeded"}`},
		{"asyncRequired", `{"error":"AsyncRequired"}`},
		{"concurrency", `{"error":"ConcurrencyError","description":"busy"}`},
		{"maintenance", `{"error":"MaintenanceInfoConflict"}`},
		{"requiresApp", `{"error":"RequiresApp"}`},
		{"otherError", `{"error":"Other","description":7,"instance_usable":"no"}`},
	}
)

// TestAnswers gives every operation every pair of status and body, and holds what the
// client makes of it against the golden file: one line for each outcome.
func TestAnswers(t *testing.T) {
	t.Parallel()
	broker := &recorder{}
	client := serve(t, broker)
	var table strings.Builder
	for _, operation := range operations() {
		for _, status := range statuses {
			writeOutcomes(&table, fmt.Sprintf("%s %d", operation.name, status), func(body string) string {
				broker.answer(status, body)
				value, err := operation.call(t.Context(), client)
				require.Len(t, broker.seen(), 1, "one request, whatever comes of it")
				return outcome(t, value, err)
			})
		}
	}
	const golden = "testdata/answers.golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(table.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), table.String(), "go test ./osb -run TestAnswers -update, and read the difference")
}

// writeOutcomes groups the bodies by what they lead to; where all lead to the same, it
// names none.
func writeOutcomes(table *strings.Builder, title string, run func(body string) string) {
	groups, order := map[string][]string{}, []string{}
	for _, body := range bodies {
		// An answer of these may have no body, whatever the handler wrote.
		if (title[len(title)-3:] == "204" || title[len(title)-3:] == "304") && body.name != "empty" {
			continue
		}
		result := run(body.body)
		if groups[result] == nil {
			order = append(order, result)
		}
		groups[result] = append(groups[result], body.name)
	}
	for _, result := range order {
		if len(order) == 1 {
			fmt.Fprintf(table, "%s: %s\n", title, result)
			continue
		}
		fmt.Fprintf(table, "%s: %s <- %s\n", title, result, strings.Join(groups[result], " "))
	}
}

// outcome is what came of an operation, in a word or two.
func outcome(t *testing.T, value any, err error) string {
	t.Helper()
	if err == nil {
		text := "ok"
		if response, ok := value.(*Response); ok && response.Async {
			text = "async"
		} else if ok && response.Created {
			text = "created"
		}
		return text
	}
	failed := failure(t, err)
	assert.NotContains(t, err.Error(), "s3cret")
	assert.NoError(t, failed.Cause, "an answer came")
	if failed.Malformed {
		assert.NotEmpty(t, failed.Unlawful)
		assert.Equal(t, BrokerFault, failed.Kind)
		return "malformed"
	}
	assert.Empty(t, failed.Unlawful)
	return string(failed.Kind)
}

// TestMitigationTable holds the answers against the specification's table of orphan
// mitigation, which goes by status and by whether the body is lawful.
func TestMitigationTable(t *testing.T) {
	t.Parallel()
	broker := &recorder{}
	client := serve(t, broker)
	for _, operation := range operations() {
		for _, status := range statuses {
			broker.answer(status, "nonsense")
			_, err := operation.call(t.Context(), client)
			deletion := operation.name == "Deprovision" || operation.name == "Unbind"
			if deletion && status == http.StatusOK {
				assert.NoError(t, err, "a 200 to a deletion says it all")
				continue
			}
			failed := failure(t, err)
			name := fmt.Sprintf("%s %d", operation.name, status)
			assert.Equal(t, status, failed.StatusCode, name)
			if status < 400 {
				assert.Empty(t, failed.Description, name)
			} else {
				assert.Equal(t, "nonsense", failed.Description, name)
			}
			switch {
			case status < 400, status >= 500 && status != 503:
				assert.Equal(t, BrokerFault, failed.Kind, name)
			default:
				assert.NotEqual(t, BrokerFault, failed.Kind, name)
				assert.False(t, failed.Malformed, name)
			}
		}
	}
}

func TestErrorFields(t *testing.T) {
	broker := &recorder{header: map[string]string{"Retry-After": "7"}}
	client := serve(t, broker)
	tests := map[string]struct {
		reason string
		status int
		body   string
		want   Error
		text   string
	}{
		"Everything": {
			reason: "what a failed update says is all told",
			status: 422, body: `{"error":"ConcurrencyError","description":"wait\nplease","instance_usable":false,"update_repeatable":true}`,
			want: Error{Kind: Concurrency, Code: "ConcurrencyError", Description: "wait please", Usable: new(false), Repeatable: new(true)},
			text: "cannot update: the broker answered 422 ConcurrencyError: wait please",
		},
		"CapitalDescription": {
			reason: "brokerapi writes Description where it refuses a version",
			status: 412, body: `{"Description":"X-Broker-API-Version Header must be set"}`,
			want: Error{Kind: Version, Description: "X-Broker-API-Version Header must be set"},
			text: "cannot update: the broker answered 412: X-Broker-API-Version Header must be set",
		},
		"CodeIsToldByCase": {
			reason: "names of fields are told apart by case",
			status: 422, body: `{"Error":"ConcurrencyError","DESCRIPTION":"x"}`,
			want: Error{Kind: Rejected},
			text: "cannot update: the broker answered 422",
		},
		"LongDescription": {
			reason: "a broker's text is bounded",
			status: 500, body: `{"description":"` + strings.Repeat("ö", 5000) + `"}`,
			want: Error{Kind: BrokerFault, Description: strings.Repeat("ö", 1023) + "…"},
			text: "cannot update: the broker answered 500: " + strings.Repeat("ö", 1023) + "…",
		},
		"Malformed": {
			reason: "the field is named, its value is not",
			status: 200, body: `{"metadata":{"labels":"s3cret"}}`,
			want: Error{Kind: BrokerFault, Malformed: true, Unlawful: "metadata.labels is not an object"},
			text: "cannot update: the broker answered 200, with a body that is not lawful (metadata.labels is not an object)",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			broker.answer(test.status, test.body)
			_, err := client.Update(t.Context(), completeRequests().update)
			test.want.Operation, test.want.StatusCode, test.want.RequestID, test.want.RetryAfter = "update", test.status, "request-1", 7e9
			assert.Equal(t, &test.want, failure(t, err), test.reason)
			assert.EqualError(t, err, test.text)
			assert.Equal(t, test.want.Kind, KindOf(fmt.Errorf("wrapped: %w", err)))
		})
	}
	assert.Empty(t, KindOf(nil))
	assert.Empty(t, KindOf(os.ErrNotExist))
}

// TestWords: what a broker says in an error is kept, however it says it.
func TestWords(t *testing.T) {
	const secret = "hunter2hunter2"
	html := "it is a page of HTML, with the content type %q: is this the broker's address?"
	tests := map[string]struct{ reason, contentType, body, want string }{
		"Text":         {"a word is a word", "text/plain", "Gone fishing\n", "Gone fishing"},
		"Lines":        {"the first line that shows anything, marked as cut", "text/plain", "\r\n\x07\t\n panic: nil\tmap \ngoroutine 1", "panic: nil map…"},
		"Long":         {"its length is bounded", "text/plain", strings.Repeat("ö", 9999), strings.Repeat("ö", 255) + "…"},
		"LongLines":    {"so is that of a line before others", "text/plain", strings.Repeat("ö", 256) + "\nmore", strings.Repeat("ö", 255) + "…"},
		"Secret":       {"some echo the request's header", "text/plain", "who is ann:" + secret + "?", "who is ann:(redacted)?"},
		"OtherObject":  {"any other object may hold what is secret", "application/json", `{"credentials":{"a":"x"},"message":"no"}`, ""},
		"CutObject":    {"so may what is left of one", "application/json", `{"credentials":{"a":"x"`, ""},
		"QuotedObject": {"or one in a text", "application/json", `"{\"credentials\":{\"a\":\"x\"}}"`, ""},
		"Marks":        {"or behind two marks", "application/json", "\ufeff\ufeff" + `{"credentials":{"a":"x"}}`, ""},
		"Callback":     {"or in a call", "text/javascript", `cb({"credentials":{"a":"x"}})`, ""},
		"UTF16":        {"or in letters of two bytes", "text/plain", "\x00h\x00i", ""},
		"NotUTF8":      {"or in others", "text/plain", "gone\xff", ""},
		"List":         {"or a list", "application/json", `["x"]`, ""},
		"JSONText":     {"a text is JSON, too", "application/json", `"no"`, "no"},
		"Empty":        {"nothing says nothing", "application/json", " \n", ""},
		"EmptyObject":  {"nor does this", "application/json", "{}", ""},
		"Null":         {"nor this", "application/json", "null", ""},
		"HTML":         {"a page was written by something else", "text/html; charset=utf-8", "<!DOCTYPE html>\n<title>404</title>", fmt.Sprintf(html, "text/html")},
		"SilentHTML":   {"a page may come as anything", "application/octet-stream", "\ufeff\n<HTML><body>" + secret, fmt.Sprintf(html, "application/octet-stream")},
		"JSONAsHTML":   {"frameworks call everything HTML", "text/html", `{"description":"no"}`, "no"},
		"SecretInType": {"a header may hold it, too", "text/html; x=" + secret, "<html>", fmt.Sprintf(html, "text/html")},
		"OtherType":    {"a type may be one, too", secret + "/x", "<html>", fmt.Sprintf(html, "another")},
		"Description":  {"what the specification says goes first", "text/plain", `{"description":"no","message":"other"}`, "no"},
		"Turned":       {"nothing turns the writing direction around", "text/plain", "a\u202eb", "ab"},
	}
	broker := &recorder{}
	client := serve(t, broker, func(c *Config) { c.Auth.Password = secret })
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, status := range []int{400, 404, 422, 500, 502} {
				broker.answer(status, test.body)
				broker.header = map[string]string{"Content-Type": test.contentType}
				_, err := client.Update(t.Context(), completeRequests().update)
				assert.Equal(t, test.want, failure(t, err).Description, "%d: %s", status, test.reason)
			}
		})
	}
	broker.header = map[string]string{"Content-Type": "text/html"}
	broker.answer(200, "<html>")
	_, err := client.Update(t.Context(), completeRequests().update)
	assert.Equal(t, fmt.Sprintf(html, "text/html"), failure(t, err).Unlawful, "a success that is a page is none")
	broker.answer(302, "see "+secret)
	_, err = client.Update(t.Context(), completeRequests().update)
	assert.Empty(t, failure(t, err).Description, "what leads elsewhere is no broker's error")
}

// TestDeletedByAPage: what no broker wrote does not say that anything is gone.
func TestDeletedByAPage(t *testing.T) {
	broker := &recorder{}
	client := serve(t, broker)
	for body, lawful := range map[string]bool{
		"": true, "{}": true, "OK": true, "null": true, "[]": true, `{"a":1}`: true,
		"<html>sign in</html>": false, " <!doctype HTML>": false, "<?xml version='1.0'?><html>": false, "<!-- 502 -->": false, "<script>": false,
		`{"a":`: false, `[1] 2`: false, "\ufeff{}": true,
	} {
		broker.answer(200, body)
		broker.header = map[string]string{"Content-Type": "text/html"}
		_, unbound := client.Unbind(t.Context(), completeRequests().unbind)
		_, deprovisioned := client.Deprovision(t.Context(), completeRequests().deprovision)
		for _, err := range []error{unbound, deprovisioned} {
			if lawful {
				assert.NoError(t, err, body)
				continue
			}
			assert.True(t, failure(t, err).Malformed, body)
		}
	}
}

func TestOversizedAnswers(t *testing.T) {
	broker := &recorder{}
	client := serve(t, broker, func(c *Config) { c.MaxBody, c.MaxCatalog = 64, 128 })
	fill := func(bytes int) string { return `{"services":[]` + strings.Repeat(" ", bytes-15) + `}` }
	for _, operation := range operations() {
		t.Run(operation.name, func(t *testing.T) {
			limit := 64
			if operation.name == "Catalog" {
				limit = 128
			}
			broker.answer(200, fill(limit))
			_, err := operation.call(t.Context(), client)
			if operation.name == "Poll" {
				assert.Equal(t, "state is none of \"in progress\", \"succeeded\" and \"failed\"", failure(t, err).Unlawful)
			} else {
				assert.NoError(t, err, "the bound itself is allowed")
			}
			broker.answer(200, fill(limit+1))
			_, err = operation.call(t.Context(), client)
			if strings.HasPrefix(operation.name, "De") || operation.name == "Unbind" {
				assert.NoError(t, err, "this body is not read")
			} else {
				assert.Equal(t, "it is too long", failure(t, err).Unlawful)
			}
			broker.answer(400, fill(limit+1))
			_, err = operation.call(t.Context(), client)
			assert.Equal(t, Rejected, KindOf(err), "the status says it")
		})
	}
}

// TestManyValues: what is small as text and large in memory is refused before it is read.
func TestManyValues(t *testing.T) {
	broker := &recorder{}
	client := serve(t, broker, func(c *Config) { c.MaxValues, c.MaxCatalogValues = 10, 20 })
	fill := func(values int) string { return `{"services":[` + strings.Repeat(`0,`, values-2) + `0]}` }
	for _, operation := range operations() {
		t.Run(operation.name, func(t *testing.T) {
			limit := 10
			if operation.name == "Catalog" {
				limit = 20
			}
			unlawful := func(body string) string {
				broker.answer(200, body)
				if _, err := operation.call(t.Context(), client); err != nil {
					return failure(t, err).Unlawful
				}
				return ""
			}
			tooMany := fmt.Sprintf("its lists and objects have more than %d members", limit)
			assert.NotEqual(t, tooMany, unlawful(fill(limit)), "the bound itself is allowed")
			assert.NotEqual(t, tooMany, unlawful(`{"services":[], "description": "`+strings.Repeat(`,[{\"`, 100)+`"}`), "a text is one value")
			if !strings.HasPrefix(operation.name, "De") && operation.name != "Unbind" { // of which no body is read
				assert.Equal(t, tooMany, unlawful(fill(limit+1)))
			}
		})
	}
}

// TestManyPlans: a catalog has so many plans at most, wherever they are, and so many services, whatever they are.
func TestManyPlans(t *testing.T) {
	broker := &recorder{}
	client := serve(t, broker, func(c *Config) { c.MaxPlans = 4 })
	catalog := func(text string) error {
		broker.answer(200, text)
		_, err := client.Catalog(t.Context(), "")
		return err
	}
	two := `{"plans":[{},{}]}`
	require.NoError(t, catalog(`{"services":[`+two+`,`+two+`]}`))
	require.ErrorContains(t, catalog(`{"services":[`+two+`,`+two+`,`+two+`]}`), "services has more than 4 plans")
	require.NoError(t, catalog(`{"services":[0,0,0,{}]}`), "what cannot be read is skipped")
	require.ErrorContains(t, catalog(`{"services":[0,0,0,0,0]}`), "services has more than 4 services")
}
