package simulation

// A Report says what is different after the changes. What is the same is left out.
type Report struct {
	// Changed are the brokers, classes, plans, types and policies that admission or a relist
	// reads otherwise then, whether or not that makes anything below different: what is
	// created by the name of a plan, and what parameters it gets, is not asked.
	Changed []Object `json:"changed,omitempty"`
	// Types are the service types that resolve to another plan, or by another rule, in a
	// namespace.
	Types []Type `json:"types,omitempty"`
	// Instances and Bindings are those that exist, or would, for which something is different.
	Instances []Effect `json:"instances,omitempty"`
	Bindings  []Effect `json:"bindings,omitempty"`
	// Limits are those of policies that are used otherwise, or are others.
	Limits []Limit `json:"limits,omitempty"`
	// Refusals are of changes, and of what was admitted before and is not any more.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Costs are those of all decided instances.
	Costs Costs `json:"costs"`
	// Notes say what else to know of the changes, such as parts of a catalog that are skipped.
	Notes []string `json:"notes,omitempty"`
	// NotKnown is what the state and a simulation cannot say.
	NotKnown []string `json:"notKnown,omitempty"`
}

// A Type is a service type in a namespace.
type Type struct {
	Type      string `json:"type"`
	Namespace string `json:"namespace"`
	// Now and Then are what an instance gets that names the type alone.
	Now  Resolution `json:"now"`
	Then Resolution `json:"then"`
}

// A Resolution is what a service type resolves to: a plan, or a refusal.
type Resolution struct {
	// Plan and Class are the names at the broker, or else in Kubernetes. Both are empty with a
	// refusal, and where the instance would wait.
	Plan  string `json:"plan,omitempty"`
	Class string `json:"class,omitempty"`
	// Rule is the rule that chose the plan, such as cluster-default.
	Rule string `json:"rule,omitempty"`
	// Refusal is the whole text of the denial, or what the instance would wait for.
	Refusal string `json:"refusal,omitempty"`
	// Waits says that the instance would be admitted without a plan.
	Waits bool `json:"waits,omitempty"`
	// Costs are those of the plan.
	Costs []Cost `json:"costs,omitempty"`
}

// A What says what is different for an instance or binding.
type What string

// What may be different.
const (
	// Created and Deleted: it exists only then, or only now. Deleting: its deletion has begun.
	Created  What = "Created"
	Deleted  What = "Deleted"
	Deleting What = "Deleting"
	// WouldBeDecided: it waits for a plan now, and has one then.
	WouldBeDecided What = "WouldBeDecided"
	// Redecided: it has another plan then, or gets one at its next edit.
	Redecided What = "Redecided"
	// Edited: its spec is otherwise then, and its plan is the same.
	Edited What = "Edited"
	// Waits: it waits for a plan then, for another reason than now if it does now.
	Waits What = "Waits"
	// EditRefused and EditAllowed: its next edit of spec is refused then and not now, or the
	// other way round.
	EditRefused What = "EditRefused"
	EditAllowed What = "EditAllowed"
	// ParametersRefused and ParametersAllowed: the schema of its plan does not take its
	// parameters as they are then, and does now, or the other way round. It is asked at an edit
	// of parameters.
	ParametersRefused What = "ParametersRefused"
	ParametersAllowed What = "ParametersAllowed"
	// PlanGone and PlanBack: its plan is deleted or no longer listed then, or is again.
	PlanGone What = "PlanGone"
	PlanBack What = "PlanBack"
	// OverLimit: it has no slot of a policy with a limit then. WithinLimit: it has one again.
	OverLimit   What = "OverLimit"
	WithinLimit What = "WithinLimit"
)

// An Effect is what is different for an instance or binding.
type Effect struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	What      What   `json:"what"`
	// Now and Then are its plan as class/plan, or a word.
	Now  string `json:"now,omitempty"`
	Then string `json:"then,omitempty"`
	// Message is the text of a refusal or of a warning, whole.
	Message string `json:"message,omitempty"`
}

// A Limit is one of a policy in a namespace. Without a limit, it is absent.
type Limit struct {
	Policy    string `json:"policy"`
	Namespace string `json:"namespace"`
	// Kind is instances or bindings.
	Kind string `json:"kind"`
	Now  Usage  `json:"now"`
	Then Usage  `json:"then"`
}

// A Usage is how many objects a limit is about, how many slots are granted to them, and how
// many there may be.
type Usage struct {
	Used    int    `json:"used"`
	Granted int    `json:"granted"`
	Limit   *int32 `json:"limit,omitempty"`
}

// Over says that there are more objects than the limit lets be.
func (u Usage) Over() bool { return u.Limit != nil && u.Used > int(*u.Limit) }

// A Refusal is one that is new.
type Refusal struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Change says that one of the changes itself is refused: it has no effect.
	Change  bool   `json:"change,omitempty"`
	Message string `json:"message"`
}

// Costs are sums of what plans cost, of all namespaces and of those in which they are
// others.
type Costs struct {
	Now        Sum             `json:"now"`
	Then       Sum             `json:"then"`
	Namespaces []NamespaceCost `json:"namespaces,omitempty"`
}

// A NamespaceCost is what the instances of a namespace cost.
type NamespaceCost struct {
	Namespace string `json:"namespace"`
	Now       Sum    `json:"now"`
	Then      Sum    `json:"then"`
}

// A Sum is what some instances cost.
type Sum struct {
	Costs []Cost `json:"costs,omitempty"`
	// Unknown is how many instances have a plan without costs, or with some that cannot be
	// read.
	Unknown int `json:"unknown"`
}

// A Cost is an exact decimal in a currency, per unit.
type Cost struct {
	Currency string `json:"currency"`
	Unit     string `json:"unit"`
	Amount   string `json:"amount"`
}

// Changes says whether anything is different.
func (r *Report) Changes() bool {
	return len(r.Changed)+len(r.Types)+len(r.Instances)+len(r.Bindings)+len(r.Limits)+len(r.Refusals)+len(r.Costs.Namespaces) > 0
}

// Refused says whether a change itself is refused.
func (r *Report) Refused() bool {
	for i := range r.Refusals {
		if r.Refusals[i].Change {
			return true
		}
	}
	return false
}
