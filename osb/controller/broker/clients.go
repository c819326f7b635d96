package broker

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
)

// Clients has the clients of all brokers, and the state of each.
type Clients struct {
	Reader, Live client.Reader
	Clock        clock.PassiveClock
	// Config is what the clients of all brokers share.
	Config osb.Config
	Guard  *Guard
	// Queues is where calls wait.
	Queues *queue.Queues
	// Scope is the part of the cluster that is handled.
	Scope scope.Scope
	// Reread is how long credentials are cached.
	Reread time.Duration
	// Metrics count fetches of catalogs; nil counts nothing.
	Metrics *metrics.Counters
	// Secrets keeps Secrets from being deleted before their brokers.
	Secrets SecretKeeper
	// Relist requests a relist of a broker's catalog.
	Relist func(Key)

	mutex sync.Mutex
	known map[Key]*acquaintance
}

// An acquaintance is the state of a broker that was called.
type acquaintance struct {
	client *osb.Client
	// uid, generation and secret are those that the client was created from,
	// and readAt is when they were last checked.
	uid        types.UID
	generation int64
	secret     string
	readAt     time.Time
	// relistAsked is when a call last requested a relist.
	relistAsked time.Time
	// answered is when it last gave its catalog, and answeredAs its generation then.
	answered   time.Time
	answeredAs int64
}

func (b *Clients) acquaintance(key Key) *acquaintance {
	if b.known == nil {
		b.known = map[Key]*acquaintance{}
	}
	if b.known[key] == nil {
		b.known[key] = &acquaintance{}
	}
	return b.known[key]
}

// Find reads a broker from the cache, and live if the cache has none.
func (b *Clients) Find(ctx context.Context, key Key) (Broker, bool, error) {
	if key.Name == "" {
		return Broker{}, false, nil
	}
	o := key.empty()
	err := b.Reader.Get(ctx, key.At(), o)
	if apierrors.IsNotFound(err) {
		err = b.Live.Get(ctx, key.At(), o)
	}
	if apierrors.IsNotFound(err) {
		return Broker{}, false, nil
	}
	if err != nil {
		return Broker{}, false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return brokerOf(o), true, nil
}

// IsBeingDeleted says whether a broker is being deleted, by the cache: nothing
// new is provisioned there, whether or not its classes and plans are marked
// yet.
func (b *Clients) IsBeingDeleted(ctx context.Context, key Key) (bool, error) {
	if key.Name == "" {
		return false, nil
	}
	o := key.empty()
	err := b.Reader.Get(ctx, key.At(), o, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || scope.Problem(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return o.GetDeletionTimestamp() != nil, nil
}

var errUnknownBroker = fmt.Errorf("it is not known at which broker it is: its class is not there, or names none; if that does not come back, annotate it with %s: \"true\"", v1beta1.AnnotationAbandon)

// Client is the client of a broker. Its credentials are at most reread old.
func (b *Clients) Client(ctx context.Context, key Key) (*osb.Client, error) {
	found, ok, err := b.Find(ctx, key)
	if err != nil {
		return nil, err
	}
	if key == (Key{}) {
		return nil, errUnknownBroker
	}
	if !ok {
		return nil, fmt.Errorf("%s is not there", key)
	}
	now := b.Clock.Now()
	if known := b.fresh(key, found, now); known != nil {
		return known, nil
	}
	shown, err := b.credentialsOf(ctx, found)
	if err == nil && key.namespaced() {
		err = b.Guard.look(ctx)
	}
	if err != nil {
		return nil, err
	}
	return b.renew(key, found, shown, now)
}

// fresh is the cached client, if it is not too old.
func (b *Clients) fresh(key Key, found Broker, now time.Time) *osb.Client {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.acquaintance(key)
	if a.client == nil || a.uid != found.object.GetUID() || a.generation != found.object.GetGeneration() || now.Sub(a.readAt) > b.Reread {
		return nil
	}
	return a.client
}

// renew creates a client, unless nothing changed since the last one.
func (b *Clients) renew(key Key, found Broker, shown brokerCredentials, now time.Time) (*osb.Client, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.acquaintance(key)
	if a.client != nil && a.uid == found.object.GetUID() && a.generation == found.object.GetGeneration() && a.secret == shown.version {
		a.readAt = now
		return a.client, nil
	}
	config := b.Config
	config.URL, config.CABundle, config.InsecureSkipVerify = found.Spec.URL, found.Spec.CABundle, found.Spec.InsecureSkipTLSVerify
	config.Auth, config.ClientCertificate = shown.auth, shown.certificate
	if key.namespaced() {
		config.Dial, config.Direct = b.Guard.dial, true
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

// Forget makes the next call read the credentials again.
func (b *Clients) Forget(key Key) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if a := b.known[key]; a != nil { // else the broker went during the call
		a.readAt = time.Time{}
	}
}

// Catalog reads a broker's catalog; nil if the etag still matches. It counts as
// a call only if there is a client: without one nothing is sent.
func (b *Clients) Catalog(ctx context.Context, o client.Object, etag string) (*osb.Catalog, error) {
	key := keyOfBroker(o)
	c, err := b.Client(ctx, key)
	if err != nil {
		return nil, err
	}
	read, err := b.Metrics.Fetching(ctx, key.At(), b.Clock, func(ctx context.Context) (*osb.Catalog, error) { return c.Catalog(ctx, etag) })
	switch {
	case err == nil:
		b.Queues.Answered(key.At())
		b.answers(key, o)
	case osb.KindOf(err) == osb.Auth:
		b.Forget(key)
	}
	return read, err
}

// answers records that a broker returned its catalog: its address is right.
func (b *Clients) answers(key Key, o client.Object) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	// Otherwise it was deleted during the call, or recreated.
	if a := b.known[key]; a != nil && a.uid == o.GetUID() {
		a.answered, a.answeredAs = b.Clock.Now(), o.GetGeneration()
	}
}

// AnsweredSince says whether a broker returned its catalog since a time, at its
// current address: to another process, which relisted it, or to this one,
// whatever the result.
func (b *Clients) AnsweredSince(key Key, known Broker, since time.Time) bool {
	if read := known.Status.LastCatalogRetrievalTime; known.ready() && read != nil && !read.Time.Before(since) {
		return true
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.known[key]
	return a != nil && a.uid == known.object.GetUID() && a.answeredAs == known.object.GetGeneration() && !a.answered.Before(since)
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

// relistPause is the time in which one relist of a broker is requested, however
// many calls find that its catalog has changed.
const relistPause = 10 * time.Second

// AskRelist requests a relist of a broker's catalog.
func (b *Clients) AskRelist(key Key, now time.Time) {
	if b.mayAsk(key, now) {
		b.Relist(key)
	}
}

// mayAsk says whether a broker exists, and no relist was requested just before.
func (b *Clients) mayAsk(key Key, now time.Time) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	a := b.known[key]
	if a == nil || now.Sub(a.relistAsked) < relistPause {
		return false
	}
	a.relistAsked = now
	return true
}

// Drop removes the state of a broker that is gone, and wakes what waits for it.
func (b *Clients) Drop(key Key) {
	b.Queues.Gone(key.At())
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if a := b.known[key]; a != nil && a.client != nil {
		a.client.Close()
	}
	delete(b.known, key)
}
