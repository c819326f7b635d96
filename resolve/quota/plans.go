package quota

import (
	"cmp"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A Named is a plan that an object names, by its reference or, where its broker was
// sent it, by its IDs there.
type Named struct {
	// Ref is what was decided on; zero where only the IDs are known.
	Ref resolve.Ref
	// IDs are what a broker was sent; zero where nothing was.
	IDs   IDs
	Stage Stage
}

// IDs are those of a plan at its broker.
type IDs struct {
	Class, Plan string
	// Namespace is that of a namespaced plan, empty of a cluster's.
	Namespace string
	// Broker tells plans with the same IDs apart; zero in records of the retired catalog.
	Broker resolve.Ref
}

// An Offer is a plan of the catalog, as policies see it, with its IDs.
type Offer struct {
	policy.Target

	IDs IDs
}

// OfferOf is the offer that a plan is together with its class. Where they are not of one broker, there is no plan that was
// sent to any, and it has no IDs.
func OfferOf(class resolve.ClassEntry, plan resolve.PlanEntry) Offer {
	ids := IDs{Class: class.ExternalID, Plan: plan.ExternalID, Namespace: plan.Namespace, Broker: class.Broker}
	if resolve.Disagreement(&class, &plan) != "" {
		ids = IDs{}
	}
	return Offer{Target: policy.TargetOf(class, plan), IDs: ids}
}

// A Catalog finds plans.
type Catalog interface {
	// Plan is the plan that a reference names; false if it is not there.
	Plan(ref resolve.Ref) (Offer, bool, error)
	// WithID are the plans, of the cluster or of a namespace, that have the plan's ID. A
	// catalog that has to read each may give those of Candidates only.
	WithID(sent IDs) ([]Offer, error)
}

// FewPlans is how many plans with the ID of a recorded one are read from the API server, each
// with its class. Brokers with the same catalog share IDs. More plans than that are made to
// keep others waiting.
const FewPlans = 8

// Look finds the plans. Opaque says that some no longer exist, so it is unknown
// which policies would select them.
func Look(named []Named, catalog Catalog) (uses []Use, opaque bool, err error) {
	var known []Offer
	for _, n := range named {
		if n.Ref.Name == "" {
			continue
		}
		offer, found, err := catalog.Plan(n.Ref)
		if err != nil {
			return nil, false, err //nolint:wrapcheck // it says what cannot be read
		}
		if !found {
			offer = Offer{Target: policy.Target{Plan: policy.Names{Kubernetes: n.Ref.Name}}}
			opaque = true
		}
		known = append(known, offer)
		uses = append(uses, Use{Target: offer.Target, Stage: n.Stage})
	}
	for _, n := range named {
		if n.IDs.Plan == "" {
			continue
		}
		offers, err := withIDs(n.IDs, known, catalog)
		if err != nil {
			return nil, false, err
		}
		opaque = opaque || len(offers) == 0
		for i := range offers {
			uses = append(uses, Use{Target: offers[i].Target, Stage: n.Stage})
		}
	}
	return uses, opaque, nil
}

// withIDs are the plans with the IDs: most often the one that is asked for.
func withIDs(ids IDs, known []Offer, catalog Catalog) ([]Offer, error) {
	for i := range known {
		if known[i].Is(ids) {
			return known[i : i+1], nil
		}
	}
	all, err := catalog.WithID(ids)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what cannot be read
	}
	var offers []Offer
	for i := range all {
		if all[i].Is(ids) {
			offers = append(offers, all[i])
		}
	}
	return offers, nil
}

// Is says that the offer is the plan that was sent. Who may write classes and plans may give one the IDs and the name
// of another, at a broker of their own: it is not that one. Some records leave the class or the broker out.
func (o *Offer) Is(sent IDs) bool {
	return o.IDs.Plan == sent.Plan && o.IDs.Namespace == sent.Namespace &&
		(sent.Class == "" || o.IDs.Class == sent.Class) && (sent.Broker == resolve.Ref{} || o.IDs.Broker == sent.Broker)
}

// Candidates are those of the plans that may be the one that was sent, by their brokers: none where there are more than
// FewPlans. It changes plans.
func (sent IDs) Candidates(plans []resolve.PlanEntry) []resolve.PlanEntry {
	none := resolve.Ref{}
	plans = slices.DeleteFunc(plans, func(plan resolve.PlanEntry) bool {
		return sent.Broker != none && plan.Broker != none && plan.Broker != sent.Broker
	})
	if len(plans) > FewPlans {
		return nil
	}
	return plans
}

// Recorded are the IDs of the plans that an instance has at its broker by its status, or that an operation gives it.
// Known is false where a provision or an update runs of which status does not say the plan. Other old records that do not
// say it are of the plan that the instance asks for.
func Recorded(i *v1beta1.ServiceInstance) (recorded []IDs, known bool) {
	s := &i.Status
	known = s.CurrentOperation != v1beta1.InstanceProvision && s.CurrentOperation != v1beta1.InstanceUpdate
	for _, sent := range []*v1beta1.ServiceInstancePropertiesState{s.ExternalProperties, s.InProgressProperties} {
		if sent == nil {
			continue
		}
		ids := idsOf(sent, i.Namespace)
		if ids.Plan == "" {
			continue
		}
		known = known || sent == s.InProgressProperties
		if !slices.Contains(recorded, ids) {
			recorded = append(recorded, ids)
		}
	}
	return recorded, known
}

