package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// bindings admits ServiceBindings.
type bindings struct{ *commons }

// A bindingMutation makes one write of a binding whole. The write is what the
// requester sent; spec and annotations are what will be stored.
type bindingMutation struct {
	*bindings
	*bindingWrite
	verdict

	spec        bindingSpec
	annotations map[string]string
	// changed says that an UPDATE changes spec, beyond what is restored.
	changed bool
	// settled says that this write was decided.
	settled bool
	// additions are what defaults add to the parameters, and ownAdditions those to
	// the parameters of an instance of the binding's own.
	additions, ownAdditions []addition
}

// mutate is the mutating half.
func (h *bindings) mutate(ctx context.Context, req *admission.Request) (verdict, error) {
	write, wrong := readWrite[bindingSpec, bindingProgress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, says best what is wrong.
		return verdict{rule: ruleNone}, nil
	}
	m := &bindingMutation{bindings: h, bindingWrite: write, spec: *write.new.Spec, annotations: map[string]string{}, verdict: verdict{rule: ruleNone}}
	return mutate(ctx, req, m)
}

// create decides a new binding, or takes one as decided that comes with its
// references.
func (m *bindingMutation) create(ctx context.Context) error {
	m.spec.UserInfo = requester(m.req)
	m.spec.ExternalID = mint(m.req, m.spec.ExternalID, &m.new.Metadata, m.annotations)
	m.nameSecret()
	m.warnHasty(nil)
	if m.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if misshapen(&m.spec, m.req.Namespace) != nil {
		// The validating half says how.
		return nil
	}
	if !refsOf(&m.spec.DecidedReference, m.req.Namespace).empty() {
		return m.takeAsDecided(ctx)
	}
	return m.decide(ctx, true)
}

// nameSecret names the Secret after the binding. With generateName there is no
// name yet, and the absent one means the binding's. Only what is new or decided
// now is given one: at any other write it would be a change that no one made.
func (m *bindingMutation) nameSecret() {
	if m.spec.SecretName == "" {
		m.spec.SecretName = m.req.Name
	}
}

// update keeps what was decided, and decides what was not.
func (m *bindingMutation) update(ctx context.Context) error {
	restored := m.restore()
	back := m.keepRequests()
	guardAnnotations(&m.new.Metadata, &m.old.Metadata, m.annotations)
	m.changed = !sameBindingSpec(m.old.Spec, &m.spec)
	if m.changed && !settledBinding(m.old) && m.old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	switch {
	case m.old.Spec.UserInfo != nil && (!m.changed || settledBinding(m.old)):
		// Who asks for another rotation lends no rights to what was decided before: see
		// what the controller reviews of userInfo.
		m.spec.UserInfo = m.old.Spec.UserInfo
	case m.changed, m.spec.UserInfo != nil:
		m.spec.UserInfo = requester(m.req)
	}
	if len(restored) > 0 && (m.changed || !settledBinding(m.old)) {
		// Old clients write a settled binding like that, and mean nothing by it.
		m.warnf("kept %s: leaving a field out does not clear it", list(restored))
	}
	m.warnHasty(m.old.Spec.Rotation)
	if back && m.changed {
		m.warnf("kept spec.rotation.requests: it counts requests and does not go back")
	}
	switch {
	case settledBinding(m.old):
		return nil
	case changedReference(&m.new.Spec.DecidedReference, &m.old.Spec.DecidedReference, &m.old.Spec.DecidedReference) != "":
		m.deny(forgedOnBinding(&m.new.Spec.DecidedReference))
		return nil
	case m.new.deleting() || misshapen(&m.spec, m.req.Namespace) != nil:
		// Who touches what was stored before there were hooks is not refused for it.
		return nil
	}
	return m.decide(ctx, m.changed)
}

// buildPatch writes down what admission adds to the write.
func (m *bindingMutation) buildPatch() {
	if m.new.specless {
		m.patch.add(struct{}{}, "spec")
	}
	patchFields(&m.patch, keptBindingFields, &m.spec, m.given())
	if m.spec.InstanceRef == nil && m.new.Spec.InstanceRef != nil {
		m.patch.remove("spec", "instanceRef")
	}
	if m.spec.UserInfo != nil && !sameValue(m.spec.UserInfo, m.new.Spec.UserInfo) {
		m.patch.add(m.spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.additions {
		m.patch.addAt("/spec/parameters"+added.pointer, added.value)
	}
	for _, added := range m.ownAdditions {
		m.patch.addAt("/spec/provisionParameters"+added.pointer, added.value)
	}
	m.patch.addEntries(m.new.Metadata.Annotations, m.annotations, "metadata", "annotations")
	if m.old == nil || m.settled || m.forgetsFinalizer() {
		patchFinalizer(&m.patch, m.new.Metadata.Finalizers)
	}
}

// forgetsFinalizer says that the write replaces the binding by a manifest, as
// with instances.
func (m *bindingMutation) forgetsFinalizer() bool {
	return dropsFinalizer(&m.new.Metadata, &m.old.Metadata) && !sameBindingSpec(m.old.Spec, m.new.Spec)
}
