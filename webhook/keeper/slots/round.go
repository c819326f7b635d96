package slots

import (
	"context"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A limiter is a policy that has, or had, limits in the namespace of a round.
type limiter struct {
	policy *v1beta1.ProvisioningPolicy
	rule   policy.Rule
	// slots are the slots to grant, and before those that are granted.
	slots, before v1beta1.PolicySlots
}

// of are the slots of a kind.
func (l *limiter) of(k quota.Kind) *[]types.UID {
	if k == quota.Bindings {
		return &l.slots.Bindings
	}
	return &l.slots.Instances
}

// round grants the slots of one namespace. It reads all of its input from the
// API server: the policies first, because a grant fails if they were written
// since, then what they select by, and then the objects. It says whether
// another round is needed at once.
func (s *slotAllocator) round(ctx context.Context, namespace string) (bool, error) {
	if concerned, err := s.concerned(ctx, namespace); err != nil || !concerned {
		return false, err
	}
	limiters, place, err := s.limiters(ctx, namespace)
	if err != nil || len(limiters) == 0 {
		return false, err
	}
	demands, err := newSlotCatalog(ctx, s, namespace).demands(ctx, limiters, place)
	if err != nil {
		return false, err
	}
	again := false
	for _, kind := range []quota.Kind{quota.Instances, quota.Bindings} {
		settled := quota.Settle(policiesOf(limiters, kind, place), demands[kind])
		for _, l := range limiters {
			*l.of(kind) = settled.Granted[l.policy.Name]
		}
		again = again || settled.Unsettled
	}
	for _, l := range limiters {
		if err := s.write(ctx, l); err != nil {
			return false, err
		}
	}
	return again, nil
}

// concerned says, by the cache, whether there is anything to grant or to
// revoke. A policy, or a label of the namespace, that the cache does not have
// yet causes another round when it arrives.
func (s *slotAllocator) concerned(ctx context.Context, namespace string) (bool, error) {
	var policies v1beta1.ProvisioningPolicyList
	cached := catalog.Scope{Reader: s.options.Client}
	if err := cached.List(ctx, &policies, nil); err != nil {
		return false, err
	}
	place, err := placeOf(ctx, cached, namespace)
	if err != nil {
		return false, err
	}
	for i := range policies.Items {
		p := &policies.Items[i]
		if slotsOf(&p.Status, namespace) != nil {
			return true, nil
		}
		if rule, err := policy.FromProvisioning(p); err == nil && rule.Limits.Any() && rule.Holds(place) {
			return true, nil
		}
	}
	return false, nil
}

// slotsOf are the slots of one namespace; nil: it has none. A policy may have those of thousands.
func slotsOf(status *v1beta1.PolicyStatus, namespace string) *v1beta1.PolicySlots {
	at := slices.IndexFunc(status.Slots, func(s v1beta1.PolicySlots) bool { return s.Namespace == namespace })
	if at < 0 {
		return nil
	}
	return &status.Slots[at]
}

// limiters are the policies with limits or slots in the namespace, by name. One
// that cannot be compiled has no effect: its slots are handled once it is
// corrected.
func (s *slotAllocator) limiters(ctx context.Context, namespace string) ([]*limiter, policy.Place, error) {
	live := catalog.Scope{Reader: s.options.Live}
	var policies v1beta1.ProvisioningPolicyList
	if err := live.List(ctx, &policies, nil); err != nil {
		return nil, policy.Place{}, err
	}
	place, err := placeOf(ctx, live, namespace)
	if err != nil {
		return nil, place, err
	}
	var limiters []*limiter
	for i := range policies.Items {
		p := &policies.Items[i]
		rule, err := policy.FromProvisioning(p)
		before := slotsOf(&p.Status, namespace)
		if err != nil || before == nil && (!rule.Limits.Any() || !rule.Holds(place)) {
			continue
		}
		l := &limiter{policy: p, rule: rule, slots: v1beta1.PolicySlots{Namespace: namespace}}
		if before != nil {
			l.before = *before
			l.slots = *before
		}
		limiters = append(limiters, l)
	}
	slices.SortFunc(limiters, func(a, b *limiter) int { return strings.Compare(a.policy.Name, b.policy.Name) })
	return limiters, place, nil
}

// policiesOf is the input of quota.Settle for a kind: a policy that no longer
// applies to this namespace has no limit, and no object needs its slots.
func policiesOf(limiters []*limiter, kind quota.Kind, place policy.Place) []quota.Policy {
	policies := make([]quota.Policy, len(limiters))
	for i, l := range limiters {
		policies[i] = quota.Policy{Name: l.policy.Name, Granted: *l.of(kind)}
		if l.rule.Holds(place) {
			policies[i].Limit = kind.Of(l.rule.Limits)
		}
	}
	return policies
}

func rulesOf(limiters []*limiter) []policy.Rule {
	rules := make([]policy.Rule, len(limiters))
	for i, l := range limiters {
		rules[i] = l.rule
	}
	return rules
}
