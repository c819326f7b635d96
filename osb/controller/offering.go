package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// An offering is the plan that admission decided on, and its class, of either scope.
type offering struct {
	target v1beta1.BrokerTarget
	// planName is the external name of the plan, and planRefName its Kubernetes name.
	planName, planRefName string
	cluster               bool
	class                 *v1beta1.CommonServiceClassSpec
	plan                  *v1beta1.CommonServicePlanSpec
	// offer is both as policies see them.
	offer quota.Offer
	// removed says that the broker does not list it any more.
	removed bool
	// lost says that the plan or the class does not exist, classLost that it is
	// the class: the rest is from the record.
	lost, classLost bool
}

func (o *offering) planUpdatable() bool {
	if o.plan.PlanUpdatable != nil {
		return *o.plan.PlanUpdatable
	}
	return o.class.PlanUpdatable
}

func (o *offering) bindable() bool {
	if o.plan.Bindable != nil {
		return *o.plan.Bindable
	}
	return o.class.Bindable
}

func (o *offering) maintenanceVersion() string {
	if o.plan.MaintenanceInfo == nil {
		return ""
	}
	return o.plan.MaintenanceInfo.Version
}

// bindingRotatable says that a bind may name the binding whose credentials it replaces.
func (o *offering) bindingRotatable() bool { return o.plan.BindingRotatable }

// maxPolling is the broker's own limit; 0: none.
func (o *offering) maxPolling() time.Duration {
	if o.plan.MaximumPollingDuration == nil {
		return 0
	}
	return time.Duration(*o.plan.MaximumPollingDuration) * time.Second
}

// serviceType is its service type, empty if neither plan nor class has one.
func (o *offering) serviceType() string {
	if o.plan.ServiceType != "" {
		return o.plan.ServiceType
	}
	return o.class.ServiceType
}

// typeBeside is the type for status: empty if spec has it (asked), and the
// former one if no plan is known.
func (o *offering) typeBeside(asked, before string) string {
	switch {
	case asked != "":
		return ""
	case o == nil:
		return before
	}
	return o.serviceType()
}

// A catalogReader reads classes and plans.
type catalogReader struct {
	reader client.Reader
}

// offering reads the decided plan and its class. A problem says what does not
// exist.
func (c *catalogReader) offering(ctx context.Context, ref *v1beta1.DecidedReference, namespace string) (*offering, *lifecycle.Problem, error) {
	at := client.ObjectKey{Namespace: namespace, Name: ref.ServicePlanRef.GetName()}
	if name := ref.ClusterServicePlanRef.GetName(); name != "" {
		at = client.ObjectKey{Name: name}
	}
	if at.Name == "" {
		return nil, &lifecycle.Problem{
			Reason: "Undecided", Undecided: true, Waits: true,
			Message: "no plan is decided on yet; admission decides as soon as it can: `svcat explain` says what it waits for",
		}, nil
	}
	plan, class := v1beta1.NewPlan(at.Namespace), v1beta1.NewClass(at.Namespace)
	if problem, err := c.get(ctx, at, plan, reasonNoPlan, v1beta1.ScopedKind(at.Namespace, "ServicePlan")); problem != nil || err != nil {
		return nil, problem, err
	}
	at.Name = plan.GetClassName()
	if problem, err := c.get(ctx, at, class, reasonNoClass, v1beta1.ScopedKind(at.Namespace, "ServiceClass")); problem != nil || err != nil {
		return nil, problem, err
	}
	classEntry, planEntry := resolve.ClassFrom(class), resolve.PlanFrom(plan)
	o := &offering{
		cluster: at.Namespace == "", offer: quota.OfferOf(classEntry, planEntry),
		planName: plan.GetSpec().ExternalName, planRefName: plan.GetName(), class: class.GetSpec(), plan: plan.GetSpec(),
		removed: plan.IsRemoved() || class.IsRemoved(), target: class.GetBroker(),
	}
	o.target.ClassExternalID, o.target.PlanExternalID = class.GetSpec().ExternalID, plan.GetSpec().ExternalID
	return o, agree(classEntry, planEntry), nil
}

// updatable says whether an instance of an offering may change its plan: the
// plan that it has at its broker decides, found by its external ID, or else its
// class; if neither is known, the offering. Admission applies the same rule.
func (c *catalogReader) updatable(ctx context.Context, o *offering, namespace string, has *lifecycle.Request) (bool, error) {
	if has == nil || has.PlanExternalID == "" || has.PlanExternalID == o.target.PlanExternalID {
		return o.planUpdatable(), nil
	}
	match := client.MatchingFields{v1beta1.FieldClusterServiceClassRefName: o.offer.Class.Kubernetes}
	if o.cluster {
		namespace = ""
	} else {
		match = client.MatchingFields{v1beta1.FieldServiceClassRefName: o.offer.Class.Kubernetes}
	}
	plans, err := listPlans(ctx, c.reader, namespace, match)
	if err != nil {
		return false, err
	}
	plan := resolve.InForce(plans, has.PlanExternalID)
	if plan == nil {
		return o.class.PlanUpdatable, nil
	}
	ref := &v1beta1.DecidedReference{ServicePlanRef: &v1beta1.LocalObjectReference{Name: plan.Name}}
	if o.cluster {
		ref = &v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: plan.Name}}
	}
	left, _, err := c.offering(ctx, ref, namespace)
	if err != nil || left == nil {
		return o.class.PlanUpdatable, err
	}
	return left.planUpdatable(), nil
}

// listPlans lists plans of the cluster, or with a namespace those of that namespace.
func listPlans(ctx context.Context, reader client.Reader, namespace string, match client.MatchingFields) ([]resolve.PlanEntry, error) {
	var plans []resolve.PlanEntry
	var err error
	if namespace == "" {
		var list v1beta1.ClusterServicePlanList
		err = reader.List(ctx, &list, match, client.UnsafeDisableDeepCopy)
		for i := range list.Items {
			plans = append(plans, resolve.PlanFrom(&list.Items[i]))
		}
	} else {
		var list v1beta1.ServicePlanList
		err = reader.List(ctx, &list, match, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
		for i := range list.Items {
			plans = append(plans, resolve.PlanFrom(&list.Items[i]))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list plans: %w", err)
	}
	return plans, nil
}

func (c *catalogReader) get(ctx context.Context, at client.ObjectKey, into client.Object, reason, kind string) (*lifecycle.Problem, error) {
	err := c.reader.Get(ctx, at, into)
	if problem := scope.Problem(err); problem != nil {
		return problem, nil
	}
	if apierrors.IsNotFound(err) {
		return &lifecycle.Problem{Reason: reason, Waits: true, Message: fmt.Sprintf("%s %q, which was decided on, is not there", kind, at.Name)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s %q: %w", kind, at.Name, err)
	}
	return nil, nil
}

// agree is the problem of a plan and a class without a broker, or with
// different ones.
func agree(class resolve.ClassEntry, plan resolve.PlanEntry) *lifecycle.Problem {
	const reason = "ReferencesNonexistentBroker"
	if why := resolve.Disagreement(&class, &plan); why != "" {
		return &lifecycle.Problem{Reason: reason, Message: fmt.Sprintf("the plan is %s: choose another plan", why)}
	}
	if class.Broker.Name == "" {
		return &lifecycle.Problem{Reason: reason, Waits: true, Message: "the class names no broker yet"}
	}
	return nil
}
