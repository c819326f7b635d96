package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

type labelSelector = metav1.LabelSelector

// mintSpace is the name space of the external IDs that are minted: they are
// derived from the UID of the request, so that the handler is a function of it.
var mintSpace = uuid.MustParse("5d3c7e0a-6f0b-4b53-9c37-0f5f6f1f8a55")

// instances admits ServiceInstances.
type instances struct {
	resolver *resolver
	schemas  *schemas
	defaults *defaults
	options  *Options
}

// An instanceMutation makes one write of an instance whole. The write is what
// the requester sent; spec, annotations and labels are what will be stored.
type instanceMutation struct {
	*instances
	*instanceWrite
	verdict

	spec        v1beta1.ServiceInstanceSpec
	annotations map[string]string
	// additions are what defaults add to the parameters.
	additions []addition
}

// mutate is the mutating half.
func (h *instances) mutate(ctx context.Context, req *admission.Request) (verdict, error) {
	write, wrong := readInstance(req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, says best what is wrong.
		return verdict{rule: ruleNone}, nil
	}
	m := &instanceMutation{instances: h, instanceWrite: write, spec: *write.new.Spec, annotations: map[string]string{}, verdict: verdict{rule: ruleNone}}
	step := m.update
	if req.Operation == admissionv1.Create {
		step = m.create
	}
	if err := step(ctx); err != nil {
		return verdict{rule: ruleNone}, err
	}
	if m.denied == nil {
		m.buildPatch()
	}
	return m.verdict, nil
}

// create decides a new instance, or takes one as decided that comes with its
// references.
func (m *instanceMutation) create(ctx context.Context) error {
	m.spec.UserInfo = requester(m.req)
	m.mint()
	if m.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		// What is decided below writes its own; nothing decided has none.
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if !refsOf(&m.spec.DecidedReference, m.req.Namespace).empty() {
		return m.takeAsDecided(ctx)
	}
	return m.decide(ctx, true)
}

// mint gives the instance an external ID of its own, and the marker that says
// so. A marker that the requester wrote is made void: only an ID that was minted
// for this very object may ever be mitigated at a broker.
func (m *instanceMutation) mint() {
	if m.spec.ExternalID == "" {
		m.spec.ExternalID = uuid.NewSHA1(mintSpace, []byte(m.req.UID)).String()
		m.annotations[v1beta1.AnnotationMintedExternalID] = m.spec.ExternalID
		return
	}
	if m.new.Metadata.Annotations[v1beta1.AnnotationMintedExternalID] != "" {
		m.annotations[v1beta1.AnnotationMintedExternalID] = ""
	}
}

// update keeps what was decided, and decides what was not.
func (m *instanceMutation) update(ctx context.Context) error {
	restored := m.restore()
	if len(restored) > 0 {
		m.warn("kept %s: leaving a field out does not change what was decided", list(restored))
	}
	m.guardAnnotations()
	changed := !sameSpec(m.old.Spec, &m.spec)
	if changed {
		m.spec.UserInfo = requester(m.req)
	} else if m.old.Spec.UserInfo != nil {
		m.spec.UserInfo = m.old.Spec.UserInfo
	} else if m.spec.UserInfo != nil {
		// No one is on record, and whoever writes a name here is someone.
		m.spec.UserInfo = requester(m.req)
	}
	switch {
	case m.old.Spec.Decided():
		return m.updateDecided(ctx, changed)
	case changedReference(&m.new.Spec.DecidedReference, &m.old.Spec.DecidedReference, &m.old.Spec.DecidedReference) != "":
		m.deny(forgedReference(&m.new.Spec.DecidedReference))
		return nil
	case m.new.deleting() || m.old.Status.started():
		return nil
	}
	return m.decide(ctx, changed)
}

// guardAnnotations undoes edits of what admission wrote.
func (m *instanceMutation) guardAnnotations() {
	for _, key := range []string{v1beta1.AnnotationMintedExternalID, v1beta1.AnnotationAppliedDefaults} {
		if was := m.old.Metadata.Annotations[key]; m.new.Metadata.Annotations[key] != was {
			m.annotations[key] = was
		}
	}
}

