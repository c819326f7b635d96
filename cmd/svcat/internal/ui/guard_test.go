package ui

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheTokenWorksOnce: for one browser, which gets a cookie that no script and no
// other site sees; what only looks does not spend it.
func TestTheTokenWorksOnce(t *testing.T) {
	t.Parallel()
	v := visit(t, newCluster(t, shop))
	enter := func(token string, change func(*http.Request)) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, v.guard.origin()+entrance+token, http.NoBody)
		// It is opened from a terminal, a file or a chat.
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		if change != nil {
			change(request)
		}
		recorder := httptest.NewRecorder()
		v.handler.ServeHTTP(recorder, request)
		assertHard(t, recorder.Header())
		return recorder
	}
	assert.GreaterOrEqual(t, len(v.guard.token), 26, "128 bits at least")
	assert.NotEqual(t, v.guard.token, v.guard.session)
	assert.Equal(t, http.StatusForbidden, enter("guess", nil).Code)
	assert.Equal(t, http.StatusForbidden, enter("", nil).Code)
	assert.NotEqual(t, http.StatusOK, enter(v.guard.token, func(r *http.Request) { r.Method = http.MethodHead }).Code)
	assert.NotEqual(t, http.StatusOK, enter(v.guard.token, func(r *http.Request) { r.Header.Set("Sec-Purpose", "prefetch;prerender") }).Code)

	let := enter(v.guard.token, nil)
	require.Equal(t, http.StatusOK, let.Code)
	cookies := let.Result().Cookies()
	require.Len(t, cookies, 1)
	assert.Equal(t, "svcat-ui-8001", cookies[0].Name)
	assert.True(t, cookies[0].HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
	assert.Empty(t, cookies[0].Domain)
	assert.NotContains(t, let.Body.String(), v.guard.session)
	assert.Contains(t, let.Body.String(), `content="0; url=/"`)

	again := enter(v.guard.token, nil)
	assert.Equal(t, http.StatusForbidden, again.Code)
	assert.Empty(t, again.Result().Cookies())
	assert.Equal(t, http.StatusOK, enter(v.guard.token, func(r *http.Request) { r.AddCookie(cookies[0]) }).Code, "who is in may reload")
}

// TestWhoIsKeptOut: by cookie, name, method, origin and kind of content.
func TestWhoIsKeptOut(t *testing.T) {
	t.Parallel()
	const plan = "/plans/cluster/small"
	form := url.Values{"name": {"other"}, "p/size": {"5"}}
	for name, tc := range map[string]struct {
		reason string
		method string
		change func(*http.Request)
		code   int
	}{
		"Ours":            {reason: "the visitor's own", method: http.MethodGet, code: http.StatusOK},
		"OursPost":        {reason: "the visitor's own form", method: http.MethodPost, code: http.StatusOK},
		"SameOrigin":      {reason: "as browsers say it", method: http.MethodGet, change: set("Sec-Fetch-Site", "same-origin"), code: http.StatusOK},
		"Typed":           {reason: "typed or reloaded", method: http.MethodGet, change: set("Sec-Fetch-Site", "none"), code: http.StatusOK},
		"NoCookie":        {reason: "another user of this machine", method: http.MethodGet, change: func(r *http.Request) { r.Header.Del("Cookie") }, code: http.StatusForbidden},
		"WrongCookie":     {reason: "a guess", method: http.MethodGet, change: set("Cookie", "svcat-ui-8001=guess"), code: http.StatusForbidden},
		"EmptyCookie":     {reason: "nothing is no cookie", method: http.MethodGet, change: set("Cookie", "svcat-ui-8001="), code: http.StatusForbidden},
		"Rebinding":       {reason: "a name that resolves to the loopback", method: http.MethodGet, change: host("evil.example:8001"), code: http.StatusMisdirectedRequest},
		"OtherName":       {reason: "a name of the loopback", method: http.MethodGet, change: host("localhost:8001"), code: http.StatusMisdirectedRequest},
		"OtherPort":       {reason: "a tunnel that changes the port", method: http.MethodGet, change: host("127.0.0.1:80"), code: http.StatusMisdirectedRequest},
		"NoHost":          {reason: "no name", method: http.MethodGet, change: host(""), code: http.StatusMisdirectedRequest},
		"CrossSite":       {reason: "a page of another site", method: http.MethodGet, change: set("Sec-Fetch-Site", "cross-site"), code: http.StatusForbidden},
		"OtherLocalPort":  {reason: "browsers send it the cookie, too", method: http.MethodGet, change: set("Sec-Fetch-Site", "same-site"), code: http.StatusForbidden},
		"Put":             {reason: "nothing is put", method: http.MethodPut, code: http.StatusMethodNotAllowed},
		"Delete":          {reason: "nothing is deleted", method: http.MethodDelete, code: http.StatusMethodNotAllowed},
		"Options":         {reason: "no CORS", method: http.MethodOptions, code: http.StatusMethodNotAllowed},
		"PostNoOrigin":    {reason: "browsers always say one", method: http.MethodPost, change: func(r *http.Request) { r.Header.Del("Origin") }, code: http.StatusForbidden},
		"PostOtherOrigin": {reason: "a form of another page", method: http.MethodPost, change: set("Origin", "https://evil.example"), code: http.StatusForbidden},
		"PostNullOrigin":  {reason: "a page without one", method: http.MethodPost, change: set("Origin", "null"), code: http.StatusForbidden},
		"PostOtherPort":   {reason: "another server of this machine", method: http.MethodPost, change: set("Origin", "http://127.0.0.1:9999"), code: http.StatusForbidden},
		"PostJSON":        {reason: "only forms", method: http.MethodPost, change: set("Content-Type", "application/json"), code: http.StatusUnsupportedMediaType},
		"PostText":        {reason: "only forms", method: http.MethodPost, change: set("Content-Type", "text/plain"), code: http.StatusUnsupportedMediaType},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shop)
			v := visit(t, c)
			request := v.request(tc.method, plan, v.fill(plan, form))
			if tc.change != nil {
				tc.change(request)
			}
			code, body := v.send(request)
			assert.Equal(t, tc.code, code, tc.reason)
			if tc.code != http.StatusOK {
				assert.NotContains(t, body, "azure", "nothing of the cluster is told")
				assert.Empty(t, c.tried)
			}
		})
	}
}

