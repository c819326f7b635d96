// Package policy evaluates ProvisioningPolicies and BindingPolicies. It is
// pure: policies, a target and a place go in and a refusal comes out. It reads
// no clock, makes no call and logs nothing, so admission and the keeper agree.
// The order of the rules does not matter.
//
//	any rule that denies selects the target and holds in the place  → refused
//	of one kind, rules that allow select the target, and none of
//	them holds in the place                                         → refused
//	else, and so where no rule selects the target                   → allowed
//
// Each kind is evaluated by itself: permission to bind does not replace
// permission to provision. Callers pass the provisioning rules for an instance,
// and the rules of both kinds for a binding.
//
// A policy that is being deleted applies until it is gone. None of our programs
// puts a finalizer on policies. A finalizer that a user adds keeps the policy
// in force, so a deletion that has not finished never lifts a rule.
//
// Subjects name classes and plans by their Kubernetes or external names, never by
// external IDs: a copy that an operator made to allow something else has its
// original's.
package policy
