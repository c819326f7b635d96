package webhook

import (
	"context"
	"errors"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
)

// An instanceValidation judges the final form of one write of an instance: what
// will be stored, whoever made it so. It never recomputes a choice.
type instanceValidation struct {
	*instances
	*instanceWrite
	verdict

	was, now refs
	// waited says that it is asked for by a claim that was admitted before it could be
	// decided.
	waited bool
	// parameters are those of the new object, decoded at most once.
	parameters func() (map[string]any, error)
	// defined is the plan that the instance is decided on, nil before that or if
	// it is gone.
	defined *definition
}

// validate is the validating half.
func (h *instances) validate(ctx context.Context, req *admission.Request) (verdict, error) {
	write, wrong := readWrite[v1beta1.ServiceInstanceSpec, progress](req)
	if wrong != nil {
		denied := invalid("Unreadable", wrong.field, "%s", wrong.text).remedy("kubectl explain serviceinstance")
		return verdict{rule: ruleNone, denied: denied}, nil
	}
	v := &instanceValidation{
		instances: h, instanceWrite: write, verdict: verdict{rule: ruleNone},
		now:        refsOf(&write.new.Spec.DecidedReference, req.Namespace),
		parameters: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(rawOf(write.new.Spec.Parameters)) }),
	}
	if v.judgeMark(); v.denied != nil {
		return v.verdict, nil
	}
	if req.Operation == admissionv1.Update {
		if v.judgeOwner(); v.denied != nil || sameSpec(v.old.Spec, v.new.Spec) {
			// What was always wrong is not checked: the object must stay deletable.
			return v.verdict, nil
		}
		v.was = refsOf(&v.old.Spec.DecidedReference, req.Namespace)
	}
	v.parameterBytes = len(rawOf(write.new.Spec.Parameters))
	if err := v.judge(ctx); err != nil {
		return verdict{rule: ruleNone}, err
	}
	return v.verdict, nil
}

func (v *instanceValidation) judge(ctx context.Context) error {
	if v.old == nil {
		if done, err := v.judgeNewOwner(ctx); done || err != nil {
			return err
		}
	}
	v.judgeShape()
	if v.old != nil {
		v.judgeImmutable()
	}
	if v.denied != nil {
		return nil
	}
	if v.judgeAuthor(); v.denied != nil {
		return nil
	}
	if err := v.judgeAdoption(ctx); err != nil || v.denied != nil {
		return err
	}
	return v.judgeConfirmed(ctx)
}

// judgeAuthor refuses a change that is not in the name of the user who makes it: the
// mutating half was not asked. The conditions of the hooks compare an integer with a float
// after they rounded it, while this half is asked about every new generation. About what is
// undecided, both are always asked.
func (v *instanceValidation) judgeAuthor() {
	if v.old == nil || !v.old.Spec.Decided() || equality.Semantic.DeepEqual(v.new.Spec.UserInfo, requester(v.req)) {
		return
	}
	field := "spec.parameters"
	if sameParameters(v.old.Spec.Parameters, v.new.Spec.Parameters) {
		field = "spec.updateRequests" // the only other number
	}
	v.deny(invalid("UnseenChange", field, "the mutating webhook was not asked about this change: a number changes by less than the API server tells apart").
		remedy("write the number as it is stored, or change it by more"))
}

// judgeAdoption judges an external ID that the write chooses.
func (v *instanceValidation) judgeAdoption(ctx context.Context) error {
	was := ""
	if v.old != nil {
		was = v.old.Spec.ExternalID
	}
	denied, err := v.refusedAdoption(ctx, &adoption{req: v.req, meta: &v.new.Metadata, id: v.new.Spec.ExternalID, was: was})
	v.deny(denied)
	return err
}

// judgeShape holds the spec against what needs no look elsewhere.
func (v *instanceValidation) judgeShape() {
	spec := v.new.Spec
	var contradiction *resolve.Error
	if _, err := resolve.RequestFor(&spec.PlanReference, v.req.Namespace, ""); errors.As(err, &contradiction) {
		v.deny(unresolved(contradiction, resolve.Request{}))
	}
	if v.req.Operation == admissionv1.Create || !sameParameters(v.old.Spec.Parameters, spec.Parameters) {
		v.denied = v.denied.also(unreadableParameters(v.parameters()))
	}
	if v.req.Operation == admissionv1.Create || !equality.Semantic.DeepEqual(v.old.Spec.ParametersFrom, spec.ParametersFrom) {
		v.denied = v.denied.also(wrongSources(spec.ParametersFrom, "serviceinstance"))
	}
	v.judgeSharing()
}

