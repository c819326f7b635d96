package policies

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A RuleSet holds the policies of the cluster, compiled, and finds the few that
// may concern a plan or an instance: every review asks for them, and a thousand
// policies must cost it next to nothing.
type RuleSet struct {
	mu    sync.RWMutex
	rules map[ruleName]policy.Rule
	byKey map[string]map[ruleName]bool
	// synced says whether the set has all that was there when it began to follow; nil where
	// it follows nothing.
	synced func() bool
}

// errPoliciesUnread is why a set cannot say yet what policies deny: to say that none does
// would let through what they are there to refuse.
var errPoliciesUnread = errors.New("the policies have not been read yet: try again in some seconds")

// A ruleName tells policies apart.
type ruleName struct{ kind, name string }

// NewRuleSet returns a set without rules.
func NewRuleSet() *RuleSet {
	return &RuleSet{rules: map[ruleName]policy.Rule{}, byKey: map[string]map[ruleName]bool{}}
}

// Follow keeps the set up to date by informers of both kinds of policies. The
// returned function says whether the set has synced.
func (s *RuleSet) Follow(ctx context.Context, informers cache.Informers) (func() bool, error) {
	var synced []func() bool
	for _, kind := range []client.Object{&v1beta1.ProvisioningPolicy{}, &v1beta1.BindingPolicy{}} {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
		registration, err := informer.AddEventHandler(s.events(ctx))
		if err != nil {
			return nil, fmt.Errorf("cannot listen to %T: %w", kind, err)
		}
		synced = append(synced, registration.HasSynced)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = func() bool { return synced[0]() && synced[1]() }
	return s.synced, nil
}

func (s *RuleSet) events(ctx context.Context) toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { s.put(ctx, object) },
		UpdateFunc: func(_, object any) { s.put(ctx, object) },
		DeleteFunc: func(object any) {
			if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if o, ok := object.(client.Object); ok {
				s.Remove(o)
			}
		},
	}
}

// put adds or replaces a policy. One that cannot be compiled was stored without
// the hooks: it has no effect, which is logged.
func (s *RuleSet) put(ctx context.Context, object any) {
	o, ok := object.(client.Object)
	if !ok {
		return
	}
	name := ruleName{kindOfPolicy(o), o.GetName()}
	rule, err := compilePolicy(o)
	if err != nil {
		log.FromContext(ctx).Error(err, "a policy has no effect: correct it")
		s.drop(name)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
	s.rules[name] = rule
	for _, key := range rule.Keys() {
		if s.byKey[key] == nil {
			s.byKey[key] = map[ruleName]bool{}
		}
		s.byKey[key][name] = true
	}
}

func (s *RuleSet) drop(name ruleName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
}

// remove takes a rule out; the lock is held.
func (s *RuleSet) remove(name ruleName) {
	rule, known := s.rules[name]
	if !known {
		return
	}
	delete(s.rules, name)
	for _, key := range rule.Keys() {
		delete(s.byKey[key], name)
		if len(s.byKey[key]) == 0 {
			delete(s.byKey, key)
		}
	}
}

// RulesFor are the rules that may select the target. It fails while the set follows
// policies that it has not read.
func (s *RuleSet) RulesFor(target *policy.Target) ([]policy.Rule, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.synced != nil && !s.synced() {
		return nil, errPoliciesUnread
	}
	if len(s.rules) == 0 {
		return nil, nil
	}
	var found []policy.Rule
	for _, key := range target.Keys() {
		for name := range s.byKey[key] {
			found = append(found, s.rules[name])
		}
	}
	return found, nil
}

// MayRefuse says whether there are rules that may deny something. It fails as RulesFor does.
func (s *RuleSet) MayRefuse() (bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.synced != nil && !s.synced() {
		return false, errPoliciesUnread
	}
	for _, rule := range s.rules {
		if !rule.OnlyLimits {
			return true, nil
		}
	}
	return false, nil
}

func kindOfPolicy(object client.Object) string {
	if _, ok := object.(*v1beta1.BindingPolicy); ok {
		return policy.KindBinding
	}
	return policy.KindProvisioning
}

// compilePolicy returns the rule of a policy of either kind.
func compilePolicy(object runtime.Object) (policy.Rule, error) {
	switch p := object.(type) {
	case *v1beta1.ProvisioningPolicy:
		return policy.FromProvisioning(p) //nolint:wrapcheck // it names the policy
	case *v1beta1.BindingPolicy:
		return policy.FromBinding(p) //nolint:wrapcheck // it names the policy
	}
	return policy.Rule{}, fmt.Errorf("cannot compile a %T: it is no policy", object)
}
