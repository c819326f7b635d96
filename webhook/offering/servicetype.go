package offering

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// recordField is the record of a type's default.
const recordField = "spec.defaultPlanRef"

// Types validates records: a record names a plan that can be the
// default, and is not cleared while that plan is annotated. Its reads are live,
// because switches are rare, and a plan may just have been created or deleted.
type Types struct {
	live   client.Reader
	access access.Rights
	gates  featuregate.FeatureGate
}

// NewTypes returns the admission of service types.
func NewTypes(shared *decision.Tools) *Types {
	return &Types{live: shared.Resolver.Catalog.Live, access: shared.Access, gates: shared.Options.Gates}
}

// Validate validates writes that change a record. A type that is being deleted
// records nothing.
func (t *Types) Validate(ctx context.Context, req *admission.Request) (decided review.Result, err error) {
	decided.Rule = review.RuleNone
	write, wrong := review.Decode[v1beta1.ServiceTypeSpec, struct{}](req)
	if wrong != nil {
		decided.Deny(wrong.Denial(req.Resource.Resource))
		return decided, nil
	}
	was, now := recorded(write.Before()), recorded(write.New.Spec)
	if was == now || write.New.Deleting() {
		return decided, nil
	}
	record := recordChange{at: catalog.Scope{Reader: t.live, Namespace: req.Namespace}, of: resolve.Ref{Namespace: req.Namespace, Name: req.Name}}
	if write.Old == nil {
		// Permission to create types is not enough: the API server does not
		// check permission to update on a create. A record that is stored while
		// the gate is off applies when it is on again.
		if decided.Denied, err = t.access.DefaultNotDecidable(ctx, req.UserInfo, record.of, recordField); err != nil || decided.Denied != nil {
			return decided, err
		}
	}
	if !t.gates.Enabled(options.ServiceTypes) {
		return decided, nil
	}
	validate := record.set
	if now == "" {
		validate, now = record.clear, was
	}
	decided.Denied, err = validate(ctx, now)
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
	at catalog.Scope
	// of is the type's object.
	of resolve.Ref
}

// set denies recording a plan that cannot be the default.
func (r recordChange) set(ctx context.Context, name string) (*review.Denial, error) {
	found, err := r.at.WithPlan(ctx, catalog.Slice{}, name)
	if err != nil {
		return nil, err
	}
	why := r.unfit(found)
	if why == "" {
		return nil, nil
	}
	others, err := r.at.OfType(ctx, r.of.Name)
	if err != nil {
		return nil, err
	}
	denied := review.Invalid("RecordUnfit", recordField+".name", "plan %q cannot be the default of type %q %s: %s%s",
		name, r.of.Name, resolve.InScope(r.of.Namespace), why, planLines(r.candidates(others)))
	return denied.Ways(suggest.WhatThereIs, suggest.Plans(r.of.Namespace)), nil
}

// clear denies clearing the record of a plan that is still annotated: the
// keeper would record it again.
func (r recordChange) clear(ctx context.Context, name string) (*review.Denial, error) {
	found, err := r.at.WithPlan(ctx, catalog.Slice{}, name)
	if err != nil || r.unfit(found) != "" || !found.Plans[0].Default {
		return nil, err
	}
	plan := &found.Plans[0]
	return review.Invalid("RecordStands", recordField, "%s is annotated as the default of type %q still, and would be recorded again", suggest.ObjectNamed("ServicePlan", plan.Ref), r.of.Name).
		Ways("take the annotation off", suggest.PlanOf(plan, &found.Classes[0]).TakeDefault()), nil
}

// unfit says why the plan of the record cannot be the type's default; empty if
// it can.
func (r recordChange) unfit(found catalog.Slice) string {
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
	switch serviceType := cmp.Or(plan.Type, class.Type); serviceType {
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
func (r recordChange) candidates(found catalog.Slice) []resolve.Candidate {
	found.Records = nil
	for i := range found.Plans {
		found.Plans[i].Default, found.Plans[i].Suggested = false, false
	}
	_, err := resolve.Plan(resolve.Request{Namespace: r.of.Namespace, Type: r.of.Name}, found.Catalog)
	none, ok := errors.AsType[*resolve.Error](err)
	if !ok {
		return nil
	}
	return decision.UsablePlans(none.Candidates)
}
