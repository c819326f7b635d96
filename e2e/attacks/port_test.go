package attacks_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestHooksPort: who reaches the port of the hooks, and keeps it busy with more
// connections or larger bodies than it takes, is turned away, and no other client is: neither
// the API server here nor, for the tests beside this one, on the same port.
func TestHooksPort(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddCatalog(env.Class{Name: e.Name("db"), ServiceType: e.Name("sql")}, env.Plan{Name: e.Name("small"), Class: e.Name("db"), Default: true})
	created := 0
	creates := func() {
		for range 10 {
			created++
			assert.Equal(t, e.Name("small"), env.PlanOf(e.CreateInstance(fmt.Sprintf("mydb-%d", created), env.OfType(e.Name("sql")))))
		}
	}
	turnedAway := func(what string) float64 {
		return e.Metric(0, "defaultplan_webhook_turned_away_total", `what="`+what+`"`)
	}

	for closed := turnedAway("connection"); turnedAway("connection") == closed; {
		// More than it keeps. On a busy machine those that came first may have been given up before the last are there.
		crowd := make([]net.Conn, 1200)
		for i := range crowd {
			crowd[i] = connect(e)
		}
		creates()
		for _, conn := range crowd {
			require.NoError(t, conn.Close())
		}
	}

	attempts := 0
	e.Eventually(func() (bool, error) {
		const large = 7 << 20 // five are more than it reads at once
		first := sendBody(e, large, large+1)
		for range 4 {
			sendBody(e, large, large+1)
		}
		answer, err := http.ReadResponse(bufio.NewReader(first), nil)
		if err != nil {
			return false, err
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") == "1" && answer.Close {
			return true, nil
		}
		// On a busy machine the first may have had its time before the last are sent.
		attempts++
		return attempts == 100, fmt.Errorf("attempt %d was answered %s", attempts, answer.Status)
	})
	assert.Positive(t, turnedAway("review"))
	creates()
}

// connect opens a connection to the hooks and says nothing. It stays open until the end of
// the test, or until it is closed before.
func connect(e *env.Env) net.Conn {
	e.Helper()
	to, err := url.Parse(e.WebhookURL("/"))
	require.NoError(e, err)
	conn, err := (&net.Dialer{}).DialContext(e.Context(), "tcp", to.Host)
	require.NoError(e, err)
	e.Cleanup(func() { _ = conn.Close() })
	return conn
}

// sendBody sends some bytes of the body that it announces.
func sendBody(e *env.Env, sent, announced int) net.Conn {
	e.Helper()
	conn := tls.Client(connect(e), &tls.Config{InsecureSkipVerify: true})
	_, err := fmt.Fprintf(conn, "POST /mutate/serviceinstances HTTP/1.1\r\nHost: hooks\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		announced, strings.Repeat(" ", sent))
	require.NoError(e, err)
	return conn
}
