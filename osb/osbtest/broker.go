package osbtest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
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

// authorized says whether a request has the credentials that are asked for.
func (o *Options) authorized(r *http.Request) bool {
	switch {
	case o.Username != "" || o.Password != "":
		username, password, found := r.BasicAuth()
		return found && username == o.Username && password == o.Password
	case o.Token != "":
		return r.Header.Get("Authorization") == "Bearer "+o.Token
	}
	return true
}

// A Broker is one, with its books, its script and its record of calls. All methods are
// safe for use at the same time.
type Broker struct {
	// URL is where it listens, with its prefix; empty before Listen.
	URL string

	options *Options

	// mu guards the options and all that follows; collaborators that lock it hold a pointer to it.
	mu       sync.Mutex
	offer    *offer
	books    *books
	script   *script
	recorder *recorder
	conduct  *conduct
	orphans  *orphans
	judge    *judge
	wires    *wires
	// The stages of a call, in their order.
	reception  *reception
	departures *departures
	actions    *actions
	sender     *sender

	server  *http.Server
	closing *closing
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
	b := &Broker{options: &options, offer: newOffer(), books: newBooks(), script: newScript(), recorder: newRecorder(options.KeepCalls)}
	b.closing = &closing{mu: &b.mu, done: make(chan struct{})}
	b.conduct = newConduct(b.options, b.books)
	b.orphans = newOrphans(b.options, b.offer, b.books, b.recorder)
	b.judge = &judge{options: b.options, offer: b.offer, books: b.books, recorder: b.recorder, conduct: b.conduct, orphans: b.orphans}
	b.wires = &wires{mu: &b.mu, options: b.options, closing: b.closing, conduct: b.conduct, orphans: b.orphans, open: map[net.Conn]*wire{}}
	b.makeStages()
	if options.Catalog == nil {
		options.Catalog = []byte(`{"services":[]}`)
	}
	if err := b.SetCatalog(options.Catalog); err != nil {
		panic(err)
	}
	return b
}

// makeStages makes the stages that a call goes through.
func (b *Broker) makeStages() {
	b.reception = &reception{mu: &b.mu, options: b.options, script: b.script, books: b.books, recorder: b.recorder, wires: b.wires}
	b.departures = &departures{mu: &b.mu, options: b.options, recorder: b.recorder, judge: b.judge}
	operations := &operations{options: b.options, script: b.script, books: b.books}
	b.actions = &actions{
		mu: &b.mu, options: b.options, offer: b.offer, books: b.books, judge: b.judge, conduct: b.conduct, operations: operations,
		instances: &instanceActions{offer: b.offer, books: b.books, operations: operations},
		bindings:  &bindingActions{options: b.options, offer: b.offer, books: b.books, operations: operations},
	}
	b.sender = &sender{mu: &b.mu, options: b.options, closing: b.closing, conduct: b.conduct, orphans: b.orphans}
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

// Listen serves at an address, such as "127.0.0.1:0", and sets URL. After Close it may
// listen again, at the same address and with the same books: a broker that was away.
func (b *Broker) Listen(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen at %q: %w", addr, err)
	}
	scheme := "http://"
	server := &http.Server{
		Handler: b, TLSConfig: b.options.TLS, ReadHeaderTimeout: time.Minute,
		ConnContext: b.wires.attach, ConnState: b.wires.detach,
		ErrorLog: log.New(io.Discard, "", 0), // A platform that hangs up is no news here.
	}
	b.mu.Lock()
	if b.options.TLS != nil {
		scheme = "https://"
	}
	b.URL = scheme + listener.Addr().String() + b.options.Prefix
	b.server = server
	b.closing.reopen()
	b.mu.Unlock()
	go serve(server, listener)
	return nil
}

// Close stops listening and cuts the calls under way: one that is held at its first gate
// is not acted upon. The books and the record of calls stay.
func (b *Broker) Close() {
	b.mu.Lock()
	server := b.server
	b.server = nil
	b.closing.close()
	b.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// ServeHTTP takes one call through: it comes, waits where it is held, is judged, acted
// upon and answered, with the fault that the script has for it.
func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb, at := route(b.options.Prefix, r)
	if verb == "" {
		http.NotFound(w, r)
		return
	}
	v, held := b.reception.arrive(r, verb, at)
	defer b.reception.leave(v)
	if v.fault.cut == cutBefore {
		b.sender.abort(v)
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
	b.reception.read(v, body)
	ending := b.closing.ending()
	if held != nil {
		b.reception.present(v, held)
	}
	if held != nil && !pass(held.act, ending) || !wait(v.fault.delay, ending) || v.fault.cut == cutBefore {
		b.sender.abort(v)
	}
	b.departures.awaitRivals(v)
	b.departures.awaitReaders(v)
	answer := b.actions.perform(v)
	if held != nil {
		close(held.acted)
		if !pass(held.answer, ending) {
			b.sender.abort(v)
		}
	}
	b.sender.send(w, v, answer)
}

// Calls are those that came, in their order, or the last of them if Options.KeepCalls
// bounds them. All filters must hold.
func (b *Broker) Calls(filters ...func(Call) bool) []Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recorder.calls(filters)
}
