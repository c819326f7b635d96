package binding

import (
	"context"
	"reflect"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Handler admits ServiceBindings.
type Handler struct{ *decision.Tools }

// A mutation completes one write of a binding. The write is what the
// requester sent; spec and annotations are what will be stored.
type mutation struct {
	*Handler
	*write
	review.Result

	spec        bindingSpec
	annotations map[string]string
	// changed says that an UPDATE changes spec, beyond what is restored.
	changed bool
	// settled says that this write was decided.
	settled bool
	// additions are what defaults add to the parameters, and ownAdditions those to
	// the parameters of an instance of the binding's own.
	additions, ownAdditions []parameters.Addition
}

// Mutate is the mutating phase.
func (h *Handler) Mutate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[bindingSpec, progress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, gives the best message.
		return review.Result{Rule: review.RuleNone}, nil
	}
	m := &mutation{Handler: h, write: write, spec: *write.New.Spec, annotations: map[string]string{}, Result: review.Result{Rule: review.RuleNone}}
	return review.Mutate(ctx, req, m)
}

// Create decides a new binding, or takes a restored one, which has its
// references, as decided.
func (m *mutation) Create(ctx context.Context) error {
	m.spec.UserInfo = review.Requester(m.Req)
	m.spec.ExternalID = externalid.Mint(m.Req, m.spec.ExternalID, &m.New.Metadata, m.annotations)
	m.nameSecret()
	m.warnHasty(nil)
	if m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if misshapen(&m.spec, m.Req.Namespace) != nil {
		// The validating phase denies it.
		return nil
	}
	if !references.Of(&m.spec.DecidedReference, m.Req.Namespace).Empty() {
		return m.takeAsDecided(ctx)
	}
	return m.decide(ctx, true)
}

// nameSecret names the Secret after the binding. With generateName there is no
// name yet, and the absent one means the binding's. Only a binding that is new
// or decided now gets one: at any other write it would be a change that the
// user did not make.
func (m *mutation) nameSecret() {
	if m.spec.SecretName == "" {
		m.spec.SecretName = m.Req.Name
	}
}

// Update keeps what was decided, and decides what was not.
func (m *mutation) Update(ctx context.Context) error {
	restored := m.restore()
	back := m.keepRequests()
	restore.GuardAnnotations(&m.New.Metadata, &m.Old.Metadata, m.annotations)
	m.changed = !sameBindingSpec(m.Old.Spec, &m.spec)
	if m.changed && !settledBinding(m.Old) && m.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	switch {
	case m.Old.Spec.UserInfo != nil && (!m.changed || settledBinding(m.Old)):
		// A user who requests a rotation does not become the binding's user:
		// the controller checks the permissions of userInfo.
		m.spec.UserInfo = m.Old.Spec.UserInfo
	case m.changed, m.spec.UserInfo != nil:
		m.spec.UserInfo = review.Requester(m.Req)
	}
	if len(restored) > 0 && (m.changed || !settledBinding(m.Old)) {
		// Old clients write a decided binding like that, without intent.
		m.Warnf("kept %s: leaving a field out does not clear it", strings.Join(restored, ", "))
	}
	m.warnHasty(m.Old.Spec.Rotation)
	if back && m.changed {
		m.Warnf("kept spec.rotation.requests: it counts requests and does not go back")
	}
	switch {
	case settledBinding(m.Old):
		return nil
	case references.Changed(&m.New.Spec.DecidedReference, &m.Old.Spec.DecidedReference, &m.Old.Spec.DecidedReference) != "":
		m.Deny(forgedOnBinding(&m.New.Spec.DecidedReference))
		return nil
	case m.New.Deleting() || misshapen(&m.spec, m.Req.Namespace) != nil:
		// A touch of a binding that was stored without the hooks is not denied.
		return nil
	}
	return m.decide(ctx, m.changed)
}

// BuildPatch writes down what admission adds to the write.
func (m *mutation) BuildPatch() {
	if m.New.Specless {
		m.Patch.Add(struct{}{}, "spec")
	}
	restore.PatchFields(&m.Patch, keptFields, &m.spec, m.given())
	if m.spec.InstanceRef == nil && m.New.Spec.InstanceRef != nil {
		m.Patch.Remove("spec", "instanceRef")
	}
	if m.spec.UserInfo != nil && !reflect.DeepEqual(m.spec.UserInfo, m.New.Spec.UserInfo) {
		m.Patch.Add(m.spec.UserInfo, "spec", "userInfo")
	}
	for _, added := range m.additions {
		m.Patch.AddAt("/spec/parameters"+added.Pointer, added.Value)
	}
	for _, added := range m.ownAdditions {
		m.Patch.AddAt("/spec/provisionParameters"+added.Pointer, added.Value)
	}
	m.Patch.AddEntries(m.New.Metadata.Annotations, m.annotations, "metadata", "annotations")
	if m.Old == nil || m.settled || m.forgetsFinalizer() {
		m.Patch.AddFinalizer(m.New.Metadata.Finalizers)
	}
}

// forgetsFinalizer says that the write replaces the binding by a manifest, as
// with instances.
func (m *mutation) forgetsFinalizer() bool {
	return m.New.Metadata.DropsFinalizer(&m.Old.Metadata) && !sameBindingSpec(m.Old.Spec, m.New.Spec)
}
