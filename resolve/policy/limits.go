package policy

import "github.com/defaultplan/defaultplan/api/v1beta1"

// Limits are how many of what a rule selects a namespace may have. What is nil is not
// limited.
type Limits struct {
	Instances, Bindings *int32
}

// Any says that something is limited.
func (l Limits) Any() bool { return l.Instances != nil || l.Bindings != nil }

// actionsOf are the actions that policies of a kind may have.
func actionsOf(kind string) []v1beta1.PolicyAction {
	actions := []v1beta1.PolicyAction{v1beta1.PolicyAllow, v1beta1.PolicyDeny}
	if kind == KindProvisioning {
		actions = append(actions, v1beta1.PolicyLimit)
	}
	return actions
}
