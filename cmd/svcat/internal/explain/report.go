package explain

import "encoding/json"

// A Report is what -o json prints: one Explanation for each object asked about, in
// the order of the question. Fields may be added to it, none is renamed.
type Report struct {
	Explanations []Explanation `json:"explanations"`
}

// An Explanation is why something gets a plan, or got the one that it has.
type Explanation struct {
	Subject Subject `json:"subject"`
	// Asks are the fields of spec by which it asks for its plan, with their values;
	// a selector is written as kubectl takes it.
	Asks map[string]string `json:"asks"`
	// Then is what was decided, of an object that is stored.
	Then *Then `json:"then,omitempty"`
	// Now is what would be decided if it were created now; absent where there is
	// nothing to choose again.
	Now *Now `json:"now,omitempty"`
	// Difference is, of an object that is stored, then and now in one sentence.
	Difference string `json:"difference,omitempty"`
	// Notes say what could not be looked at, and what that means.
	Notes []string `json:"notes,omitempty"`
}

// The kinds of subjects.
const (
	KindType     = "ServiceType"
	KindInstance = "ServiceInstance"
	KindBinding  = "ServiceBinding"
)

// A Subject is what is explained.
type Subject struct {
	// Kind is ServiceType, ServiceInstance or ServiceBinding.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// File is where the object was read from, empty for one of the cluster.
	File string `json:"file,omitempty"`
}

// A Plan is a class and plan, by the names that people call them.
type Plan struct {
	Class string `json:"class"`
	Plan  string `json:"plan"`
	// Scope is "cluster", or "ns (dev)".
	Scope string `json:"scope"`
	// Name is the plan's Kubernetes name; empty where the candidate is a class.
	Name string `json:"name,omitempty"`
}

// Then is what was decided of an object when it was admitted.
type Then struct {
	// Plan is absent while nothing is decided.
	Plan *Plan `json:"plan,omitempty"`
	// Rule is a rule of docs/choosing.md, "restored" of an object that came with
	// its references, and "instance" of a binding.
	Rule string `json:"rule,omitempty"`
	// Gone says why the plan could not be chosen any more, as in "it is being
	// deleted".
	Gone string `json:"gone,omitempty"`
	// Again says that the next change of spec decides again: the plan is gone, and no
	// broker was called for the instance.
	Again bool `json:"again,omitempty"`
	// Parameters are those stored, each with where it came from.
	Parameters []Parameter `json:"parameters,omitempty"`
	// ProvisionParameters are those for the instance, of a binding that has one of
	// its own.
	ProvisionParameters []Parameter `json:"provisionParameters,omitempty"`
	// Truncated says that not every origin was recorded: what has none counts as
	// the user's.
	Truncated bool `json:"truncated,omitempty"`
	// Transforms are those of a binding.
	Transforms []Transform `json:"transforms,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// A Condition is one of an object's status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// The verdicts.
const (
	// Decided: it gets Plan.
	Decided = "decided"
	// Waits: it is admitted without a plan, and waits for what Waits says.
	Waits = "waits"
	// Refused: admission refuses it, by Refusal.
	Refused = "refused"
)

// Now is what would be decided now.
type Now struct {
	// Verdict is decided, waits or refused.
	Verdict string `json:"verdict"`
	// Plan is what the rules choose, even where admission refuses the choice.
	Plan *Plan  `json:"plan,omitempty"`
	Rule string `json:"rule,omitempty"`
	// Recorded says that a default is the one that its ServiceType records.
	Recorded bool     `json:"recorded,omitempty"`
	Records  []Record `json:"records,omitempty"`
	// Tiers are those that the request goes through, in order; none of a binding.
	Tiers []Tier `json:"tiers,omitempty"`
	// Others are the candidates that claim no tier.
	Others []Candidate `json:"others,omitempty"`
	// Price is what the plan costs, empty where that is unknown.
	Price string `json:"price,omitempty"`
	// Policy keeps the plan, or a binding's instance, from this namespace.
	Policy     *Policy     `json:"policy,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	// ProvisionParameters are as those of Then.
	ProvisionParameters []Parameter `json:"provisionParameters,omitempty"`
	// Secrets are those with more parameters, as NAME/KEY: the controller reads
	// them, and they beat a default.
	Secrets    []string    `json:"secrets,omitempty"`
	Transforms []Transform `json:"transforms,omitempty"`
	// Waits says what it waits for.
	Waits string `json:"waits,omitempty"`
	// Warnings are admission's own.
	Warnings []string `json:"warnings,omitempty"`
	Refusal  *Refusal `json:"refusal,omitempty"`
}

