package catalog

import (
	"cmp"
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// An Offering is the plan that admission decided on, and its class, of either scope.
type Offering struct {
	// Target is the broker, with the IDs that it knows the class and the plan by.
	Target v1beta1.BrokerTarget
	// PlanName is the external name of the plan, and PlanRefName its Kubernetes name.
	PlanName, PlanRefName string
	// Cluster says that both are the cluster's, and not a namespace's.
	Cluster bool
	Class   *v1beta1.CommonServiceClassSpec
	Plan    *v1beta1.CommonServicePlanSpec
	// Offer is both as policies see them.
	Offer quota.Offer
	// Removed says that the broker does not list it any more, ClassRemoved that it
	// is the class.
	Removed, ClassRemoved bool
	// Lost says that the plan or the class does not exist, ClassLost that it is
	// the class: the rest is from the record.
	Lost, ClassLost bool
}

// PlanUpdatable says whether instances may change from this plan to another.
func (o *Offering) PlanUpdatable() bool {
	if o.Plan.PlanUpdatable != nil {
		return *o.Plan.PlanUpdatable
	}
	return o.Class.PlanUpdatable
}

// Bindable says whether instances can be bound to.
func (o *Offering) Bindable() bool {
	if o.Plan.Bindable != nil {
		return *o.Plan.Bindable
	}
	return o.Class.Bindable
}

// MaintenanceVersion is the version that the plan has now; empty: it has none.
func (o *Offering) MaintenanceVersion() string {
	if o.Plan.MaintenanceInfo == nil {
		return ""
	}
	return o.Plan.MaintenanceInfo.Version
}

// BindingRotatable says that a bind may name the binding whose credentials it replaces.
func (o *Offering) BindingRotatable() bool { return o.Plan.BindingRotatable }

// MaxPolling is the broker's own limit; 0: none.
func (o *Offering) MaxPolling() time.Duration {
	if o.Plan.MaximumPollingDuration == nil {
		return 0
	}
	return time.Duration(*o.Plan.MaximumPollingDuration) * time.Second
}

// ServiceType is the service type; empty if neither plan nor class has one.
func (o *Offering) ServiceType() string {
	if o.Plan.ServiceType != "" {
		return o.Plan.ServiceType
	}
	return o.Class.ServiceType
}

// Names are the names of the class and the plan in words: the external ones, or those of their
// objects where there are none. They are empty as far as they are not known.
func (o *Offering) Names() (class, plan string) {
	if o == nil {
		return "", ""
	}
	return cmp.Or(o.Class.ExternalName, o.Offer.Class.Kubernetes), cmp.Or(o.PlanName, o.PlanRefName)
}

// TypeBeside is the type for status: empty if spec has it (asked), and the
// former one if no plan is known.
func (o *Offering) TypeBeside(asked, before string) string {
	switch {
	case asked != "":
		return ""
	case o == nil:
		return before
	}
	return o.ServiceType()
}
