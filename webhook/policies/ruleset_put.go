package policies

import (
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Put adds or replaces a policy of either kind, for callers without informers.
// One that cannot be compiled has no effect; the error says why.
func (s *RuleSet) Put(ctx context.Context, policy client.Object) error {
	if _, err := compilePolicy(policy); err != nil {
		s.drop(ruleName{kindOfPolicy(policy), policy.GetName()})
		return err
	}
	s.put(ctx, policy)
	return nil
}

// Remove takes out a policy of either kind.
func (s *RuleSet) Remove(policy client.Object) {
	s.drop(ruleName{kindOfPolicy(policy), policy.GetName()})
}

// Clone is a set with the same rules, of which each is changed without the other. It
// follows nothing.
func (s *RuleSet) Clone() *RuleSet {
	s.mu.RLock()
	defer s.mu.RUnlock()
	copied := &RuleSet{rules: maps.Clone(s.rules), byKey: make(map[string]map[ruleName]bool, len(s.byKey))}
	for key, names := range s.byKey {
		copied.byKey[key] = maps.Clone(names)
	}
	return copied
}
