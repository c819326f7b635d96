package webhook

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/commands"
)

// recordField is the record of a type's default.
const recordField = "spec.defaultPlanRef"

// serviceTypes judges records: a record names a plan that can be the default, and
// is not cleared under one that is annotated. It reads live, as switches are rare
// and a plan may have come or gone a moment ago.
type serviceTypes struct {
	live   client.Reader
	access access
	gates  featuregate.FeatureGate
}

func serveServiceTypes(server Registrar, readers Readers, options *Options) {
	handler := &serviceTypes{live: readers.Live, access: access{readers.Access}, gates: options.Gates}
	for resource, kind := range map[string]string{"clusterservicetypes": "ClusterServiceType", "servicetypes": "ServiceType"} {
		server.Register("/validate/"+resource, endpoint{decide: serve(validating, kind, handler.validate)})
	}
}

// validate judges what changes a record. A type that is being deleted records
// nothing.
func (t *serviceTypes) validate(ctx context.Context, req *admission.Request) (decided verdict, err error) {
	decided.rule = ruleNone
	write, wrong := readWrite[v1beta1.ServiceTypeSpec, struct{}](req)
	if wrong != nil {
		decided.deny(invalid("Unreadable", wrong.field, "%s", wrong.text).remedy("kubectl explain %s", req.Resource.Resource))
		return decided, nil
	}
	was, now := "", recorded(write.new.Spec)
	if write.old != nil {
		was = recorded(write.old.Spec)
	}
	if was == now || write.new.deleting() {
		return decided, nil
	}
	record := recordChange{at: shelf{reader: t.live, namespace: req.Namespace}, of: resolve.Ref{Namespace: req.Namespace, Name: req.Name}}
	if write.old == nil {
		// Who may only create types does not decide by that: the object is not there yet for the API server to ask for the
		// right to update it. A record that is stored while the gate is off counts when it is on again.
		if decided.denied, err = t.access.defaultNotDecidable(ctx, req.UserInfo, record.of, recordField); err != nil || decided.denied != nil {
			return decided, err
		}
	}
	if !t.gates.Enabled(ServiceTypes) {
		return decided, nil
	}
	judge := record.set
	if now == "" {
		judge, now = record.clear, was
	}
	decided.denied, err = judge(ctx, now)
	return decided, err
}

func recorded(spec *v1beta1.ServiceTypeSpec) string {
	if spec.DefaultPlanRef == nil {
		return ""
	}
	return spec.DefaultPlanRef.Name
}

// A recordChange is a write of a type's record.
type recordChange struct {
	// at is the scope, read live.
	at shelf
	// of is the type's object.
	of resolve.Ref
}

// set refuses to record a plan that cannot be the default.
func (r recordChange) set(ctx context.Context, name string) (*denial, error) {
	found, err := r.at.withPlan(ctx, part{}, name)
	if err != nil {
		return nil, err
	}
	why := r.unfit(found)
	if why == "" {
		return nil, nil
	}
	others, err := r.at.ofType(ctx, r.of.Name)
	if err != nil {
		return nil, err
	}
	denied := invalid("RecordUnfit", recordField+".name", "plan %q cannot be the default of type %q %s: %s%s",
		name, r.of.Name, placeOf(r.of.Namespace), why, planLines(r.candidates(others)))
	return denied.ways(seeWhatThereIs, commands.Plans(r.of.Namespace)), nil
}

// clear refuses to forget a plan that is annotated still: the keeper would only
// record it again.
func (r recordChange) clear(ctx context.Context, name string) (*denial, error) {
	found, err := r.at.withPlan(ctx, part{}, name)
	if err != nil || r.unfit(found) != "" || !found.Plans[0].Default {
		return nil, err
	}
	plan := &found.Plans[0]
	return invalid("RecordStands", recordField, "%s is annotated as the default of type %q still, and would be recorded again", objectNamed("ServicePlan", plan.Ref), r.of.Name).
		ways("take the annotation off", commands.PlanOf(plan, &found.Classes[0]).TakeDefault()), nil
}

// unfit says why the plan that was looked for cannot be the type's default; empty
// if it can.
func (r recordChange) unfit(found part) string {
	if len(found.Plans) == 0 {
		return "it does not exist"
	}
	plan := &found.Plans[0]
	if plan.Gone != "" {
		return "it is " + plan.Gone
	}
	if len(found.Classes) == 0 {
		return "its class does not exist"
	}
	class := &found.Classes[0]
	if class.Gone != "" {
		return "its class is " + class.Gone
	}
	if why := resolve.Disagreement(class, plan); why != "" {
		return "it is " + why
	}
	switch serviceType := orElse(plan.Type, class.Type); serviceType {
	case r.of.Name:
		return ""
	case "":
		return "it has no type"
	default:
		return fmt.Sprintf("it is of type %q", serviceType)
	}
}

// candidates are the live plans of the type. With no default among them, resolve
// lists them all.
func (r recordChange) candidates(found part) []resolve.Candidate {
	found.Records = nil
	for i := range found.Plans {
		found.Plans[i].Default, found.Plans[i].Suggested = false, false
	}
	_, err := resolve.Plan(resolve.Request{Namespace: r.of.Namespace, Type: r.of.Name}, found.Catalog)
	none, ok := errors.AsType[*resolve.Error](err)
	if !ok {
		return nil
	}
	return usablePlans(none.Candidates)
}
