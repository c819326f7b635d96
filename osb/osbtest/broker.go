package osbtest

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options configure a broker. The zero value has an empty catalog, needs no
// authentication and answers synchronously.
type Options struct {
	// Catalog is what it offers, as JSON; nil for nothing.
	Catalog []byte
	// Username and Password are asked for by basic authentication, or else Token as a
	// bearer; all empty: no authentication.
	Username, Password, Token string
	// TLS has Listen serve https; it may ask for client certificates.
	TLS *tls.Config
	// Prefix is the path below which the API is, such as "/acme"; may be empty.
	Prefix string
	// Now is the clock of Call.Began, of Retry-After and of expiry; nil: time.Now. Delays
	// are the real clock's: they happen on the wire.
	Now func() time.Time
	// Pace has the calls of a verb for a plan ID be asynchronous, and says how many polls
	// find them in progress. The script comes before it.
	Pace map[string]map[Verb]int
	// OneShot shows the credentials of a binding only once, as brokers may.
	OneShot bool
	// NoOperation returns no operation key with a 202.
	NoOperation bool
	// RetryAfter is the header with every 202 and with every poll that finds an operation
	// in progress: seconds, or a date; empty for none.
	RetryAfter string
	// Lifetime has bindings expire after it, and ask for renewal at half of it; 0: never.
	Lifetime time.Duration
	// Credentials are those of a new binding; nil for a believable set.
	Credentials func(Binding) map[string]any
	// Beside are the fields of a binding beside its credentials, such as syslog_drain_url; nil: none.
	Beside map[string]any
	// Endpoints are those of a new binding, as objects of host, ports and protocol; nil: none.
	Endpoints func(Binding) []map[string]any
	// Strict answers 400 to every call that breaks a duty.
	Strict bool
	// Crashes says that the platform is killed in this test. Then a request may be sent
	// again although its answer was delivered, and any creation may be mitigated.
	Crashes bool
	// KeepCalls bounds how many calls are kept; 0: all of them.
	KeepCalls int
}

// A Broker is one, with its books, its script and its record of calls. All methods are
// safe for use at the same time.
type Broker struct {
	// URL is where it listens, with its prefix; empty before Listen.
	URL string

	options  *Options
	mu       sync.Mutex
	offer    *offer
	books    *books
	script   *script
	actions  *actions
	recorder *recorder
	orphans  *orphans
	conduct  *conduct
	judge    *judge
	// wires are the connections that are open.
	wires  map[net.Conn]*wire
	server *http.Server
	// closing is closed when the broker is; a broker that listens again has another.
	closing chan struct{}
	closed  bool
}

// grace is how long a call that comes while another is under way waits for the other
// to be given up: the news that a platform has left travels on another connection. It
// is also the least that a platform keeps a connection on which it read an answer.
const grace = time.Second

// New returns a broker that does not listen yet; it is an http.Handler. It panics if
// the catalog is no JSON object of services: a test's catalog is the test's mistake.
func New(options Options) *Broker {
	if options.Now == nil {
		options.Now = time.Now
	}
	b := &Broker{
		options: &options, offer: newOffer(), books: newBooks(), script: newScript(), recorder: newRecorder(options.KeepCalls),
		wires: map[net.Conn]*wire{}, closing: make(chan struct{}),
	}
	b.actions = newActions(b.options, b.offer, b.books, b.script)
	b.conduct = newConduct(b.options, b.books)
	b.orphans = newOrphans(b.options, b.offer, b.books, b.recorder)
	b.judge = &judge{
		options: b.options, offer: b.offer, books: b.books, recorder: b.recorder, conduct: b.conduct, orphans: b.orphans,
	}
	if options.Catalog == nil {
		options.Catalog = []byte(`{"services":[]}`)
	}
	if err := b.SetCatalog(options.Catalog); err != nil {
		panic(err)
	}
	return b
}

// SetCatalog changes what the broker offers, to a JSON text that it serves as it is.
func (b *Broker) SetCatalog(text []byte) error {
	services, err := readServices(text)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offer.replace(text, services)
	return nil
}

// SetEndpoints changes the endpoints that bindings are shown with; nil: none.
func (b *Broker) SetEndpoints(endpoints func(Binding) []map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.options.Endpoints = endpoints
}

// SetAuth changes the credentials that the broker asks for; all empty for none.
func (b *Broker) SetAuth(username, password, token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.options.Username, b.options.Password, b.options.Token = username, password, token
}

// authorized says whether a request has the credentials that are asked for.
func (b *Broker) authorized(r *http.Request) bool {
	switch {
	case b.options.Username != "" || b.options.Password != "":
		username, password, found := r.BasicAuth()
		return found && username == b.options.Username && password == b.options.Password
	case b.options.Token != "":
		return r.Header.Get("Authorization") == "Bearer "+b.options.Token
	}
	return true
}
