package catalog

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A Reader reads classes and plans.
type Reader struct {
	reader client.Reader
}

// NewReader returns one that reads from the cache, or live.
func NewReader(reader client.Reader) Reader { return Reader{reader} }

// Decided reads the decided plan and its class. A problem says what does not
// exist.
func (c *Reader) Decided(ctx context.Context, ref *v1beta1.DecidedReference, namespace string) (*Offering, *lifecycle.Problem, error) {
	at := client.ObjectKey{Namespace: namespace, Name: ref.ServicePlanRef.GetName()}
	cluster := ref.ClusterServicePlanRef.GetName()
	if cluster != "" {
		at = client.ObjectKey{Name: cluster}
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
	o := &Offering{
		Cluster: cluster != "", Offer: quota.OfferOf(classEntry, planEntry),
		PlanName: plan.GetSpec().ExternalName, PlanRefName: plan.GetName(), Class: class.GetSpec(), Plan: plan.GetSpec(),
		Removed: plan.IsRemoved() || class.IsRemoved(), ClassRemoved: class.IsRemoved(), Target: class.GetBroker(),
	}
	o.Target.ClassExternalID, o.Target.PlanExternalID = class.GetSpec().ExternalID, plan.GetSpec().ExternalID
	return o, agree(classEntry, planEntry), nil
}

// PlanUpdatable says whether an instance of an offering may change its plan: the
// plan that it has at its broker decides, found by its external ID, or else its
// class; if neither is known, the offering. Admission applies the same rule.
func (c *Reader) PlanUpdatable(ctx context.Context, o *Offering, namespace string, has *lifecycle.Request) (bool, error) {
	if has == nil || has.PlanExternalID == "" || has.PlanExternalID == o.Target.PlanExternalID {
		return o.PlanUpdatable(), nil
	}
	match := client.MatchingFields{v1beta1.FieldClusterServiceClassRefName: o.Offer.Class.Kubernetes}
	if o.Cluster {
		namespace = ""
	} else {
		match = client.MatchingFields{v1beta1.FieldServiceClassRefName: o.Offer.Class.Kubernetes}
	}
	plans, err := ListPlans(ctx, c.reader, namespace, match)
	if err != nil {
		return false, err
	}
	plan := resolve.InForce(plans, has.PlanExternalID)
	if plan == nil {
		return o.Class.PlanUpdatable, nil
	}
	ref := &v1beta1.DecidedReference{ServicePlanRef: &v1beta1.LocalObjectReference{Name: plan.Name}}
	if o.Cluster {
		ref = &v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: plan.Name}}
	}
	left, _, err := c.Decided(ctx, ref, namespace)
	if err != nil || left == nil {
		return o.Class.PlanUpdatable, err
	}
	return left.PlanUpdatable(), nil
}

// ListPlans lists plans of the cluster, or with a namespace those of that namespace.
func ListPlans(ctx context.Context, reader client.Reader, namespace string, match client.MatchingFields) ([]resolve.PlanEntry, error) {
	list := v1beta1.NewPlanList(namespace)
	if err := reader.List(ctx, list, match, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list plans: %w", err)
	}
	objects := list.Objects()
	plans := make([]resolve.PlanEntry, len(objects))
	for i, plan := range objects {
		plans[i] = resolve.PlanFrom(plan)
	}
	return plans, nil
}

func (c *Reader) get(ctx context.Context, at client.ObjectKey, into client.Object, reason, kind string) (*lifecycle.Problem, error) {
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
