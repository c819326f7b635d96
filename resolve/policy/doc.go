// Package policy is pure: it says what the operator's ProvisioningPolicies and
// BindingPolicies refuse. Policies, a target and a place go in and a refusal
// comes out; it reads no clock, makes no call and logs nothing, so admission and
// the keeper agree. The same rules give the same answer in every order.
//
//	any rule that denies selects the target and holds in the place  → refused
//	of one kind, rules that allow select the target, and none of
//	them holds in the place                                         → refused
//	else, and so where no rule selects the target                   → allowed
//
// The two kinds are judged each by itself: being allowed to bind does not make up
// for not being allowed to provision. Whoever asks about an instance gives the
// provisioning rules, whoever asks about a binding gives those of both kinds.
//
// A policy that is being deleted counts until it is gone. None of our programs
// puts a finalizer on policies, so whoever keeps one from going keeps what it
// says, and nobody gets past a rule by a deletion that has not happened.
//
// Subjects name classes and plans by their Kubernetes or external names, never by
// external IDs: a copy that an operator made to allow something else has its
// original's.
package policy
