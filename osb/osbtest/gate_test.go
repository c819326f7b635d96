package osbtest_test

import (
	stdcontext "context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestGates holds a call at both gates.
func TestGates(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	held := p.broker.Hold(osbtest.Provision)
	came := make(chan answer, 1)
	go func() { came <- p.send(provision("i")) }()
	<-held.Arrived
	assert.Equal(t, "i", held.Call().InstanceID)
	assert.Empty(t, p.broker.Instances(), "it has not acted")
	assert.Equal(t, osbtest.Pending, p.broker.Calls()[0].Outcome)
	held.Act()
	<-held.Acted
	assert.Len(t, p.broker.Instances(), 1)
	assert.Empty(t, came, "it has not answered")
	held.Answer()
	assert.Equal(t, 201, (<-came).status)
	p.must(200, provision("i"))
	p.broker.AssertDuties(t)
}

// TestGatesOutliveThePlatform has the platform die at each gate: the broker acts all
// the same, and the next platform cleans up.
func TestGatesOutliveThePlatform(t *testing.T) {
	t.Parallel()
	for name, afterActing := range map[string]bool{"BeforeActing": false, "AfterActing": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			held := p.broker.Hold(osbtest.Provision)
			var die stdcontext.CancelFunc
			p.ctx, die = stdcontext.WithCancel(t.Context())
			came := make(chan answer, 1)
			go func() { came <- p.send(provision("i")) }()
			<-held.Arrived
			if afterActing {
				held.Act()
				<-held.Acted
			}
			die()
			require.Error(t, (<-came).err)
			<-held.Left()
			p.ctx = t.Context()
			if !afterActing {
				p.must(410, deprovision("i").mitigates())
				assert.Empty(t, p.broker.Orphans())
				held.Act()
				<-held.Acted
			}
			assert.Len(t, p.broker.Instances(), 1)
			held.Answer()
			require.Eventually(t, func() bool { return p.broker.Calls()[0].Outcome == osbtest.Lost }, 5*time.Second, time.Millisecond)
			assert.Len(t, p.broker.Orphans(), 1, "what was made late is due, and again")
			p.must(200, deprovision("i").mitigates())
			p.broker.AssertDuties(t)
		})
	}
}

func TestBrokerComesBackWithItsBooks(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{Crashes: true})
	p.must(201, provision("i"))
	held := p.broker.Hold(osbtest.Provision)
	came := make(chan answer, 1)
	go func() { came <- p.send(provision("i2")) }()
	<-held.Arrived
	at, err := url.Parse(p.broker.URL)
	require.NoError(t, err)
	p.broker.Close()
	require.Error(t, (<-came).err, "a call that is held ends with the broker")
	require.Error(t, p.send(getCatalog()).err)
	require.NoError(t, p.broker.Listen(stdcontext.Background(), at.Host))
	p.must(200, provision("i"))
	p.broker.Close()
	p.broker.Close()
}

// A port is given again: what is meant for the broker that had it before is no call.
func TestABrokerIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	gone, p := osbtest.Start(t, osbtest.Options{}), newPlatform(t, osbtest.Options{})
	before, err := url.Parse(gone.URL)
	require.NoError(t, err)
	now, err := url.Parse(p.broker.URL)
	require.NoError(t, err)
	sent, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+now.Host+before.Path+"/v2/catalog", http.NoBody)
	require.NoError(t, err)
	got, err := http.DefaultClient.Do(sent)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	assert.Equal(t, http.StatusNotFound, got.StatusCode)
	assert.Empty(t, p.broker.Calls())
}

func TestServe(t *testing.T) {
	t.Parallel()
	ctx, cancel := stdcontext.WithCancel(t.Context())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorContains(t, osbtest.Serve(ctx, osbtest.Options{}, listener.Addr().String()), "cannot listen")
	cancel()
	require.NoError(t, osbtest.Serve(ctx, osbtest.Options{}, "127.0.0.1:0"), "the context is over")
}

func TestScriptIsForgotten(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Next(osbtest.GetCatalog, osbtest.Status(500, ""), osbtest.Fault{}, osbtest.Status(501, ""), osbtest.Status(502, ""))
	p.broker.On(func(osbtest.Call) osbtest.Fault { return osbtest.Status(503, "") })
	p.broker.Async(osbtest.Provision, 1)
	p.must(500, getCatalog())
	p.must(200, getCatalog())
	p.must(501, getCatalog())
	p.must(503, provision("i"))
	p.broker.Sync()
	p.must(200, getCatalog())
	p.must(201, provision("j"))
}

func TestTheSameTimeIsSafe(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{KeepCalls: 10})
	p.broker.On(osbtest.Random(7, 0.3, func(osbtest.Verb) []osbtest.Fault {
		return []osbtest.Fault{osbtest.CutAfter(), osbtest.Malformed(), osbtest.ConcurrencyError(), osbtest.CutMiddle()}
	}))
	done := make(chan struct{})
	for i := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			id := string(rune('a' + i))
			for range 5 {
				p.send(provision(id))
				p.send(bind(id, id+"b"))
				p.send(unbind(id, id+"b"))
				p.broker.Calls()
				p.broker.Instances()
				p.broker.Mitigations()
				p.broker.Violations()
				p.send(deprovision(id))
			}
		}()
	}
	for range 8 {
		<-done
	}
	p.broker.Sync()
	for id := range p.broker.Bindings() {
		p.must(200, unbind(id[:1], id))
	}
	for id := range p.broker.Instances() {
		p.must(200, deprovision(id))
	}
	assert.Empty(t, p.broker.Instances())
	for _, history := range p.broker.Histories() {
		assert.Equal(t, history.Made, history.Removed)
	}
}