// updateDecided applies the restore table's other rows: another plan by name,
// and a plan that is gone before anything was sent to its broker.
func (m *instanceMutation) updateDecided(ctx context.Context, changed bool) error {
	m.forgetChangedDefaults()
	if !changed {
		return nil
	}
	if m.renames(keptWithClass) || m.renames(keptWithPlan) {
		return m.replan(ctx)
	}
	if m.refuseReferences(&m.new.Spec.DecidedReference, &m.old.Spec.DecidedReference, &m.old.Spec.DecidedReference); m.denied != nil {
		return nil
	}
	if m.new.deleting() || m.old.Status.started() {
		return nil
	}
	defined, err := m.resolver.catalog.define(ctx, refsOf(&m.old.Spec.DecidedReference, m.req.Namespace).plan, "")
	if err != nil {
		return err
	}
	if defined != nil && defined.Plan.Gone == "" && defined.Class.Gone == "" {
		return nil
	}
	m.dropChosenNames()
	return m.decide(ctx, false)
}

// dropChosenNames forgets a plan name that an earlier choice filled in: the user
// never asked for that plan.
func (m *instanceMutation) dropChosenNames() {
	applied, err := v1beta1.ParseAppliedDefaults(m.old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults])
	if err != nil {
		return
	}
	switch resolve.Rule(applied.Rule) {
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		clearPlanNames(&m.spec.PlanReference)
	default:
	}
}

// replan resolves the names that the write gives anew, within the decided class.
func (m *instanceMutation) replan(ctx context.Context) error {
	was := refsOf(&m.old.Spec.DecidedReference, m.req.Namespace)
	choice, err := m.chooseWithin(ctx, was)
	var refused *resolve.Error
	if errors.As(err, &refused) {
		m.deny(unresolved(refused, resolve.Request{Namespace: m.req.Namespace, Namespaced: was.plan.Namespace != ""}))
		return nil
	}
	if err != nil {
		return err
	}
	if choice.Class.Ref != was.class {
		m.deny(invalid("ClassChange", "spec", "the class cannot change from %q to %q once it is decided", was.class.Name, choice.Class.Name).
			remedy("create another instance of the other class"))
		return nil
	}
	now := refs{class: choice.Class.Ref, plan: choice.Plan.Ref}
	if now.plan != was.plan {
		m.warn("plan changed from %s to %s; parameters stay as they are, no default is applied again", was.plan.Name, display(choice.Plan.ExternalName, choice.Plan.Name))
		m.audit("plan-change", was.plan.Name+" to "+now.plan.Name)
	}
	given := m.new.Spec.DecidedReference
	now.set(&m.spec.DecidedReference)
	m.refuseReferences(&given, &m.old.Spec.DecidedReference, &m.spec.DecidedReference)
	return nil
}

// chooseWithin resolves the names of the write; what it does not name is what
// was decided.
func (m *instanceMutation) chooseWithin(ctx context.Context, was refs) (resolve.Choice, error) {
	req, err := resolve.RequestFor(&m.spec.PlanReference, m.req.Namespace, m.seed())
	if err != nil {
		return resolve.Choice{}, err
	}
	if req.Class.Value == "" {
		if req.Plan.Value != "" && req.Namespaced != (was.plan.Namespace != "") {
			return resolve.Choice{}, &resolve.Error{
				Reason: resolve.InvalidReference, Field: "spec", Value: req.Plan.Value,
				Detail: "the plan is of another scope than the class that was decided",
			}
		}
		req.Class = resolve.Named{By: resolve.ByName, Value: was.class.Name}
		req.Namespaced = was.class.Namespace != ""
	}
	if req.Plan.Value == "" {
		req.Plan = resolve.Named{By: resolve.ByName, Value: was.plan.Name}
	}
	req.Type = m.spec.ServiceType
	return m.resolver.resolve(ctx, req)
}

