package v1beta1

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"
)

// FinalizerServiceCatalog is the finalizer of brokers, instances and bindings, and of
// user-defined classes and plans that are in use. Those of a broker's catalog never have it.
const FinalizerServiceCatalog = "kubernetes-incubator/service-catalog"

// FinalizerBrokerPrefix begins the finalizers of the Secrets that ServiceBrokers name in
// authInfo. Each broker has its own: a Secret that two of them name stays for both.
const FinalizerBrokerPrefix = "servicecatalog.kubernetes.io/broker-"

// FinalizerOfBroker is the finalizer of a broker on the Secret with its credentials.
func FinalizerOfBroker(uid types.UID) string { return FinalizerBrokerPrefix + string(uid) }

// Annotations of classes and plans; the value that counts is "true".
const (
	// AnnotationDefaultPlan marks the default plan of a service type.
	AnnotationDefaultPlan = "servicecatalog.kubernetes.io/is-default-plan"
	// AnnotationSuggestedPlan marks the plan that a broker suggests for a
	// service type; it counts where there is no default.
	AnnotationSuggestedPlan = "servicecatalog.kubernetes.io/is-suggested-plan"
)

// AnnotationPreventDeletion with the value "true" keeps an instance or binding from being deleted. On
// a class or plan it has admission annotate the instances, and the bindings with an instance of their
// own, that are decided on it; the plan's value takes precedence over the class's, and the user's over
// both.
const AnnotationPreventDeletion = "servicecatalog.kubernetes.io/prevent-deletion"

// Annotations that admission writes on instances and bindings. A user's edit
// of them is undone.
const (
	// AnnotationAppliedDefaults holds compact JSON: the rule, the choice and
	// which defaults were applied from where. A hint, never a permission.
	AnnotationAppliedDefaults = "servicecatalog.kubernetes.io/applied-defaults"
	// AnnotationMintedExternalID holds the external ID that admission minted
	// for this very object. Only such an ID is ever mitigated at a broker.
	AnnotationMintedExternalID = "servicecatalog.kubernetes.io/minted-external-id"
)

// Annotations by which a person tells the controller what to do; the value that
// counts is "true", or "false" for the last.
const (
	// AnnotationAbandon on an instance or binding that is being deleted lets it go
	// without its broker; what is there stays.
	AnnotationAbandon = "servicecatalog.kubernetes.io/abandon"
	// AnnotationAdopt on an instance or binding with an externalID of the user's says
	// that it exists at the broker: it is never provisioned or bound.
	AnnotationAdopt = "servicecatalog.kubernetes.io/adopt"
	// AnnotationCascade on an instance that is being deleted deletes its bindings.
	AnnotationCascade = "servicecatalog.kubernetes.io/cascade"
	// AnnotationDeprovisionAdopted on an instance or binding whose ID at the broker
	// was not made for it lets its deletion remove it there.
	AnnotationDeprovisionAdopted = "servicecatalog.kubernetes.io/deprovision-adopted"
	// AnnotationManaged with the value "false" keeps the relist of a broker's
	// catalog from a class or plan.
	AnnotationManaged = "servicecatalog.kubernetes.io/managed"
)

// Annotations and labels that the controller writes.
const (
	// AnnotationCatalogHash on a class or plan is the sum of what its broker's
	// catalog said of it: whether there is anything to write.
	AnnotationCatalogHash = "servicecatalog.kubernetes.io/catalog-hash"
	// AnnotationClassName on a plan is the external name of its class, for the column CLASS.
	AnnotationClassName = "servicecatalog.kubernetes.io/class-name"
	// AnnotationCredentialsOf on a Secret is the ID at the broker of the binding whose
	// credentials it holds. A user writes it to offer a Secret to a binding that is
	// adopted.
	AnnotationCredentialsOf = "servicecatalog.kubernetes.io/credentials-of"
	// AnnotationIssuedAt on a Secret is when its credentials were stored, in RFC 3339;
	// AnnotationExpiresAt and AnnotationRenewBefore are the broker's times.
	AnnotationIssuedAt    = "servicecatalog.kubernetes.io/issued-at"
	AnnotationExpiresAt   = "servicecatalog.kubernetes.io/expires-at"
	AnnotationRenewBefore = "servicecatalog.kubernetes.io/renew-before"
	// AnnotationRotationRequests on a Secret is the spec.rotation.requests that its
	// credentials served; absent: none.
	AnnotationRotationRequests = "servicecatalog.kubernetes.io/rotation-requests"
	// AnnotationToldInStatus on a Secret with the value "true" says that what came with its
	// credentials is told in the status of the binding alone: endpoints, or which keys its
	// transforms did not find.
	AnnotationToldInStatus = "servicecatalog.kubernetes.io/told-in-status"
	// AnnotationAttributePrefix goes before the name of an attribute whose value
	// no label may have.
	AnnotationAttributePrefix = "attributes.servicecatalog.k8s.io/"
	// LabelAttributePrefix goes before the name of an attribute of a plan.
	LabelAttributePrefix = "attributes.servicecatalog.k8s.io/"
	// LabelManagedBy with the value ManagedByController is on every Secret that the
	// controller wrote.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedByController is the value of LabelManagedBy.
	ManagedByController = "defaultplan-controller"
)

