package offering

import (
	"cmp"
	"context"
	"maps"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// An offering is a class or a plan of either scope, as admission reads it.
type offering struct {
	object   client.Object
	defaults *v1beta1.Defaults
	// plan is nil for a class.
	plan *v1beta1.CommonServicePlanSpec
	// serviceType is the offering's own.
	serviceType string
	// fields are the values that are found by a hashed label, by that label.
	fields map[string]string
}

// newOffering has an empty object for each kind of offering.
var newOffering = map[string]func() client.Object{
	"ClusterServiceClass": func() client.Object { return &v1beta1.ClusterServiceClass{} },
	"ServiceClass":        func() client.Object { return &v1beta1.ServiceClass{} },
	"ClusterServicePlan":  func() client.Object { return &v1beta1.ClusterServicePlan{} },
	"ServicePlan":         func() client.Object { return &v1beta1.ServicePlan{} },
}

// viewOffering reads a class or plan; any other object gives an empty offering.
func viewOffering(object client.Object) *offering {
	switch o := object.(type) {
	case *v1beta1.ClusterServiceClass:
		return viewClass(o, map[string]string{v1beta1.LabelClusterServiceBrokerName: o.Spec.ClusterServiceBrokerName})
	case *v1beta1.ServiceClass:
		return viewClass(o, map[string]string{
			v1beta1.LabelServiceBrokerName: o.Spec.ServiceBrokerName, v1beta1.LabelClusterServiceBrokerName: o.Spec.ClusterServiceBrokerName,
		})
	case *v1beta1.ClusterServicePlan:
		return viewPlan(o, map[string]string{
			v1beta1.LabelClusterServiceBrokerName: o.Spec.ClusterServiceBrokerName, v1beta1.LabelClusterServiceClassRefName: o.Spec.ClusterServiceClassRef.Name,
		})
	case *v1beta1.ServicePlan:
		return viewPlan(o, map[string]string{
			v1beta1.LabelServiceBrokerName: o.Spec.ServiceBrokerName, v1beta1.LabelClusterServiceBrokerName: o.Spec.ClusterServiceBrokerName,
			v1beta1.LabelServiceClassRefName: o.Spec.ServiceClassRef.Name,
		})
	}
	return &offering{object: object, defaults: &v1beta1.Defaults{}}
}

func viewClass(object v1beta1.ClassObject, fields map[string]string) *offering {
	spec := object.GetSpec()
	fields[v1beta1.LabelExternalID], fields[v1beta1.LabelExternalName] = spec.ExternalID, spec.ExternalName
	return &offering{object: object, defaults: &spec.Defaults, serviceType: spec.ServiceType, fields: fields}
}

func viewPlan(object v1beta1.PlanObject, fields map[string]string) *offering {
	spec := object.GetSpec()
	fields[v1beta1.LabelExternalID], fields[v1beta1.LabelExternalName] = spec.ExternalID, spec.ExternalName
	return &offering{object: object, defaults: &spec.Defaults, plan: spec, serviceType: spec.ServiceType, fields: fields}
}

// className is the Kubernetes name of a plan's class.
func (o *offering) className() string {
	return cmp.Or(o.fields[v1beta1.LabelClusterServiceClassRefName], o.fields[v1beta1.LabelServiceClassRefName])
}

// clusterBroker is the ClusterServiceBroker that the offering names.
func (o *offering) clusterBroker() string { return o.fields[v1beta1.LabelClusterServiceBrokerName] }

// title is the offering as people know it.
func (o *offering) title() string {
	return cmp.Or(o.fields[v1beta1.LabelExternalName], o.object.GetName())
}

// definition is a plan as the lookup of its schemas needs it; its class is left
// empty.
func (o *offering) definition() *catalog.Definition {
	return &catalog.Definition{Plan: planOf(o.object), PlanSpec: o.plan}
}

// layer is the name of the offering's layer of parameters.
func (o *offering) layer() string {
	if o.plan == nil {
		return parameters.LayerClass
	}
	return parameters.LayerPlan
}

// hashedLabels are the labels that old clients look the offering up by. One that
// is present and whose field was emptied is emptied too.
func (o *offering) hashedLabels() map[string]string {
	labels, present := map[string]string{}, o.object.GetLabels()
	for label, value := range o.fields {
		switch {
		case value != "":
			labels[label] = v1beta1.HashLabelValue(value)
		case present[label] != "":
			labels[label] = ""
		}
	}
	return labels
}

// ownLabels are the labels that admission does not write.
func (o *offering) ownLabels() map[string]string {
	labels := maps.Clone(o.object.GetLabels())
	maps.DeleteFunc(labels, func(label, _ string) bool { _, hashed := o.fields[label]; return hashed })
	return labels
}

// Offerings admits classes and plans.
type Offerings struct {
	tools      *decision.Tools
	oneDefault *oneDefault
}

// NewOfferings returns the admission of classes and plans.
func NewOfferings(shared *decision.Tools) *Offerings {
	return &Offerings{shared, &oneDefault{live: shared.Resolver.Catalog.Live, access: shared.Access, gates: shared.Options.Gates}}
}

// readOffering decodes a class or plan of a request.
func readOffering(req *admission.Request, raw []byte) (*offering, *review.Unreadable) {
	object := newOffering[req.Kind.Kind]()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, object); err != nil {
		return nil, review.DescribeJSON(err)
	}
	return viewOffering(object), nil
}

// Mutate is the mutating phase.
func (*Offerings) Mutate(_ context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	written, wrong := readOffering(req, req.Object.Raw)
	if wrong != nil {
		// The schema of the CRD, which is checked next, says best what is wrong.
		return decided, nil
	}
	if req.Operation == admissionv1.Update {
		if stored, wrong := readOffering(req, req.OldObject.Raw); wrong == nil {
			written.keepBroker(stored, &decided.Patch)
		}
	}
	decided.Patch.AddEntries(written.object.GetLabels(), written.hashedLabels(), "metadata", "labels")
	return decided, nil
}

// brokerFields are the fields that name a broker, by the labels that they are found
// by.
var brokerFields = map[string]string{
	v1beta1.LabelClusterServiceBrokerName: "clusterServiceBrokerName", v1beta1.LabelServiceBrokerName: "serviceBrokerName",
}

// keepBroker restores the name of a broker that a write omits: instances exist
// at that broker, and a second write could replace an absent name.
func (o *offering) keepBroker(stored *offering, p *review.Patch) {
	for label, field := range brokerFields {
		if was := stored.fields[label]; was != "" && o.fields[label] == "" {
			o.fields[label] = was
			p.Add(was, "spec", field)
		}
	}
}
