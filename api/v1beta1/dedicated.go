package v1beta1

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Dedicated says that the binding asks for an instance of its own.
func (b *ServiceBinding) Dedicated() bool { return b.Spec.InstanceRef == nil }

// Type is the service type that the binding asks for, else the one that its plan has.
func (b *ServiceBinding) Type() string { return cmp.Or(b.Spec.ServiceType, b.Status.ServiceType) }

// InstanceKey is the namespace and name of the instance that the binding is for:
// the one that it names, or its own, whether that exists yet or not.
func (b *ServiceBinding) InstanceKey() types.NamespacedName {
	ref := b.Spec.InstanceRef
	if ref == nil {
		return types.NamespacedName{Namespace: b.Namespace, Name: DedicatedInstanceName(b)}
	}
	return types.NamespacedName{Namespace: cmp.Or(ref.Namespace, b.Namespace), Name: ref.Name}
}

// Shares says that the binding is for an instance of another namespace.
func (b *ServiceBinding) Shares() bool { return b.InstanceKey().Namespace != b.Namespace }

// DedicatedInstanceName is the name of the binding's dedicated instance: the
// name of the binding and eight digits derived from its UID, so the name cannot
// be taken in advance. A long name is cut, never right after a dot or a dash.
func DedicatedInstanceName(b *ServiceBinding) string {
	const digits, most = 8, 253
	sum := sha256.Sum256([]byte(b.UID))
	name := b.Name
	if len(name) > most-digits-1 {
		name = strings.TrimRight(name[:most-digits-1], ".-")
	}
	return name + "-" + hex.EncodeToString(sum[:])[:digits]
}

// DedicatedInstance is the instance of the binding's own, as it is created: with
// the plan and the parameters that admission decided on for the binding, in the name
// of the binding's user. It fails where the record of what was decided cannot be
// read. Admission takes such an instance as decided from the controller alone, and
// only if it is just this one.
func DedicatedInstance(b *ServiceBinding) (*ServiceInstance, error) {
	applied, err := ParseAppliedDefaults(b.Annotations[AnnotationAppliedDefaults])
	if err != nil {
		return nil, fmt.Errorf("cannot make the instance of binding %q: %w", b.Name, err)
	}
	own := b.Spec.OwnInstance()
	own.UserInfo = b.Spec.UserInfo.DeepCopy()
	annotations := map[string]string{AnnotationAppliedDefaults: applied.OfInstance().String()}
	if b.Annotations[AnnotationPreventDeletion] == "true" {
		annotations[AnnotationPreventDeletion] = "true"
	}
	return &ServiceInstance{
		TypeMeta: metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "ServiceInstance"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.Namespace, Name: DedicatedInstanceName(b),
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b, GroupVersion.WithKind("ServiceBinding"))},
		},
		Spec: own,
	}, nil
}

// OwnInstance is what a binding without spec.instanceRef asks of the instance of its
// own: class and plan, and parameters.
func (s *ServiceBindingSpec) OwnInstance() ServiceInstanceSpec {
	from := s.DeepCopy()
	return ServiceInstanceSpec{
		PlanReference: from.PlanReference, ServiceType: from.ServiceType, PlanSelector: from.PlanSelector,
		DecidedReference: from.DecidedReference, Parameters: from.ProvisionParameters,
	}
}

// OfInstance is what is recorded on the instance of a binding's own, of what is
// recorded on the binding.
func (a AppliedDefaults) OfInstance() AppliedDefaults {
	own := AppliedDefaults{Rule: a.Rule, Class: a.Class, Plan: a.Plan}
	if p := a.Provision; p != nil {
		own.From, own.Removed, own.Truncated = p.From, p.Removed, p.Truncated
	}
	return own
}

// Type is the service type that the instance asks for, else the one that its plan has.
func (i *ServiceInstance) Type() string { return cmp.Or(i.Spec.ServiceType, i.Status.ServiceType) }

// DedicatedTo returns the UID and name of the binding that the instance is
// dedicated to, and false if it is not dedicated.
func (i *ServiceInstance) DedicatedTo() (metav1.OwnerReference, bool) {
	owner := metav1.GetControllerOf(i)
	if owner == nil || owner.Kind != "ServiceBinding" || owner.APIVersion != GroupVersion.String() {
		return metav1.OwnerReference{}, false
	}
	return *owner, true
}
