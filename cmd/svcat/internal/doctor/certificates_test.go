package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/certs"
)

func TestJudgeEnd(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		left   time.Duration
		want   finding
	}{
		"Long":     {reason: "nothing to do", left: 90*day + time.Hour, want: okf("certificates", "it ends in 90 days")},
		"Enough":   {reason: "two weeks are enough", left: soon, want: okf("certificates", "it ends in 14 days")},
		"Soon":     {reason: "what renews itself would have", left: soon - time.Second, want: warningf("certificates", renew, "it ends in 13 days")},
		"Tomorrow": {reason: "one is one", left: day, want: warningf("certificates", renew, "it ends in 1 day")},
		"Today":    {reason: "hours are not counted", left: day - time.Second, want: warningf("certificates", renew, "it ends in less than a day")},
		"Ended":    {reason: "the API server refuses it", left: 0, want: failedf("certificates", renew, "it ended at 2026-11-22T12:00:00Z")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, judgeEnd("it", noon.Add(tc.left), noon), tc.reason)
		})
	}
}

func TestJudgeBundle(t *testing.T) {
	t.Parallel()
	now := time.Now()
	old, err := certs.Issue("old", []string{"127.0.0.1"}, now.Add(-48*time.Hour), 24*time.Hour)
	require.NoError(t, err)
	next, err := certs.Issue("next", []string{"127.0.0.1"}, now, 30*day+time.Hour)
	require.NoError(t, err)
	assert.Equal(t, levelFailed, judgeBundle(old.CA.Cert, now).Level)
	assert.Equal(t, okf("certificates", "the authority in the hooks' caBundle ends in 30 days"), judgeBundle(append(old.CA.Cert, next.CA.Cert...), now), "while one replaces the other, both are there")
	assert.Equal(t, failedf("certificates", renew, "the hooks' caBundle holds no certificate"), judgeBundle([]byte("none"), now))
}

// TestServed dials what is named by URL, and believes only what the bundle vouches
// for.
func TestServed(t *testing.T) {
	t.Parallel()
	issued, err := certs.Issue("own", []string{"127.0.0.1"}, time.Now(), 30*day)
	require.NoError(t, err)
	other, err := certs.Issue("other", []string{"127.0.0.1"}, time.Now(), 30*day)
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(issued.Leaf.Cert, issued.Leaf.Key)
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	go answer(t.Context(), listener)
	host := listener.Addr().String()

	leaf, err := served(t.Context(), host, issued.CA.Cert)
	require.NoError(t, err)
	assert.Equal(t, levelOK, judgeServed(host, leaf, err, time.Now()).Level)
	_, err = served(t.Context(), host, other.CA.Cert)
	f := judgeServed(host, nil, err, time.Now())
	assert.Equal(t, levelFailed, f.Level)
	assert.Contains(t, f.Message, "the API server does not trust the certificate of "+host+": x509: ")
	require.NoError(t, listener.Close())
	_, err = served(t.Context(), host, issued.CA.Cert)
	f = judgeServed(host, nil, err, time.Now())
	assert.Equal(t, levelWarning, f.Level, "from here it may be out of reach, and yet serve")
	assert.Contains(t, f.Message, "was not looked at")
	assert.Equal(t, levelWarning, judgeServed(host, nil, errors.New("x"), time.Now()).Level)
}

// answer shakes hands with every caller.
func answer(ctx context.Context, listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		if secured, ok := conn.(*tls.Conn); ok {
			_ = secured.HandshakeContext(ctx) // the caller says what came of it
		}
		_ = conn.Close()
	}
}

func TestHostOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "h:8443", hostOf(new("https://h:8443/mutate/x")))
	assert.Equal(t, "h:443", hostOf(new("https://h/mutate/x")))
	assert.Empty(t, hostOf(new("://")))
	assert.Empty(t, hostOf(nil))
}
