package apiproxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A fakeAPI is an API server that counts writes, and whose watches tell what tell is sent.
type fakeAPI struct {
	writes chan string
	tell   chan string
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer of-the-user":
		http.Error(w, "anonymous", http.StatusUnauthorized)
	case watches(r):
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case text := <-f.tell:
				_, _ = io.WriteString(w, text)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	case r.Method != http.MethodGet:
		body, _ := io.ReadAll(r.Body)
		f.writes <- r.Method + " " + string(body)
		_, _ = io.WriteString(w, "written")
	}
}

// newProxied is a proxy before a fakeAPI, and the address at which it listens.
func newProxied(t *testing.T) (*Proxy, *fakeAPI, string) {
	t.Helper()
	api := &fakeAPI{writes: make(chan string, 10), tell: make(chan string, 10)}
	server := httptest.NewTLSServer(api)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL, InsecureSkipTLSVerify: true}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "of-the-user"}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	file := filepath.Join(dir, "user")
	require.NoError(t, clientcmd.WriteToFile(*config, file))
	p, err := Start(t.Context(), file, filepath.Join(dir, "proxied"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	through, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig())
	require.NoError(t, err)
	content, err := os.ReadFile(p.Kubeconfig())
	require.NoError(t, err)
	assert.NotContains(t, string(content), "of-the-user")
	return p, api, through.Host
}

// requestOf makes a request and returns its answer, or the error.
func requestOf(ctx context.Context, method, url string, body io.Reader) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return string(text), errors.Join(err, response.Body.Close())
}

const instancePath = "/apis/servicecatalog.k8s.io/v1beta1/namespaces/ns/serviceinstances"

func TestProxyHoldsWrites(t *testing.T) {
	t.Parallel()
	p, api, host := newProxied(t)
	isStatus := func(w *Write) bool { return w.Status() != nil }
	h := p.Hold(isStatus)
	text, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
	require.NoError(t, err)
	assert.Equal(t, "written", text, "it is not held")
	assert.Equal(t, "POST ", <-api.writes)

	answer := make(chan string, 1)
	patch := func(ctx context.Context) {
		text, err := requestOf(ctx, http.MethodPatch, host+instancePath+"/db/status", strings.NewReader(`{"status":{"a":1}}`))
		if err != nil {
			text = "hung up"
		}
		answer <- text
	}
	go patch(t.Context())
	<-h.Arrived
	assert.Equal(t, "PATCH serviceinstances/status ns/db", h.Write().String())
	assert.False(t, h.Write().DryRun)
	assert.Equal(t, map[string]any{"a": 1.0}, h.Write().Status())
	assert.Empty(t, api.writes)
	h.Apply()
	<-h.Applied
	assert.Equal(t, `PATCH {"status":{"a":1}}`, <-api.writes)
	assert.Empty(t, answer)
	h.Answer()
	assert.Equal(t, "written", <-answer)

	ctx, die := context.WithCancel(t.Context())
	h = p.Hold(isStatus)
	go patch(ctx)
	<-h.Arrived
	die()
	assert.Equal(t, "hung up", <-answer)
	assert.Empty(t, api.writes, "the write of a client that died is not passed on")
}

func TestProxyIsAway(t *testing.T) {
	t.Parallel()
	p, _, host := newProxied(t)
	watch := watching(t, host)
	enough, back := p.Away(2)
	_, err := watch.Read(make([]byte, 10))
	require.Error(t, err, "a watch is cut off")
	for range 2 {
		_, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
		require.Error(t, err)
	}
	<-enough
	back()
	text, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
	require.NoError(t, err)
	assert.Equal(t, "written", text)
}

func TestProxyLags(t *testing.T) {
	t.Parallel()
	p, api, host := newProxied(t)
	watch := watching(t, host)
	p.Lag("secrets")()
	catchUp := p.Lag("serviceinstances")
	told := make(chan string, 1)
	go func() {
		text := make([]byte, 10)
		n, _ := watch.Read(text)
		told <- string(text[:n])
	}()
	api.tell <- "news"
	_, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
	require.NoError(t, err, "only watches lag")
	assert.Empty(t, told)
	catchUp()
	assert.Equal(t, "news", <-told)
	p.Delay(time.Millisecond)
	api.tell <- "more"
	text := make([]byte, 10)
	n, err := watch.Read(text)
	require.NoError(t, err)
	assert.Equal(t, "more", string(text[:n]))
}

// watching is the body of a watch that began.
func watching(t *testing.T, host string) io.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, host+instancePath+"?watch=true", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.Body
}

func TestProxyHoldsAnswers(t *testing.T) {
	t.Parallel()
	p, api, host := newProxied(t)
	h := p.HoldAnswer(func(w *Write) bool { return w.Code == http.StatusOK && w.Method == http.MethodPatch })
	_, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
	require.NoError(t, err)
	assert.Equal(t, "POST ", <-api.writes, "it is not held")
	answer := make(chan string, 1)
	go func() {
		text, err := requestOf(t.Context(), http.MethodPatch, host+instancePath+"/db", strings.NewReader(`{}`))
		if err != nil {
			text = err.Error()
		}
		answer <- text
	}()
	<-h.Applied
	assert.Equal(t, "PATCH serviceinstances/ ns/db", h.Write().String())
	assert.Equal(t, "PATCH {}", <-api.writes)
	assert.Empty(t, answer)
	h.Answer()
	assert.Equal(t, "written", <-answer)
}

func TestProxyKnowsADryRun(t *testing.T) {
	t.Parallel()
	p, _, host := newProxied(t)
	tried := make(chan bool, 1)
	p.Spy(func(w *Write) { tried <- w.DryRun })
	_, err := requestOf(t.Context(), http.MethodPost, host+instancePath+"?dryRun=All", http.NoBody)
	require.NoError(t, err)
	assert.True(t, <-tried)
}

func TestProxySpies(t *testing.T) {
	t.Parallel()
	p, _, host := newProxied(t)
	told := make(chan string, 10)
	p.Spy(func(w *Write) { told <- w.String() })
	_, back := p.Away(1 << 30)
	_, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
	require.Error(t, err)
	assert.Equal(t, "POST serviceinstances/ ns/", <-told, "it was tried, and cut off")
	back()
	_, err = requestOf(t.Context(), http.MethodPatch, host+instancePath+"/db/status", strings.NewReader(`{}`))
	require.NoError(t, err)
	assert.Equal(t, "PATCH serviceinstances/status ns/db", <-told)
	_, err = requestOf(t.Context(), http.MethodGet, host+instancePath, http.NoBody)
	require.NoError(t, err)
	assert.Empty(t, told, "a read is none")
}
