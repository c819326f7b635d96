package osb

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzCatalog: reading never panics, loses no service without saying so, and reads
// what it would write as it was.
func FuzzCatalog(f *testing.F) {
	for _, seed := range []string{
		`{"services":[]}`, `{"services":null}`, `{}`, `[]`, "\xef\xbb\xbf{\"services\":[{}]}",
		`{"services":[1,{"id":"a","plans":[{"id":"p","free":"x"},{"schemas":{"service_instance":{"create":{"parameters":{"<":1.0}}}}}]}]}`,
		`{"services":[{"metadata":{"a":1e400},"plans":[{"maximum_polling_duration":1e400,"maintenance_info":{"version":"1"}}]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read := open(body)
		catalog := readCatalog(read, DefaultMaxPlans, strings.NewReplacer())
		if *read.wrong != "" {
			assert.Empty(t, catalog.Services)
			return
		}
		services, plans := len(catalog.Services), 0
		for _, skip := range catalog.Skipped {
			assert.NotEmpty(t, skip.Reason)
			assert.NotEmpty(t, skip.Service)
			assert.LessOrEqual(t, utf8.RuneCountInString(skip.Service), maxName)
			if skip.Plan == "" {
				services++
				continue
			}
			plans++
		}
		assert.Len(t, read.list("services"), services)
		for _, service := range catalog.Services {
			plans += len(service.Plans)
		}
		assert.Equal(t, plansOf(read), plans)

		written, err := json.Marshal(catalog)
		require.NoError(t, err)
		var again Catalog
		require.NoError(t, json.Unmarshal(written, &again))
		assert.Empty(t, again.Skipped)
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		assert.Equal(t, string(written), string(twice))
	})
}

// plansOf counts the plans of the services that can be read.
func plansOf(catalog *reading) int {
	count := 0
	for _, raw := range catalog.list("services") {
		entry := open(raw)
		if entry.service(0); *entry.wrong == "" {
			count += len(entry.list("plans"))
		}
	}
	return count
}

// FuzzReply: whatever is answered, reading never panics, and ends in a lawful value or
// in an *Error of a kind, with texts that are bounded and printable.
func FuzzReply(f *testing.F) {
	for _, body := range bodies {
		if len(body.body) < maxOperation {
			f.Add(uint16(200), []byte(body.body))
			f.Add(uint16(422), []byte(body.body))
		}
	}
	f.Add(uint16(201), []byte(`{"credentials":{"a":1},"endpoints":[{"ports":[1,"2",null]}],"metadata":{"expires_at":"2030-01-01T00:00:00Z"}}`))
	f.Add(uint16(202), []byte(`{"operation":"k"}`))
	scrub := Authentication{Token: "s3cret"}.scrubber()
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		for _, good := range [][]int{created, changed, fetched} {
			a := &httpResponse{call: call{good: good, absent: Gone}, status: int(status), body: body, scrub: scrub}
			if err := a.validate(); err != nil {
				lawfulError(t, err, false)
				continue
			}
			readAll(t, a)
		}
	})
}

func readAll(t *testing.T, a *httpResponse) {
	t.Helper()
	readers := []func() (*Response, error){a.response, a.bound, a.deleted}
	for _, read := range readers {
		response, err := read()
		if err != nil {
			assert.Nil(t, response)
			lawfulError(t, err, true)
			continue
		}
		assert.Equal(t, a.status == 202, response.Async)
		if response.Operation != nil {
			assert.LessOrEqual(t, utf8.RuneCountInString(*response.Operation), maxOperation)
		}
		if response.Binding != nil && !response.Binding.ExpiresAt.IsZero() {
			assert.False(t, response.Binding.RenewBefore.After(response.Binding.ExpiresAt))
		}
	}
	if _, err := a.instance(); err != nil {
		lawfulError(t, err, true)
	}
	if _, err := a.fetchedBinding(); err != nil {
		lawfulError(t, err, true)
	}
	operation, err := a.lastOperation()
	if err != nil {
		lawfulError(t, err, true)
		return
	}
	assert.Contains(t, []OperationState{InProgress, Succeeded, Failed}, operation.State)
	lawfulText(t, operation.Description, maxDescription)
}

func lawfulError(t *testing.T, err error, malformed bool) {
	t.Helper()
	failed := failure(t, err)
	assert.NotEmpty(t, failed.Kind)
	assert.Equal(t, malformed, failed.Malformed)
	assert.Equal(t, malformed, failed.Unlawful != "")
	lawfulText(t, failed.Description, maxDescription)
	lawfulText(t, failed.Code, maxName)
}

func lawfulText(t *testing.T, text string, most int) {
	t.Helper()
	assert.True(t, utf8.ValidString(text))
	assert.LessOrEqual(t, utf8.RuneCountInString(text), most)
	assert.Equal(t, text, Printable(text, most), "made printable once is enough")
	assert.NotContains(t, text, "s3cret")
}
