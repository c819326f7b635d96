package server

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What net/http has to say, such as of a handshake that failed, is a line as the others are.
func TestErrorsOfTheServerAreLogged(t *testing.T) {
	t.Parallel()
	var logged []string
	logger := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	s, err := New(Options{Registerer: prometheus.NewRegistry(), Bounds: DefaultBounds(), Log: logger})
	require.NoError(t, err)
	s.http(t.Context()).ErrorLog.Print("http: TLS handshake error from 192.0.2.1:4321: EOF")
	require.Len(t, logged, 1)
	assert.Contains(t, logged[0], `"msg"="http: TLS handshake error from 192.0.2.1:4321: EOF"`)
}
