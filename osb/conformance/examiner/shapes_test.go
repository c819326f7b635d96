package examiner_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/conformance/examiner"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An answer of any form is judged, and what it made is removed.
func TestAnswersOfAnyForm(t *testing.T) {
	t.Parallel()
	for name, operation := range map[string]any{"Object": map[string]any{}, "List": []any{1}, "Number": 7, "Null": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := osbtest.New(options(true))
			report := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				recorded := httptest.NewRecorder()
				broker.ServeHTTP(recorded, r)
				text := recorded.Body.Bytes()
				if recorded.Code == http.StatusAccepted {
					var err error
					text, err = json.Marshal(map[string]any{"operation": operation})
					assert.NoError(t, err)
				}
				w.WriteHeader(recorded.Code)
				_, _ = w.Write(text)
			}), func(o *examiner.Options) { o.Patience = 200 * time.Millisecond })
			assert.NotEmpty(t, report.Results)
			for _, left := range report.Leftovers {
				assert.Contains(t, left, "instance ", left)
			}
		})
	}
}

// What cannot be removed keeps nothing else from being removed.
func TestOneLeftoverIsAlone(t *testing.T) {
	t.Parallel()
	broker := osbtest.New(options(false))
	stuck := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, made := broker.Bindings()[path.Base(r.URL.Path)]
		if r.Method == http.MethodDelete && made && (stuck == "" || stuck == r.URL.Path) {
			stuck = r.URL.Path
			http.Error(w, "{}", http.StatusTooManyRequests)
			return
		}
		broker.ServeHTTP(w, r)
	}))
	defer server.Close()
	report, err := examiner.Examine(t.Context(), examiner.Options{
		URL: server.URL, Username: "platform", Password: "pass word", APIVersion: "2.17", Service: "db", Plan: "small", Parameters: parameters,
		HTTP: server.Client(), PollInterval: time.Millisecond, Patience: 2 * time.Second,
	})
	require.NoError(t, err)
	assert.LessOrEqual(t, len(broker.Bindings()), 1)
	assert.LessOrEqual(t, len(broker.Instances()), 1)
	assert.LessOrEqual(t, len(report.Leftovers), 2, "%v", report.Leftovers)
	assert.NotEmpty(t, report.Leftovers)
}