// OfInstance are the plans that an instance has, may have, or asks for.
func OfInstance(i *v1beta1.ServiceInstance) []Named {
	asked := Named{Ref: refOf(&i.Spec.DecidedReference, i.Namespace), Stage: Asked}
	named := []Named{asked}
	for sent, stage := range sentOf(i) {
		ids := idsOf(sent, i.Namespace)
		if ids.Plan == "" { // the status was written without it
			named[0].Stage = max(named[0].Stage, stage)
			continue
		}
		named = append(named, Named{IDs: ids, Stage: stage})
	}
	return named
}

// sentOf is what the broker was sent, with how far that came.
func sentOf(i *v1beta1.ServiceInstance) map[*v1beta1.ServiceInstancePropertiesState]Stage {
	s, none := &i.Status, &v1beta1.ServiceInstancePropertiesState{}
	sent := map[*v1beta1.ServiceInstancePropertiesState]Stage{}
	if s.ProvisionStatus == v1beta1.Provisioned {
		sent[cmp.Or(s.ExternalProperties, none)] = Standing
	}
	making := s.CurrentOperation == v1beta1.InstanceProvision || s.CurrentOperation == v1beta1.InstanceUpdate
	switch {
	case s.InProgressProperties != nil && s.AsyncOpInProgress && making && !s.OrphanMitigationInProgress:
		sent[s.InProgressProperties] = Standing
	case s.InProgressProperties != nil:
		sent[s.InProgressProperties] = Doubtful
	case s.CurrentOperation != "" || s.OrphanMitigationInProgress || s.AsyncOpInProgress || owed(s.DeprovisionStatus):
		if len(sent) == 0 {
			sent[cmp.Or(s.ExternalProperties, none)] = Doubtful
		}
	}
	return sent
}

// Unsure says that an operation on an instance is not over. A second change of plan
// takes the place of the first one's record, though the broker may have acted on that:
// what it has slots for now, it keeps.
func Unsure(i *v1beta1.ServiceInstance) bool {
	s := &i.Status
	return s.CurrentOperation != "" || s.InProgressProperties != nil || s.AsyncOpInProgress || s.OrphanMitigationInProgress
}

func owed(s v1beta1.DeprovisionStatus) bool {
	return s == v1beta1.DeprovisionRequired || s == v1beta1.DeprovisionFailed
}

// OfBinding are the plans that a binding is of: those of its instance, which may be
// nil, or else the one that was decided on for it: a name in the namespace of the
// instance, which may be another.
func OfBinding(b *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) []Named {
	stage := stageOf(b)
	if instance == nil {
		return []Named{{Ref: refOf(&b.Spec.DecidedReference, b.InstanceKey().Namespace), Stage: stage}}
	}
	named := OfInstance(instance)
	for i := range named {
		named[i].Stage = stage
	}
	return named
}

// stageOf says how far a binding is.
func stageOf(b *v1beta1.ServiceBinding) Stage {
	s := &b.Status
	binds := s.CurrentOperation == v1beta1.BindingBind && s.AsyncOpInProgress && !s.OrphanMitigationInProgress
	switch {
	case s.ExternalProperties != nil || binds:
		return Standing
	case s.CurrentOperation != "" || s.OrphanMitigationInProgress || s.InProgressProperties != nil || s.AsyncOpInProgress ||
		s.UnbindStatus == v1beta1.UnbindRequired || s.UnbindStatus == v1beta1.UnbindFailed:
		return Doubtful
	}
	return Asked
}

func refOf(decided *v1beta1.DecidedReference, namespace string) resolve.Ref {
	switch {
	case decided.ClusterServicePlanRef != nil && decided.ClusterServicePlanRef.Name != "":
		return resolve.Ref{Name: decided.ClusterServicePlanRef.Name}
	case decided.ServicePlanRef != nil && decided.ServicePlanRef.Name != "":
		return resolve.Ref{Namespace: namespace, Name: decided.ServicePlanRef.Name}
	}
	return resolve.Ref{}
}

// idsOf are the IDs of what was sent. Old records have them elsewhere.
func idsOf(sent *v1beta1.ServiceInstancePropertiesState, namespace string) IDs {
	ids := IDs{Class: sent.ClassExternalID, Plan: sent.ClusterServicePlanExternalID}
	if ids.Plan == "" {
		ids.Plan, ids.Namespace = sent.ServicePlanExternalID, namespace
	}
	switch {
	case ids.Plan == "":
		return IDs{}
	case sent.ClusterServiceBrokerName != "":
		ids.Broker = resolve.Ref{Name: sent.ClusterServiceBrokerName}
	case sent.ServiceBrokerName != "":
		ids.Broker = resolve.Ref{Namespace: namespace, Name: sent.ServiceBrokerName}
	}
	return ids
}