// Labels that hold HashLabelValue of the field that they are named after.
// Lookups by name or ID go through them, so that values longer than a label
// may be, or with characters that a label may not have, are found too.
const (
	// LabelExternalID is set on classes and plans.
	LabelExternalID = GroupName + "/spec.externalID"
	// LabelExternalName is set on classes and plans.
	LabelExternalName = GroupName + "/spec.externalName"
	// LabelClusterServiceBrokerName is set on objects of a cluster broker.
	LabelClusterServiceBrokerName = GroupName + "/spec.clusterServiceBrokerName"
	// LabelServiceBrokerName is set on objects of a namespaced broker.
	LabelServiceBrokerName = GroupName + "/spec.serviceBrokerName"
	// LabelClusterServiceClassRefName is set on cluster plans and instances.
	LabelClusterServiceClassRefName = GroupName + "/spec.clusterServiceClassRef.name"
	// LabelServiceClassRefName is set on namespaced plans and instances.
	LabelServiceClassRefName = GroupName + "/spec.serviceClassRef.name"
	// LabelClusterServicePlanRefName is set on instances.
	LabelClusterServicePlanRefName = GroupName + "/spec.clusterServicePlanRef.name"
	// LabelServicePlanRefName is set on instances.
	LabelServicePlanRefName = GroupName + "/spec.servicePlanRef.name"
)

// Fields that the API server selects by (selectableFields of the CRDs). The
// same words are the index keys of caches, so that one selector serves both.
const (
	// FieldExternalID is selectable on classes, plans, instances, bindings.
	FieldExternalID = "spec.externalID"
	// FieldStatusExternalID is selectable on instances and bindings.
	FieldStatusExternalID = "status.externalID"
	// FieldExternalName is selectable on classes and plans.
	FieldExternalName = "spec.externalName"
	// FieldServiceType is selectable on classes, plans, instances, bindings.
	FieldServiceType = "spec.serviceType"
	// FieldStatusServiceType is selectable on instances.
	FieldStatusServiceType = "status.serviceType"
	// FieldFree is selectable on plans: "true" or "false", never empty.
	FieldFree = "spec.free"
	// FieldClusterServiceBrokerName is selectable on classes and plans.
	FieldClusterServiceBrokerName = "spec.clusterServiceBrokerName"
	// FieldServiceBrokerName is selectable on namespaced classes and plans.
	FieldServiceBrokerName = "spec.serviceBrokerName"
	// FieldClusterServiceClassRefName is selectable on cluster plans,
	// instances and bindings.
	FieldClusterServiceClassRefName = "spec.clusterServiceClassRef.name"
	// FieldServiceClassRefName is selectable on namespaced plans, instances
	// and bindings.
	FieldServiceClassRefName = "spec.serviceClassRef.name"
	// FieldClusterServicePlanRefName is selectable on instances and bindings.
	FieldClusterServicePlanRefName = "spec.clusterServicePlanRef.name"
	// FieldServicePlanRefName is selectable on instances and bindings.
	FieldServicePlanRefName = "spec.servicePlanRef.name"
	// FieldInstanceRefName is selectable on bindings.
	FieldInstanceRefName = "spec.instanceRef.name"
)

// HashLabelValue returns the value of the hashed labels: the SHA-224 sum of
// the field's value in 56 lower-case hexadecimal digits. The algorithm is part
// of the wire: labels of stored objects and selectors of old clients hold it.
func HashLabelValue(value string) string {
	sum := sha256.Sum224([]byte(value))
	return hex.EncodeToString(sum[:])
}
