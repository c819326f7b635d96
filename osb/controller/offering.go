package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// An offering is the plan that admission decided on, and its class, of either scope.
type offering struct {
	target   v1beta1.BrokerTarget
	planName string
	cluster  bool
	class    *v1beta1.CommonServiceClassSpec
	plan     *v1beta1.CommonServicePlanSpec
	// offer is both as policies see them.
	offer quota.Offer
	// removed says that the broker does not list it any more.
	removed bool
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

// serviceType is what it gives; empty where nobody said.
func (o *offering) serviceType() string {
	if o.plan.ServiceType != "" {
		return o.plan.ServiceType
	}
	return o.class.ServiceType
}

// offering reads the plan and the class that were decided on. A problem says what is
// not there.
func (c *catalogReader) offering(ctx context.Context, ref *v1beta1.DecidedReference, namespace string) (*offering, *lifecycle.Problem, error) {
	switch {
	case ref.ClusterServicePlanRef != nil && ref.ClusterServicePlanRef.Name != "":
		return c.clusterOffering(ctx, ref)
	case ref.ServicePlanRef != nil && ref.ServicePlanRef.Name != "":
		return c.localOffering(ctx, ref, namespace)
	}
	return nil, &lifecycle.Problem{
		Reason: "Undecided", Undecided: true, Waits: true,
		Message: "no plan is decided on yet; admission decides as soon as it can: `svcat explain` says what it waits for",
	}, nil
}

// A catalogReader reads classes and plans.
type catalogReader struct {
	reader client.Reader
}

func (c *catalogReader) clusterOffering(ctx context.Context, ref *v1beta1.DecidedReference) (*offering, *lifecycle.Problem, error) {
	var plan v1beta1.ClusterServicePlan
	if problem, err := c.get(ctx, client.ObjectKey{Name: ref.ClusterServicePlanRef.Name}, &plan, "ReferencesNonexistentServicePlan", "ClusterServicePlan"); problem != nil || err != nil {
		return nil, problem, err
	}
	var class v1beta1.ClusterServiceClass
	if problem, err := c.get(ctx, client.ObjectKey{Name: plan.Spec.ClusterServiceClassRef.Name}, &class, "ReferencesNonexistentServiceClass", "ClusterServiceClass"); problem != nil || err != nil {
		return nil, problem, err
	}
	classEntry, planEntry := resolve.ClassFrom(&class), resolve.PlanFrom(&plan)
	o := &offering{
		cluster: true, offer: quota.OfferOf(classEntry, planEntry),
		planName: plan.Spec.ExternalName, class: &class.Spec.CommonServiceClassSpec, plan: &plan.Spec.CommonServicePlanSpec,
		removed: plan.Status.RemovedFromBrokerCatalog || class.Status.RemovedFromBrokerCatalog,
		target: v1beta1.BrokerTarget{
			ClusterServiceBrokerName: class.Spec.ClusterServiceBrokerName,
			ClassExternalID:          class.Spec.ExternalID, PlanExternalID: plan.Spec.ExternalID,
		},
	}
	return o, agree(classEntry, planEntry), nil
}

func (c *catalogReader) localOffering(ctx context.Context, ref *v1beta1.DecidedReference, namespace string) (*offering, *lifecycle.Problem, error) {
	var plan v1beta1.ServicePlan
	at := client.ObjectKey{Namespace: namespace, Name: ref.ServicePlanRef.Name}
	if problem, err := c.get(ctx, at, &plan, "ReferencesNonexistentServicePlan", "ServicePlan"); problem != nil || err != nil {
		return nil, problem, err
	}
	var class v1beta1.ServiceClass
	at.Name = plan.Spec.ServiceClassRef.Name
	if problem, err := c.get(ctx, at, &class, "ReferencesNonexistentServiceClass", "ServiceClass"); problem != nil || err != nil {
		return nil, problem, err
	}
	classEntry, planEntry := resolve.ClassFrom(&class), resolve.PlanFrom(&plan)
	o := &offering{
		offer:    quota.OfferOf(classEntry, planEntry),
		planName: plan.Spec.ExternalName, class: &class.Spec.CommonServiceClassSpec, plan: &plan.Spec.CommonServicePlanSpec,
		removed: plan.Status.RemovedFromBrokerCatalog || class.Status.RemovedFromBrokerCatalog,
		target: v1beta1.BrokerTarget{
			ClusterServiceBrokerName: class.Spec.ClusterServiceBrokerName, ServiceBrokerName: class.Spec.ServiceBrokerName,
			ClassExternalID: class.Spec.ExternalID, PlanExternalID: plan.Spec.ExternalID,
		},
	}
	return o, agree(classEntry, planEntry), nil
}

func (c *catalogReader) get(ctx context.Context, at client.ObjectKey, into client.Object, reason, kind string) (*lifecycle.Problem, error) {
	err := c.reader.Get(ctx, at, into)
	if problem := beyond(err); problem != nil {
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

// agree says what is wrong with a plan and a class that no broker, or not one alone,
// offers.
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

// rawOf is the JSON text of an object; nil of none.
func rawOf(extension *runtime.RawExtension) []byte {
	if extension == nil {
		return nil
	}
	return extension.Raw
}