func set(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// TestBadInput: what no page sends is answered, and does no harm.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, method, path, body string
		code                       int
	}{
		"NoSuchPage":     {"no page", http.MethodGet, "/nowhere", "", http.StatusNotFound},
		"NoSuchPlan":     {"no plan", http.MethodGet, "/plans/cluster/none", "", http.StatusNotFound},
		"NoSuchScope":    {"no scope", http.MethodGet, "/plans/moon/small", "", http.StatusNotFound},
		"NoSuchFilter":   {"no value of a filter", http.MethodGet, "/plans?free=maybe", "", http.StatusBadRequest},
		"NoSuchScopes":   {"no scope to filter by", http.MethodGet, "/plans?scope=shop", "", http.StatusBadRequest},
		"Create":         {"only with --allow-create", http.MethodPost, "/plans/cluster/small/create", "manifest=x", http.StatusNotFound},
		"NoSuchType":     {"no type", http.MethodGet, "/types/none", "", http.StatusNotFound},
		"NoSuchInstance": {"no instance", http.MethodGet, "/instances/none", "", http.StatusNotFound},
		"NoSuchBinding":  {"no binding", http.MethodGet, "/bindings/none", "", http.StatusNotFound},
		"Traversal":      {"no way out of the assets", http.MethodGet, "/assets/..%2ftemplates%2flayout.html", "", http.StatusNotFound},
		"Directory":      {"no list of the assets", http.MethodGet, "/assets/", "", http.StatusNotFound},
		"PostElsewhere":  {"only plans have a form", http.MethodPost, "/instances", "a=b", http.StatusNotFound},
		"BrokenForm":     {"no form", http.MethodPost, "/plans/cluster/small", "a=%zz", http.StatusBadRequest},
		"HugeForm":       {"more than any form", http.MethodPost, "/plans/cluster/small", "name=" + strings.Repeat("a", maxBody), http.StatusBadRequest},
		"NoMark":         {"a form of no page", http.MethodPost, "/plans/cluster/small", "name=db2", http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shop)
			v := visit(t, c)
			request := v.request(tc.method, tc.path, nil)
			request.Body = http.NoBody
			if tc.body != "" {
				request.Body = readCloser{strings.NewReader(tc.body)}
			}
			code, _ := v.send(request)
			assert.Equal(t, tc.code, code, tc.reason)
			assert.Empty(t, c.tried)
		})
	}
}

type readCloser struct{ *strings.Reader }

// Close does nothing.
func (readCloser) Close() error { return nil }

// TestAssets: three files that need no cookie, since the page that says no looks the same.
func TestAssets(t *testing.T) {
	t.Parallel()
	v := visit(t, newCluster(t, ""))
	for name, kind := range map[string]string{"style.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, v.guard.origin()+assetsPath+name, http.NoBody)
		recorder := httptest.NewRecorder()
		v.handler.ServeHTTP(recorder, request)
		assert.Equal(t, http.StatusOK, recorder.Code, name)
		assert.Equal(t, kind, recorder.Header().Get("Content-Type"))
		assertHard(t, recorder.Header())
		assert.NotContains(t, recorder.Body.String(), "innerHTML")
	}
}
