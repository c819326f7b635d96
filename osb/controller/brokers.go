package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// brokers are the clients of all brokers, and how each of them does.
type brokers struct {
	reader, live client.Reader
	clock        clock.PassiveClock
	// config is what the clients of all brokers share.
	config osb.Config
	guard  *guard
	// queues is where calls wait.
	queues *queue.Queues
	// scope is the part of the cluster that is handled.
	scope scope.Scope
	// reread is how long credentials are taken to be as they were read.
	reread time.Duration
	// metrics count fetches of catalogs; nil counts nothing.
	metrics *metrics.Counters
	// secrets are kept from going before their brokers.
	secrets secretKeeper
	// relist asks for a broker's catalog to be read anew.
	relist func(brokerKey)

	mutex sync.Mutex
	known map[brokerKey]*acquaintance
}

// An acquaintance is a broker that was called.
type acquaintance struct {
	client *osb.Client
	// uid, generation and secret are of what the client was made from, and readAt is when
	// that was found to be so.
	uid        types.UID
	generation int64
	secret     string
	readAt     time.Time
	// relistAsked is when its catalog was asked for because of a call.
	relistAsked time.Time
	// answered is when it last gave its catalog, and answeredAs its generation then.
	answered   time.Time
	answeredAs int64
}

func (b *brokers) acquaintance(key brokerKey) *acquaintance {
	if b.known == nil {
		b.known = map[brokerKey]*acquaintance{}
	}
	if b.known[key] == nil {
		b.known[key] = &acquaintance{}
	}
	return b.known[key]
}