// refuseReferences refuses references that the write changes by hand: those that
// are neither what they were nor what they are to be.
func (m *instanceMutation) refuseReferences(given, was, now *v1beta1.DecidedReference) {
	if field := changedReference(given, was, now); field != "" {
		m.deny(invalid("ReferenceChange", field, "it is decided at admission and cannot be edited").
			remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names"))
	}
}

// forgedReference refuses references on an instance that is not decided.
func forgedReference(spec *v1beta1.DecidedReference) *denial {
	field := changedReference(spec, &v1beta1.DecidedReference{}, &v1beta1.DecidedReference{})
	return invalid("ForgedReference", field, "it must not be present: it is decided at admission").
		remedy("name a class and plan, or a service type, instead; a backup keeps spec.externalID or the annotation %s beside its references", v1beta1.AnnotationAppliedDefaults)
}

// changedReference is the path of the first reference that is given and neither
// what it was nor what it is to be.
func changedReference(given, was, now *v1beta1.DecidedReference) string {
	x, y, z := refNames(given), refNames(was), refNames(now)
	for i, field := range refFields {
		if x[i] != "" && x[i] != y[i] && x[i] != z[i] {
			return "spec." + field
		}
	}
	return ""
}

var refFields = [4]string{"clusterServiceClassRef", "clusterServicePlanRef", "serviceClassRef", "servicePlanRef"}

func refNames(d *v1beta1.DecidedReference) [4]string {
	var names [4]string
	if d.ClusterServiceClassRef != nil {
		names[0] = d.ClusterServiceClassRef.Name
	}
	if d.ClusterServicePlanRef != nil {
		names[1] = d.ClusterServicePlanRef.Name
	}
	if d.ServiceClassRef != nil {
		names[2] = d.ServiceClassRef.Name
	}
	if d.ServicePlanRef != nil {
		names[3] = d.ServicePlanRef.Name
	}
	return names
}

func display(name, otherwise string) string { return orElse(name, otherwise) }

// buildPatch writes down what admission adds to the write.
func (m *instanceMutation) buildPatch() {
	if m.new.specless {
		m.patch.add(struct{}{}, "spec")
	}
	m.patchSpec()
	if m.spec.UserInfo != nil && !sameValue(m.spec.UserInfo, m.new.Spec.UserInfo) {
		m.patch.add(m.spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.additions {
		m.patch.addAt("/spec/parameters"+added.pointer, added.value)
	}
	m.patch.addEntries(m.new.Metadata.Annotations, m.annotations, "metadata", "annotations")
	m.patch.addEntries(m.new.Metadata.Labels, hashedLabels(&m.spec.DecidedReference, m.new.Metadata.Labels), "metadata", "labels")
	if m.old == nil || m.forgetsFinalizer() {
		m.patchFinalizer()
	}
}

// forgetsFinalizer says that the write is a replacement of the object by a
// manifest, which never has our finalizer: without it a deletion would leave
// what was provisioned behind. Who takes it off on purpose leaves spec as it is.
func (m *instanceMutation) forgetsFinalizer() bool {
	return slices.Contains(m.old.Metadata.Finalizers, v1beta1.FinalizerServiceCatalog) &&
		!m.new.deleting() && !sameSpec(m.old.Spec, m.new.Spec)
}

// patchFinalizer appends our finalizer to those of others.
func (m *instanceMutation) patchFinalizer() {
	for _, finalizer := range m.new.Metadata.Finalizers {
		if finalizer == v1beta1.FinalizerServiceCatalog {
			return
		}
	}
	if m.new.Metadata.Finalizers == nil {
		m.patch.add([]string{v1beta1.FinalizerServiceCatalog}, "metadata", "finalizers")
		return
	}
	m.patch.add(v1beta1.FinalizerServiceCatalog, "metadata", "finalizers", "-")
}

// warn tells the requester something, in at most the 256 runes that the API
// server passes on.
func (v *verdict) warn(format string, args ...any) {
	const most = 250
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	v.warnings = append(v.warnings, string(text))
}
