package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/lru"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// How often a namespace may have a refusal confirmed by live reads. A burst is a
// manifest of many objects; the rate is what a loop of a broken client may cost.
const (
	confirmsPerSecond = 20
	confirmBurst      = 200
	confirmNamespaces = 4096
)

// A resolver runs resolve.Plan: on the cache to allow, and on a live read
// before a denial.
type resolver struct {
	catalog  *catalog
	policies *policies
	gates    featuregate.FeatureGate
	confirms limiter
}

// unconfirmed is what a refusal says that the API server was not asked about.
const unconfirmed = " (judged by the webhook's cache: this namespace asks too often)"

// resolve chooses the plan that req means. Before a denial it reads the
// candidates live, unless they were, because a plan may just have been applied.
func (r *resolver) resolve(ctx context.Context, req resolve.Request) (resolve.Choice, error) {
	if err := req.Validate(); err != nil {
		return resolve.Choice{}, fmt.Errorf("cannot choose a plan: %w", err)
	}
	choice, live, err := r.catalog.choose(ctx, req, r.see)
	var refused *resolve.Error
	if live || !errors.As(err, &refused) || saysRequestItself(refused.Reason) {
		return choice, err
	}
	if !r.confirms.allow(req.Namespace) {
		refused.Detail += unconfirmed
		return choice, refused
	}
	return r.catalog.confirm(ctx, req, r.see)
}

// refuse evaluates the policies for a choice; the error may be a *policyError.
// A selector has skipped the plans that they deny.
func (r *resolver) refuse(ctx context.Context, req resolve.Request, choice *resolve.Choice) error {
	if req.Selector != nil && choice.Plan.Denied == "" {
		return nil
	}
	target := policy.TargetOf(choice.Class, choice.Plan)
	refused, err := r.refusal(ctx, &target, req.Namespace)
	if err != nil {
		return fmt.Errorf("cannot hold the choice against the policies: %w", err)
	}
	if refused == nil {
		return nil
	}
	refused.subject = planTitle(&choice.Class, &choice.Plan)
	return refused
}

// refusal is the policies' denial of a target in a namespace, nil for none. It
// is confirmed by a live read, unless the namespace exceeds its rate.
func (r *resolver) refusal(ctx context.Context, target *policy.Target, namespace string) (*policyError, error) {
	found, err := r.policies.judge(ctx, target, namespace)
	confirmed := err == nil && found != nil && r.confirms.allow(namespace)
	if confirmed {
		found, err = r.policies.confirmed(ctx, found, target, namespace)
	}
	if err != nil || found == nil {
		return nil, err
	}
	return &policyError{Refusal: found, namespace: namespace, unconfirmed: !confirmed}, nil
}

// planTitle is a plan as denials call it.
func planTitle(class *resolve.ClassEntry, plan *resolve.PlanEntry) string {
	return "plan " + cmp.Or(class.ExternalName, class.Name) + "/" + cmp.Or(plan.ExternalName, plan.Name)
}

// mayConfirm says whether denied, which the cache led to, may be held against the
// API server. Where the namespace asks too often, denied says that it was not.
func (r *resolver) mayConfirm(namespace string, denied *review.Denial) bool {
	if r.confirms.allow(namespace) {
		return true
	}
	denied.Causes[len(denied.Causes)-1].Message += unconfirmed
	return false
}

// saysRequestItself says that no state of the catalog would help.
func saysRequestItself(reason resolve.Reason) bool {
	return reason == resolve.NothingNamed || reason == resolve.InvalidReference || reason == resolve.InvalidSelector
}

// A filter prepares what was found of the catalog for a request: what it is not to
// see is hidden. To refuse it, what policies deny it is marked, so that a refusal
// does not advise a plan that would be refused next. A selector always passes over
// what is denied.
type filter func(ctx context.Context, req *resolve.Request, found *slice, toRefuse bool) error

func (r *resolver) see(ctx context.Context, req *resolve.Request, found *slice, toRefuse bool) error {
	r.closed(found)
	switch {
	case req.Selector != nil && toRefuse:
		rules, err := r.policies.readLive(ctx, policy.KindProvisioning)
		if err != nil {
			return err
		}
		return markDenied(ctx, found, func(*policy.Target) ([]policy.Rule, error) { return rules, nil }, r.policies.place(ctx, req.Namespace, r.policies.live))
	case req.Selector != nil, toRefuse:
		return markDenied(ctx, found, r.policies.set.rulesFor, r.policies.place(ctx, req.Namespace, r.policies.cached, r.policies.live))
	}
	return nil
}

// lookEvery is after how many plans a loop over them looks whether it is still waited for.
const lookEvery = 256

// markDenied marks the plans that policies keep from a place.
func markDenied(ctx context.Context, found *slice, rulesFor func(*policy.Target) ([]policy.Rule, error), place func() (policy.Place, error)) error {
	classes := make(map[resolve.Ref]*resolve.ClassEntry, len(found.Classes))
	for i := range found.Classes {
		classes[found.Classes[i].Ref] = &found.Classes[i]
	}
	plans := make([]resolve.PlanEntry, len(found.Plans))
	for i, plan := range found.Plans {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		plans[i] = plan
		class := classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}]
		if class == nil {
			continue
		}
		target := policy.TargetOf(*class, plan)
		rules, err := rulesFor(&target)
		if err != nil {
			return err
		}
		refusal, err := applyRules(rules, &target, place)
		if err != nil {
			return err
		}
		if refusal != nil {
			plans[i].Denied = refusal.Policies[0]
		}
	}
	found.Plans = plans
	return nil
}

// closed hides from resolve what a feature gate that is off keeps closed.
func (r *resolver) closed(found *slice) {
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