// judgeCreate holds the references of a new instance against the catalog.
func (v *instanceValidation) judgeCreate() {
	if v.now.empty() {
		return
	}
	if v.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "" {
		v.deny(forgedReference(&v.new.Spec.DecidedReference))
		return
	}
	v.denied = v.denied.also(v.disagreement(v.new.Spec, v.now, v.defined))
}

// judgeImmutable refuses what cannot change, whatever the catalog holds.
func (v *instanceValidation) judgeImmutable() {
	old, spec := v.old.Spec, v.new.Spec
	if spec.UpdateRequests < old.UpdateRequests {
		v.deny(invalid("UpdateRequests", "spec.updateRequests", "it counts requests and cannot go back from %d to %d", old.UpdateRequests, spec.UpdateRequests).
			remedy("raise it, or leave it out"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		v.deny(immutable("spec.externalID", "it is the instance's identity at its broker").
			remedy("leave it out, or put it back: kubectl get -n %s serviceinstance %s -o jsonpath={.spec.externalID}", v.req.Namespace, v.req.Name))
	}
	if !old.Decided() {
		return
	}
	if spec.ServiceType != old.ServiceType {
		v.deny(immutable("spec.serviceType", "the plan is decided").remedy("create another instance of the other type"))
	}
	if !selectsNothing(spec.PlanSelector) && !equality.Semantic.DeepEqual(spec.PlanSelector, old.PlanSelector) {
		v.deny(immutable("spec.planSelector", "the plan is decided").
			remedy("to change the plan, name it, and clear the selector: spec.clusterServicePlanExternalName or another of its names, and spec.planSelector: {}"))
	}
}

// judgeUpdate judges names and references that changed.
func (v *instanceValidation) judgeUpdate(ctx context.Context, seen view) error {
	old, spec := v.old.Spec, v.new.Spec
	if !old.Decided() {
		if v.now.plan.Name != "" {
			v.denied = v.denied.also(v.disagreement(spec, v.now, v.defined))
		}
		return nil
	}
	if v.now == v.was {
		if spec.PlanReference != old.PlanReference {
			v.denied = v.denied.also(v.disagreement(v.changedNames(), v.now, v.defined))
		}
		return nil
	}
	return v.judgeReferences(ctx, seen)
}

// changedNames is the spec without the names that stand as they stood: a broker
// may have renamed since what they led to.
func (v *instanceValidation) changedNames() *v1beta1.ServiceInstanceSpec {
	seen := *v.new.Spec
	for _, field := range keptFields {
		same := field.when == keptWithClass && v.now.class == v.was.class || field.when == keptWithPlan && v.now.plan == v.was.plan
		if same && sameValue(field.value(&seen), field.value(v.old.Spec)) {
			field.copy(&seen, &v1beta1.ServiceInstanceSpec{})
		}
	}
	return &seen
}

// judgeReferences judges references that changed.
func (v *instanceValidation) judgeReferences(ctx context.Context, seen view) error {
	if v.denied = v.denied.also(v.disagreement(v.changedNames(), v.now, v.defined)); v.denied != nil {
		return nil
	}
	before, err := seen.define(ctx, v.was.plan)
	if err != nil {
		return err
	}
	if before.gone() && !v.old.Status.started() {
		return nil
	}
	switch {
	case v.now.class != v.was.class:
		v.deny(classChange(v.was.class.Name, v.now.class.Name))
	case v.new.Spec.PlanReference == v.old.Spec.PlanReference:
		v.deny(invalid("ReferenceChange", "spec."+changedField(v.new.Spec), "it is decided at admission and cannot be edited").
			remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names"))
	default:
		v.deny(before.planFixed(v.defined))
	}
	return nil
}

// selectsNothing says that there is no selector, or an explicit {} that clears
// the one that was there.
func selectsNothing(selector *labelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}

func changedField(spec *v1beta1.ServiceInstanceSpec) string {
	if spec.ServicePlanRef != nil && spec.ServicePlanRef.Name != "" {
		return "servicePlanRef"
	}
	return "clusterServicePlanRef"
}

func immutable(field, why string) *denial {
	return invalid("Immutable", field, "it cannot change: %s", why)
}
