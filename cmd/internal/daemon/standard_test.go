package daemon

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// TestNoQuoteIsLogged has net/http log what a broker sends after its answer.
//
//nolint:paralleltest // the standard logger is one for the process.
func TestNoQuoteIsLogged(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	before, flags := log.Writer(), log.Flags()
	t.Cleanup(func() { log.SetOutput(before); log.SetFlags(flags) })
	logStandardTo(zap.New(core))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, buffer, err := http.NewResponseController(w).Hijack()
		if assert.NoError(t, err) {
			_, _ = io.WriteString(buffer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK \"canary\"\r\n")
			_ = buffer.Flush()
			_, _ = io.Copy(io.Discard, connection)
		}
	}))
	defer server.CloseClientConnections()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	require.NoError(t, err)
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	_, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Eventually(t, func() bool { return logs.Len() > 0 }, 10*time.Second, time.Millisecond)
	for _, entry := range logs.All() {
		assert.Contains(t, entry.Message, "Unsolicited response")
		assert.NotContains(t, entry.Message, "canary")
		assert.Equal(t, true, entry.ContextMap()["quoteLeftOut"])
	}
}
