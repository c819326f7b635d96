package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// The values that no output may have.
const (
	password  = "pass-word-of-the-broker"
	parameter = "value-of-a-parameter"
)

// conform runs the command.
func conform(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	for _, secret := range []string{password, parameter} {
		assert.NotContains(t, out.String(), secret)
		assert.NotContains(t, errs.String(), secret)
	}
	return code, out.String(), errs.String()
}

// write writes a file, and returns its name.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// demo is one of the demo's brokers, as the playground starts it.
func demo(t *testing.T, name string) *osbtest.Broker {
	t.Helper()
	options := osbtest.Demo(name)
	options.Username, options.Password, options.Crashes = "platform", password, true
	return osbtest.Start(t, options)
}

// TestDemoBrokersPass: the brokers of the demo keep all rules, with each of their plans, and
// nothing is left at them.
func TestDemoBrokersPass(t *testing.T) {
	t.Parallel()
	for _, name := range []string{osbtest.Azure, osbtest.Inhouse} {
		broker := demo(t, name)
		var offered struct {
			Services []struct {
				Name  string
				Plans []struct{ Name string }
			}
		}
		require.NoError(t, json.Unmarshal(osbtest.DemoCatalog(name), &offered))
		for _, service := range offered.Services {
			for _, plan := range service.Plans {
				code, out, errs := conform(t, "broker", "--url", broker.URL, "--username=platform", "--password", password,
					"--service", service.Name, "--plan", plan.Name, "--poll-interval=1ms", "--parameters", write(t, "parameters.json", `{"provision": {"a": "`+parameter+`"}}`))
				assert.Zero(t, code, "%s %s: %s%s", service.Name, plan.Name, out, errs)
			}
		}
		assert.Empty(t, broker.Instances())
		assert.Empty(t, broker.Bindings())
	}
}

// echo is a broker whose refusals repeat what it was sent, and are wrong.
func echo(t *testing.T, right http.Handler) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
		recorded := httptest.NewRecorder()
		right.ServeHTTP(recorded, r)
		if recorded.Code < http.StatusBadRequest {
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes())
			return
		}
		w.WriteHeader(http.StatusTeapot)
		said, _ := json.Marshal(map[string]any{"error": "", "description": string(text) + r.Header.Get("Authorization"), password: parameter})
		_, _ = w.Write(said)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestFormats: the same is said in each format, and the exit code is 1.
func TestFormats(t *testing.T) {
	t.Parallel()
	broker := demo(t, osbtest.Azure)
	args := []string{"broker", "--url", echo(t, http.StripPrefix("", broker)) + regexp.MustCompile(`/\d+$`).FindString(broker.URL), "--username=platform", "--password", password,
		"--poll-interval=1ms", "--patience=1s", "--parameters", write(t, "parameters.json", `{"provision": {"a": "`+parameter+`"}}`)}

	code, out, _ := conform(t, args...)
	assert.Equal(t, exitBroken, code)
	assert.Regexp(t, `(?m)^ERR-1 +MUST +broken +error, if present, is a string`, out)
	assert.Regexp(t, `(?m)^ +GET: error of a 418 is no text$`, out)
	assert.Regexp(t, `(?m)^broker, API 2\.17: \d+ kept, \d+ broken, \d+ not seen$`, out)

	code, out, _ = conform(t, append(args, "-o", "json")...)
	assert.Equal(t, exitBroken, code)
	var report conformance.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Len(t, report.Results, len(conformance.RulesFor(conformance.Broker)))
	assert.Contains(t, out, `"id": "AUTH-1"`)
	broken := report.Count(conformance.Broken) + len(report.Leftovers)
	assert.Positive(t, broken)

	code, out, _ = conform(t, append(args, "-o", "junit")...)
	assert.Equal(t, exitBroken, code)
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	require.NoError(t, xml.Unmarshal([]byte(out), &suite))
	assert.Equal(t, broken, suite.Failures)
	assert.Equal(t, report.Count(conformance.NotSeen), suite.Skipped)
	assert.Len(t, suite.Cases, suite.Tests)
}

