package policies

import (
	"context"

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