// find reads a broker from the cache, and live before it says that there is none.
func (b *brokers) find(ctx context.Context, key brokerKey) (broker, bool, error) {
	if key.name == "" {
		return broker{}, false, nil
	}
	o := key.empty()
	err := b.reader.Get(ctx, key.at(), o)
	if apierrors.IsNotFound(err) {
		err = b.live.Get(ctx, key.at(), o)
	}
	if apierrors.IsNotFound(err) {
		return broker{}, false, nil
	}
	if err != nil {
		return broker{}, false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return brokerOf(o), true, nil
}

// isBeingDeleted says that a broker goes, as far as the cache knows: nothing new is made there, whether or not its
// classes and plans are marked yet.
func (b *brokers) isBeingDeleted(ctx context.Context, key brokerKey) (bool, error) {
	if key.name == "" {
		return false, nil
	}
	o := key.empty()
	err := b.reader.Get(ctx, key.at(), o, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || scope.Problem(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return o.GetDeletionTimestamp() != nil, nil
}

var errUnknownBroker = fmt.Errorf("it is not known at which broker it is: its class is not there, or names none; if that does not come back, annotate it with %s: \"true\"", v1beta1.AnnotationAbandon)

// client is the client of a broker, with the credentials as they were at most a while
// ago.
func (b *brokers) client(ctx context.Context, key brokerKey) (*osb.Client, error) {
	found, ok, err := b.find(ctx, key)
	if err != nil {
		return nil, err
	}
	if key == (brokerKey{}) {
		return nil, errUnknownBroker
	}
	if !ok {
		return nil, fmt.Errorf("%s is not there", key)
	}
	now := b.clock.Now()
	if known := b.fresh(key, found, now); known != nil {
		return known, nil
	}
	shown, err := b.credentialsOf(ctx, found)
	if err == nil && key.namespace != "" {
		err = b.guard.look(ctx)
	}
	if err != nil {
		return nil, err
	}
	return b.renew(key, found, shown, now)
}

// fresh is the client that is known, if it is not too old.
func (b *brokers) fresh(key brokerKey, found broker, now time.Time) *osb.Client {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.acquaintance(key)
	if a.client == nil || a.uid != found.object.GetUID() || a.generation != found.object.GetGeneration() || now.Sub(a.readAt) > b.reread {
		return nil
	}
	return a.client
}

// renew makes a client, unless nothing changed since the last was made.
func (b *brokers) renew(key brokerKey, found broker, shown brokerCredentials, now time.Time) (*osb.Client, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.acquaintance(key)
	if a.client != nil && a.uid == found.object.GetUID() && a.generation == found.object.GetGeneration() && a.secret == shown.version {
		a.readAt = now
		return a.client, nil
	}
	config := b.config
	config.URL, config.CABundle, config.InsecureSkipVerify = found.spec.URL, found.spec.CABundle, found.spec.InsecureSkipTLSVerify
	config.Auth, config.ClientCertificate = shown.auth, shown.certificate
	if key.namespace != "" {
		config.Dial, config.Direct = b.guard.dial, true
		config.MaxCatalog, config.MaxCatalogValues, config.MaxPlans = maxTenantCatalog, maxTenantCatalogValues, maxTenantPlans
		config.MaxValues = maxTenantValues
	}
	made, err := osb.New(config)
	if err != nil {
		return nil, err
	}
	if a.client != nil {
		a.client.Close()
	}
	a.client, a.uid, a.generation, a.secret, a.readAt = made, found.object.GetUID(), found.object.GetGeneration(), shown.version, now
	return made, nil
}

// forget has credentials read anew at the next call.
func (b *brokers) forget(key brokerKey) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if a := b.known[key]; a != nil { // else the broker went during the call
		a.readAt = time.Time{}
	}
}

// catalog reads a broker's catalog; nil if it is as the one with the etag. It counts as a
// call once there is a client: without one nothing is sent.
func (b *brokers) catalog(ctx context.Context, o client.Object, etag string) (*osb.Catalog, error) {
	key := keyOfBroker(o)
	c, err := b.client(ctx, key)
	if err != nil {
		return nil, err
	}
	read, err := b.metrics.Fetching(ctx, key.at(), b.clock, func(ctx context.Context) (*osb.Catalog, error) { return c.Catalog(ctx, etag) })
	switch {
	case err == nil:
		b.queues.Answered(key.at())
		b.answers(key, o)
	case osb.KindOf(err) == osb.Auth:
		b.forget(key)
	}
	return read, err
}

// answers notes that a broker gave its catalog: its address is right.
func (b *brokers) answers(key brokerKey, o client.Object) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	// Else it went during the call, or was made again.
	if a := b.known[key]; a != nil && a.uid == o.GetUID() {
		a.answered, a.answeredAs = b.clock.Now(), o.GetGeneration()
	}
}

// answeredSince says that a broker gave its catalog since a time, at the address that it has now:
// to another process, which took it over, or to this one, whatever became of it.
func (b *brokers) answeredSince(key brokerKey, known broker, since time.Time) bool {
	if read := known.status.LastCatalogRetrievalTime; known.ready() && read != nil && !read.Time.Before(since) {
		return true
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.known[key]
	return a != nil && a.uid == known.object.GetUID() && a.answeredAs == known.object.GetGeneration() && !a.answered.Before(since)
}

// see finds out how the broker of a pass does. Its 404 is believed where its catalog was
// read since the removal began: its address is right.
func (b *brokers) see(ctx context.Context, found *gathered, r *lifecycle.Record) error {
	known, ok, err := b.find(ctx, found.broker)
	if problem := scope.Problem(err); problem != nil {
		found.Desired, found.Problem = nil, problem
		return nil
	}
	if err != nil {
		return err
	}
	// A broker that is not known is not known to be gone.
	found.BrokerGone = !ok && found.broker != brokerKey{}
	found.reread = found.reread || found.BrokerGone
	if ok {
		found.foreign = known.spec.ControllerName != b.scope.Name
		found.BrokerReady = r.Operation == lifecycle.Deprovisioning && b.answeredSince(found.broker, known, r.Started)
	}
	return nil
}

// What the answers of a namespace's broker may have, in bytes, in members of lists and objects, and
// in plans: many are read at once, and together they must not take the memory of the controller, nor
// the plans that of the webhook.
const (
	maxTenantCatalog       = 8 << 20
	maxTenantCatalogValues = 300_000
	maxTenantPlans         = 10_000
	maxTenantValues        = 20_000
)

// relistPause is the time in which a broker's catalog is asked for once, however many
// calls find that it is not as it was.
const relistPause = 10 * time.Second

// askRelist has a broker's catalog read anew.
func (b *brokers) askRelist(key brokerKey, now time.Time) {
	if b.mayAsk(key, now) {
		b.relist(key)
	}
}

// mayAsk says that a broker is there, and that its catalog was not asked for just before.
func (b *brokers) mayAsk(key brokerKey, now time.Time) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.known[key]
	if a == nil || now.Sub(a.relistAsked) < relistPause {
		return false
	}
	a.relistAsked = now
	return true
}

// drop forgets a broker that is gone: what waits for it finds that out.
func (b *brokers) drop(key brokerKey) {
	b.queues.Gone(key.at())
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if a := b.known[key]; a != nil && a.client != nil {
		a.client.Close()
	}
	delete(b.known, key)
}