// A Record is what a ServiceType or ClusterServiceType records as its default.
type Record struct {
	// Kind is ServiceType or ClusterServiceType.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Type      string `json:"type"`
	// Plan is the Kubernetes name of the recorded plan; empty where nothing is
	// recorded.
	Plan string `json:"plan,omitempty"`
	// Title is how people call that plan; empty where there is none.
	Title    string `json:"title,omitempty"`
	Believed bool   `json:"believed"`
	// Why says why it is not believed.
	Why string `json:"why,omitempty"`
}

// A Tier is one step of the way to a plan.
type Tier struct {
	Rule string `json:"rule"`
	// State is "decides", "ambiguous", "none" or "not asked".
	State  string      `json:"state"`
	Claims []Candidate `json:"claims,omitempty"`
}

// A Candidate is a plan that could have been meant, or a class where a name fits
// several.
type Candidate struct {
	Plan

	// Title is the candidate as denials call it.
	Title string `json:"title"`
	// Fate is what became of it, such as "chosen".
	Fate string `json:"fate"`
	// Annotated and Suggested are its annotations; Recorded says that the record of
	// its type is believed and names it.
	Annotated bool  `json:"annotated,omitempty"`
	Suggested bool  `json:"suggested,omitempty"`
	Recorded  bool  `json:"recorded,omitempty"`
	Weight    int32 `json:"weight,omitempty"`
	// Policy keeps it from the subject's namespace.
	Policy *Policy `json:"policy,omitempty"`
}

// A Policy is what a policy refuses.
type Policy struct {
	// Kind is ProvisioningPolicy or BindingPolicy.
	Kind string `json:"kind"`
	// Names are the policy that denies, or all those that allow it elsewhere only.
	Names []string `json:"names"`
	// NotAllowed says that the policies allow it, but not in this namespace.
	NotAllowed bool `json:"notAllowed,omitempty"`
	// Costs say what the plan costs and the limit, where the policy is about that.
	Costs string `json:"costs,omitempty"`
	// Message is what the operator says.
	Message string `json:"message,omitempty"`
}

// A Parameter is a subtree of the parameters that one layer gave alone.
type Parameter struct {
	// Pointer is a JSON pointer into spec.parameters.
	Pointer string `json:"pointer"`
	// From is class, plan or user.
	From  string `json:"from"`
	Value any    `json:"value"`
	// Removed says that the user's null took a default away: the broker is not sent
	// it.
	Removed bool `json:"removed,omitempty"`
}

// A Transform is one entry of a binding's secret transforms. Values that it would
// write are left out.
type Transform struct {
	// Does is what it does, as in "renameKey host → DB_HOST".
	Does string `json:"does"`
	// From is class, plan or user.
	From string `json:"from"`
}

// A Refusal is admission's, in its own words.
type Refusal struct {
	Code   int32  `json:"code,omitempty"`
	Reason string `json:"reason"`
	// Message may have several lines; the last ones are the way out.
	Message string `json:"message"`
}

// titled is a plan as people call it: class/plan, or the class alone.
func (p Plan) titled() string {
	if p.Plan == "" {
		return p.Class
	}
	return p.Class + "/" + p.Plan
}

// compact is a value as JSON on one line.
func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return string(text)
}
