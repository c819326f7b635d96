package resolve

import "github.com/defaultplan/defaultplan/api/v1beta1"

// A Ref is the Kubernetes name of a class or plan. An empty Namespace means that it is cluster-scoped.
type Ref struct {
	Namespace string
	Name      string
}

// Namespaced says whether the class or plan belongs to a namespace.
func (r Ref) Namespaced() bool { return r.Namespace != "" }

// A ClassEntry is what a choice needs to know of a service class of either scope.
type ClassEntry struct {
	Ref

	// ResourceVersion is that of the object that the entry was made from. It
	// does not affect the choice: a caller that reads the chosen class again
	// compares it to detect a change. The caller sets it; ClassFrom and
	// PlanFrom leave it empty, so their entries are equal where their objects
	// mean the same.
	ResourceVersion string
	// ExternalName and ExternalID are the broker's own name and id. Several classes may share them: copies do.
	ExternalName string
	ExternalID   string
	// Type is the class's spec.serviceType. Plans without a type of their own have it.
	Type string
	// Labels are seen by selectors below the labels of each plan.
	Labels map[string]string
	// Broker is the broker that the class names, of the cluster or of the class's namespace; the zero Ref if none.
	// Plans are chosen only where they agree with it (Disagreement).
	Broker Ref
	// Gone says why neither the class nor its plans are ever chosen, completing "it is …", as in "being deleted".
	// Empty means live.
	Gone string
}

// A PlanEntry is what a choice needs to know of a service plan of either scope.
type PlanEntry struct {
	Ref

	// UID breaks ties between plans that a selector matches, so that a plan which takes an older one's name takes
	// none of its picks.
	UID string
	// ResourceVersion is as with ClassEntry.
	ResourceVersion string
	// Class is the Kubernetes name of the plan's class, which has the plan's own scope.
	Class string
	// ExternalName and ExternalID are the broker's own name and id. Several plans may share them.
	ExternalName string
	ExternalID   string
	// Type is the plan's own spec.serviceType; empty where it has that of its class.
	Type string
	// Labels are seen by selectors above the labels of the plan's class.
	Labels map[string]string
	// Default and Suggested say that the plan is annotated as its type's default, or as suggested.
	Default   bool
	Suggested bool
	// Weight decides between plans that a selector matches: the heaviest wins.
	Weight int32
	// Costs are what its status says that it costs. They do not affect the choice, but policies.
	Costs Costs
	// Gone says why the plan is never chosen, completing "it is …", as in "being deleted". Empty means live.
	Gone string
	// Broker is as with ClassEntry.
	Broker Ref
	// Denied names the policy that keeps the plan from the request's namespace. A selector passes over a denied plan;
	// every other rule chooses it, and the caller refuses the choice in the policy's name.
	Denied string
}

// Costs are what a plan costs, as far as that is known.
type Costs struct {
	// Listed are those that its broker names.
	Listed []v1beta1.PlanCost
	// Malformed says that its broker names some that cannot be read.
	Malformed bool
	// Unread says that its metadata names some that no relist has written to its status.
	Unread bool
	// Free says that the plan costs nothing, unless costs are listed.
	Free bool
}

// Named says that the broker names any costs, readable or not.
func (c *Costs) Named() bool { return len(c.Listed) > 0 || c.Malformed }

// A Record is the default plan that a type's ServiceType (plan in a namespace) or ClusterServiceType (plan in the
// cluster) records. A Record without a plan's name records nothing.
type Record struct {
	Type string
	Plan Ref
}

// A Catalog is the part of the catalog that a request can mean, in any order. It holds each Ref, and each type's
// record in one scope, at most once. It may be everything or a narrow slice, but it is complete in two ways: every
// plan comes with its class (a plan without is never chosen), and every record with the plan that it names (a record
// without is not believed).
type Catalog struct {
	Classes []ClassEntry
	Plans   []PlanEntry
	Records []Record
}
