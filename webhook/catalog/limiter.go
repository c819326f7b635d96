package catalog

import (
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// How often a namespace may have a refusal confirmed by live reads. A burst is a
// manifest of many objects; the rate is what a loop of a broken client may cost.
const (
	confirmsPerSecond = 20
	confirmBurst      = 200
	confirmNamespaces = 4096
)

// Unconfirmed is what a refusal says that the API server was not asked about.
const Unconfirmed = " (judged by the webhook's cache: this namespace asks too often)"

// A Limiter gives each namespace a rate of its own. It remembers the most recent
// namespaces only: one that is forgotten starts with a full burst.
type Limiter struct {
	mu    sync.Mutex
	known *lru.Cache
}

// Set gives a namespace a rate of another size.
func (l *Limiter) Set(namespace string, bucket *rate.Limiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = lru.New(confirmNamespaces)
	}
	l.known.Add(namespace, bucket)
}

// Allow says whether the namespace may have a refusal confirmed now.
func (l *Limiter) Allow(namespace string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = lru.New(confirmNamespaces)
	}
	if known, ok := l.known.Get(namespace); ok {
		bucket, _ := known.(*rate.Limiter)
		return bucket.Allow()
	}
	bucket := rate.NewLimiter(confirmsPerSecond, confirmBurst)
	l.known.Add(namespace, bucket)
	return bucket.Allow()
}