// TestNothingToJudge: what cannot be judged ends with exit code 2 and says why.
func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	broker := demo(t, osbtest.Azure)
	at := []string{"broker", "--url", broker.URL}
	in := append(at, "--username=platform", "--password", password) //nolint:gocritic // another list is meant
	picky := osbtest.Start(t, osbtest.Options{Catalog: osbtest.DemoCatalog(osbtest.Azure)})
	picky.On(func(c osbtest.Call) osbtest.Fault {
		if c.Verb == osbtest.Provision && c.Body["maintenance_info"] == nil {
			return osbtest.Status(http.StatusBadRequest, `{"description": "size is missing"}`)
		}
		return osbtest.Fault{}
	})
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"NoCommand":     {[]string{"judge"}, "unknown command"},
		"NoURL":         {[]string{"broker"}, "--url"},
		"NoHost":        {[]string{"broker", "--url", "broker.example"}, "--url"},
		"UserInURL":     {[]string{"broker", "--url", "https://a:" + password + "@broker.example"}, "--username"},
		"Version":       {append(in, "--api-version=2.12"), "2.13"},
		"Format":        {append(in, "-o", "yaml"), "junit"},
		"Both":          {append(in, "--token=a"), "token"},
		"OnlyPassword":  {append(at, "--password=a"), "--username"},
		"NoParameters":  {append(in, "--parameters=/none"), "--parameters"},
		"BadParameters": {append(in, "--parameters", write(t, "p.json", `{"make": "`+parameter+`"}`)), "provision, update and bind"},
		"NoCA":          {append(in, "--ca-file=/none"), "--ca-file"},
		"BadCA":         {append(in, "--ca-file", write(t, "ca.pem", "none")), "PEM"},
		"NoTime":        {append(in, "--patience=0s"), "--patience"},
		"Unreachable":   {[]string{"broker", "--url", "http://127.0.0.1:1"}, "connection refused"},
		"ShutOut":       {append(at, "--username=platform", "--password=other"), "401"},
		"NoPlan":        {append(in, "--plan=none"), "--plan"},
		"Refused":       {[]string{"broker", "--url", picky.URL, "--poll-interval=1ms"}, "parameters that the plan needs"},
		"Until":         {[]string{"platform", "--until=later"}, "--until"},
		"Script":        {[]string{"platform", "--script", write(t, "s.json", `[{"verb": "make"}]`)}, "no verb"},
		"NoScript":      {[]string{"platform", "--script=/none"}, "--script"},
		"NoCatalog":     {[]string{"platform", "--catalog=/none"}, "--catalog"},
		"BadCatalog":    {[]string{"platform", "--catalog", write(t, "c.json", "{}")}, "catalog"},
		"Address":       {[]string{"platform", "--listen=here"}, "cannot listen"},
		"Subject":       {[]string{"rules", "user"}, "user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, errs := conform(t, test.args...)
			assert.Equal(t, exitFailed, code)
			assert.Contains(t, errs, test.says)
		})
	}
}

// TestTLS: the broker's certificate is verified, by a file that is given, or not at all.
func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(osbtest.New(osbtest.Options{Catalog: osbtest.DemoCatalog(osbtest.Inhouse), Token: password}))
	defer server.Close()
	authority := write(t, "ca.pem", string(pemOf(server)))
	args := []string{"broker", "--url", server.URL, "--token", password, "--poll-interval=1ms"}
	code, _, errs := conform(t, args...)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, errs, "certificate")
	code, out, errs := conform(t, append(args, "--ca-file", authority)...)
	assert.Zero(t, code, out, errs)
	code, out, errs = conform(t, append(args, "--insecure")...)
	assert.Zero(t, code, out, errs)
}

// TestRules prints what the page has.
func TestRules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/conformance.md")
	require.NoError(t, err)
	for _, subject := range []string{"broker", "platform"} {
		code, out, _ := conform(t, "rules", subject)
		assert.Zero(t, code)
		assert.Contains(t, string(page), out, "copy what osb-conformance rules %s prints into docs/conformance.md", subject)
	}
}

// announcing finds the URL of the broker in what is printed.
type announcing struct {
	found chan string
	bytes.Buffer
}

// Write sends the URL once.
func (a *announcing) Write(text []byte) (int, error) {
	if _, url, says := strings.Cut(string(text), "the broker is at "); says {
		a.found <- strings.TrimSpace(url)
	}
	return a.Buffer.Write(text)
}

// TestPlatform: a platform is judged until so many calls are answered, or until an interrupt.
func TestPlatform(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args    []string
		version string
		code    int
		calls   int
	}{
		"Kept":      {[]string{"--until=2"}, "2.17", exitKept, 2},
		"Broken":    {[]string{"--until=2"}, "", exitBroken, 2},
		"Interrupt": {nil, "2.17", exitKept, 2},
		"Duration":  {[]string{"--until=300ms", "--crashes"}, "2.17", exitKept, 0},
		"Scripted":  {[]string{"--until=2", "--script", write(t, "s.json", `[{"verb": "catalog", "fault": "status", "status": 500, "times": 2}]`)}, "2.17", exitKept, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var out bytes.Buffer
			errs := &announcing{found: make(chan string, 1)}
			ended := make(chan int)
			args := append([]string{"platform", "--listen=127.0.0.1:0", "--prefix=/osb", "--username=ann", "--password", password, "-o", "json"}, test.args...)
			go func() { ended <- run(ctx, args, &out, errs) }()
			url := <-errs.found
			for range test.calls {
				sent, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v2/catalog", http.NoBody)
				require.NoError(t, err)
				sent.Header.Set("X-Broker-Api-Version", test.version)
				sent.SetBasicAuth("ann", password)
				got, err := http.DefaultClient.Do(sent)
				require.NoError(t, err)
				require.NoError(t, got.Body.Close())
			}
			if test.args == nil {
				interrupt()
			}
			assert.Equal(t, test.code, <-ended)
			var report conformance.Report
			require.NoError(t, json.Unmarshal(out.Bytes(), &report))
			assert.Equal(t, conformance.Platform, report.Subject)
			assert.NotContains(t, out.String(), password)
		})
	}
}

// TestStrict: a broken SHOULD counts only if it is to.
func TestStrict(t *testing.T) {
	t.Parallel()
	sheet := conformance.NewSheet(conformance.Platform, "2.17")
	sheet.Break("M4.1", "left out")
	require.NoError(t, (&output{format: "table"}).report(io.Discard, sheet.Report()))
	require.ErrorIs(t, (&output{format: "table", strict: true}).report(io.Discard, sheet.Report()), errBroken)
	sheet.Leave("instance i")
	require.ErrorIs(t, (&output{format: "junit"}).report(io.Discard, sheet.Report()), errBroken)
}

// pemOf is the certificate of a server.
func pemOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
