package webhook

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/lru"

	"github.com/defaultplan/defaultplan/resolve"
)

// How often a namespace may have a refusal confirmed by live reads. A burst is a
// manifest of many objects; the rate is what a loop of a broken client may cost.
const (
	confirmsPerSecond = 20
	confirmBurst      = 200
	confirmNamespaces = 4096
)

// A resolver is resolve.Plan on the live catalog: fast where the answer is yes,
// and sure where it is no.
type resolver struct {
	catalog  *catalog
	gates    featuregate.FeatureGate
	confirms limiter
}

// unconfirmed is what a refusal says that the API server was not asked about.
const unconfirmed = " (judged by the webhook's cache: this namespace asks too often)"

// resolve chooses the plan that req means. Before it refuses, it reads the
// candidates from the API server, unless it just has: a plan may have been applied
// just now.
func (r *resolver) resolve(ctx context.Context, req resolve.Request) (resolve.Choice, error) {
	choice, live, err := r.catalog.choose(ctx, req, r.closed)
	var refused *resolve.Error
	if live || !errors.As(err, &refused) || saysRequestItself(refused.Reason) {
		return choice, err
	}
	if !r.confirms.allow(req.Namespace) {
		refused.Detail += unconfirmed
		return choice, refused
	}
	return r.catalog.confirm(ctx, req, r.closed)
}

// mayConfirm says whether denied, which the cache led to, may be held against the
// API server. Where the namespace asks too often, denied says that it was not.
func (r *resolver) mayConfirm(namespace string, denied *denial) bool {
	if r.confirms.allow(namespace) {
		return true
	}
	denied.causes[len(denied.causes)-1].Message += unconfirmed
	return false
}

// saysRequestItself says that no state of the catalog would help.
func saysRequestItself(reason resolve.Reason) bool {
	return reason == resolve.NothingNamed || reason == resolve.InvalidReference || reason == resolve.InvalidSelector
}

// closed hides from resolve what a feature gate that is off keeps closed.
func (r *resolver) closed(found *part) {
	defaults, suggestions := r.gates.Enabled(ServiceTypes), r.gates.Enabled(ServiceTypes) && r.gates.Enabled(SuggestedPlans)
	if defaults && suggestions {
		return
	}
	plans := make([]resolve.PlanEntry, len(found.Plans))
	for i, plan := range found.Plans {
		plan.Default = plan.Default && defaults
		plan.Suggested = plan.Suggested && suggestions
		plans[i] = plan
	}
	found.Plans = plans
	if !defaults {
		found.Records = nil
	}
}

// A limiter gives each namespace a rate of its own. It remembers the most recent
// namespaces only: one that is forgotten starts with a full burst.
type limiter struct {
	mu    sync.Mutex
	known *lru.Cache
}

func (l *limiter) allow(namespace string) bool {
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
