package binding

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A validation validates the final form of one write of a binding: what
// will be stored.
type validation struct {
	tools *decision.Tools
	reads instanceReads
	write *write
	now   references.Pair
	// parameters are those of the new object, decoded at most once.
	parameters func() (map[string]any, error)
	decided    review.Result
}

// Validate is the validating phase.
func (h *Handler) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	write, wrong := review.Decode[bindingSpec, progress](req)
	if wrong != nil {
		decided.Deny(wrong.Denial("servicebinding"))
		return decided, nil
	}
	if decided.Deny(cmp.Or(markOf(write).Refuse(), decision.RefusePreventDeletion(write))); decided.Denied != nil {
		return decided, nil
	}
	if req.Operation == admissionv1.Update && sameBindingSpec(write.Old.Spec, write.New.Spec) && !unmarked(write) {
		// What was always wrong is not checked: the object must stay deletable.
		return decided, nil
	}
	raw := parameters.Raw(write.New.Spec.Parameters)
	decided.ParameterBytes = len(raw)
	v := &validation{
		tools: h.tools, reads: h.reads, write: write, decided: decided, now: bindingRefs(write.New.Spec, req.Namespace),
		parameters: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(raw) }),
	}
	denied, err := v.refuse(ctx)
	if err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	v.decided.Deny(denied)
	return v.decided, nil
}

// refuse runs the rules, in order, up to the first that denies.
func (v *validation) refuse(ctx context.Context) (*review.Denial, error) {
	w := v.write
	if w.Old != nil && settledBinding(w.Old) {
		return v.refuseEdit(ctx)
	}
	if denied := refuseShape(w, v.parameters); denied != nil {
		return denied, nil
	}
	chosen := &externalid.Adoption{Req: w.Req, Meta: &w.New.Metadata, Id: w.New.Spec.ExternalID, Was: w.Before().ExternalID}
	if denied, err := chosen.Refuse(ctx, v.tools.Access, v.tools.Resolver.Catalog.Live); err != nil || denied != nil {
		return denied, err
	}
	if denied := refuseOverwrite(w); denied != nil {
		return denied, nil
	}
	for _, names := range []*reservedName{&secretNames, &serviceNames} {
		if denied, err := names.refuse(ctx, v.tools.Resolver, w); err != nil || denied != nil {
			return denied, err
		}
	}
	switch {
	case v.now.Plan.Name == "" && shares(w.New.Spec, w.Req.Namespace):
		return v.refuseShared(ctx)
	case v.now.Plan.Name == "":
		return v.secrets(nil).refuse(ctx)
	case w.New.Spec.InstanceRef == nil:
		return v.refuseClaim(ctx)
	}
	return v.refuseBinding(ctx)
}

// refuseEdit validates an edit of a binding that the broker has, or is about to get.
func (v *validation) refuseEdit(ctx context.Context) (*review.Denial, error) {
	w := v.write
	if denied := refuseSettled(w.Old.Spec, w.New.Spec); denied != nil || !unmarked(w) {
		return denied, nil
	}
	defined, err := v.tools.Resolver.Catalog.Define(ctx, v.now.Plan)
	if err != nil || defined == nil {
		return nil, err
	}
	return v.refuseParameters(ctx, defined)
}

// user is the one who is asked about: who writes the binding, or at a write that does not
// change userInfo, which is a touch, the user of the binding.
func (v *validation) user() authenticationv1.UserInfo {
	old, now := v.write.Old, v.write.New.Spec.UserInfo
	if old != nil && now != nil && reflect.DeepEqual(old.Spec.UserInfo, now) {
		return writerOf(old)
	}
	return v.write.Req.UserInfo
}

// bind finds the instance that the binding names: at a create, the one that the mutating phase kept.
func (v *validation) bind(ctx context.Context) (bound, *review.Denial, error) {
	by, spec := binder{tools: v.tools, namespace: v.write.Req.Namespace, user: v.user()}, v.write.New.Spec
	if v.write.Req.Operation == admissionv1.Create && !shares(spec, by.namespace) {
		by.read = v.reads.take(spec.ExternalID, instanceAt(spec, by.namespace))
	}
	return by.bind(ctx, spec)
}

// refuseShared denies an undecided binding to another namespace: none may be
// stored.
func (v *validation) refuseShared(ctx context.Context) (*review.Denial, error) {
	to, denied, err := v.bind(ctx)
	if err != nil || denied != nil {
		return denied, err
	}
	return sharedWaits(instanceAt(v.write.New.Spec, v.write.Req.Namespace), cmp.Or(to.waits(), "was not decided on")), nil
}

// refuseBinding validates a binding that is now decided against its instance.
func (v *validation) refuseBinding(ctx context.Context) (*review.Denial, error) {
	to, denied, err := v.bind(ctx)
	if err != nil || denied != nil {
		return denied, err
	}
	if denied, err := v.secrets(to.defined).refuse(ctx); err != nil || denied != nil {
		return denied, err
	}
	v.decided.Chosen = v.now.Plan
	if denied := v.refuseReferences(&to); denied != nil {
		return denied, nil
	}
	if denied, err := policiesOf(v.tools, v.write.Req.Namespace).refuse(ctx, &to); err != nil || denied != nil {
		return denied, err
	}
	if denied, err := v.refuseQuota(ctx, to.defined, "spec.instanceRef.name"); err != nil || denied != nil {
		return denied, err
	}
	return v.refuseParameters(ctx, to.defined)
}

// refuseReferences denies references that are not those of the instance.
func (v *validation) refuseReferences(to *bound) *review.Denial {
	const field = "spec.instanceRef.name"
	spec, annotations := v.write.New.Spec, v.write.New.Metadata.Annotations
	if annotations[v1beta1.AnnotationAppliedDefaults] == "" {
		return forgedOnBinding(&spec.DecidedReference)
	}
	var denied *review.Denial
	// A binding that was created before a change of its instance's plan has the
	// former plan. So a restored binding may have another plan of the class.
	restored := parameters.Applied(annotations).Rule == review.RuleRestored
	switch waits := to.waits(); {
	case waits != "":
		denied = review.Invalid("Disagreement", field, "instance %q %s, and the references name a plan", spec.InstanceRef.Name, waits)
	case to.defined.Class.Ref != v.now.Class || !restored && to.defined.Plan.Ref != v.now.Plan:
		denied = review.Invalid("Disagreement", field, "instance %q is of plan %s, and the references say plan %q of class %q",
			spec.InstanceRef.Name, to.defined.Title(), v.now.Plan.Name, v.now.Class.Name)
	default:
		return nil
	}
	return denied.Remedy("leave the references out: they are the instance's")
}
