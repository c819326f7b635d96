package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ProvisioningPolicy says which namespaces may have instances of which classes
// and plans. It also holds for new bindings to such instances.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=spp,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=Action,type=string,description="Allow or Deny.",JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name=Plans,type=integer,description="How many plans it selects now.",JSONPath=`.status.plans`
// +kubebuilder:printcolumn:name=Namespaces,type=integer,description="How many namespaces it selects now.",JSONPath=`.status.namespaces`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,description="What a refused user is told.",JSONPath=`.spec.message`
type ProvisioningPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the rule.
	// +required
	Spec ProvisioningPolicySpec `json:"spec"`
	// Status is what the rule selects now.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status PolicyStatus `json:"status,omitempty"`
}

// ProvisioningPolicyList is a list of provisioning policies.
// +kubebuilder:object:root=true
type ProvisioningPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the policies.
	Items []ProvisioningPolicy `json:"items"`
}

// BindingPolicy says which namespaces may bind to which instances.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=sbp,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=Action,type=string,description="Allow or Deny.",JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name=Plans,type=integer,description="How many plans it selects now.",JSONPath=`.status.plans`
// +kubebuilder:printcolumn:name=Instances,type=integer,description="How many instances it selects now.",JSONPath=`.status.instances`
// +kubebuilder:printcolumn:name=Namespaces,type=integer,description="How many namespaces it selects now.",JSONPath=`.status.namespaces`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,description="What a refused user is told.",JSONPath=`.spec.message`
type BindingPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the rule.
	// +required
	Spec BindingPolicySpec `json:"spec"`
	// Status is what the rule selects now.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status PolicyStatus `json:"status,omitempty"`
}

// BindingPolicyList is a list of binding policies.
// +kubebuilder:object:root=true
type BindingPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the policies.
	Items []BindingPolicy `json:"items"`
}

// PolicyAction is what a policy does to what it selects.
// +kubebuilder:validation:Enum=Allow;Deny;Limit
type PolicyAction string

// The actions. Deny refuses the subjects in the namespaces. As soon as any
// Allow selects a subject, only namespaces that some Allow names may use it.
// Deny wins over Allow. Limit neither allows nor refuses: of a provisioning
// policy, it says how many each of the namespaces may have.
const (
	PolicyAllow PolicyAction = "Allow"
	PolicyDeny  PolicyAction = "Deny"
	PolicyLimit PolicyAction = "Limit"
)

// ProvisioningPolicySpec is a rule about instances.
// +kubebuilder:validation:XValidation:rule=`self.action != "Deny" || !(has(self.maxInstances) || has(self.maxBindings))`,message="maxInstances and maxBindings have no meaning beside the action Deny: remove them, or make the action Limit",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`self.action != "Limit" || has(self.maxInstances) || has(self.maxBindings)`,message="a policy with the action Limit needs a limit: set maxInstances or maxBindings",reason=FieldValueRequired
type ProvisioningPolicySpec struct {
	PolicyRule `json:",inline"`

	// MaxInstances is how many instances of the subjects each namespace may have.
	// Absent: any number.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxInstances *int32 `json:"maxInstances,omitempty"`
	// MaxBindings is how many bindings to instances of the subjects each namespace
	// may have. Absent: any number.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxBindings *int32 `json:"maxBindings,omitempty"`

	// Subjects are the classes and plans that the rule is about: those that any
	// of the entries selects.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Subjects []PolicySubject `json:"subjects"`
}

// BindingPolicySpec is a rule about bindings.
// +kubebuilder:validation:XValidation:rule=`self.action != "Limit"`,message="a BindingPolicy has no limits: make the action Allow or Deny, or write a ProvisioningPolicy with maxBindings",fieldPath=`.action`
type BindingPolicySpec struct {
	PolicyRule `json:",inline"`

	// Subjects are the instances that the rule is about: those that any of the
	// entries selects, by themselves or by their class and plan.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Subjects []BindingPolicySubject `json:"subjects"`
}

// PolicyRule is what policies of both kinds share.
type PolicyRule struct {
	// Action is Allow, Deny or, of a provisioning policy, Limit.
	Action PolicyAction `json:"action"`
	// Message is what a user is told whom this rule refuses, such as whom to
	// ask. Absent: only the name of the policy.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// Namespaces are where the rule holds. Absent: everywhere.
	// +optional
	Namespaces *PolicyNamespaces `json:"namespaces,omitempty"`
}

// PolicyNamespaces selects namespaces: those that are named, and those that the
// selector matches.
// +kubebuilder:validation:XValidation:rule=`(has(self.names) && self.names.size() > 0) || has(self.selector)`,message="namespaces selects none: give names or a selector, or remove it to mean every namespace",reason=FieldValueRequired
type PolicyNamespaces struct {
	// Names are names of namespaces. They need not exist yet.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Names []string `json:"names,omitempty"`
	// Selector matches labels of namespaces; an empty one matches all.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// PolicySubject selects plans. All fields that are set must hold; at least one
// is set. External IDs select nothing: a copy has its original's.
// +kubebuilder:validation:XValidation:rule=`self.?serviceType.orValue("") != "" || self.?className.orValue("") != "" || self.?planName.orValue("") != "" || has(self.planSelector) || has(self.costs)`,message="a subject that says nothing would be every plan: set serviceType, className, planName, planSelector or costs; every plan is planSelector: {}",reason=FieldValueRequired
type PolicySubject struct {
	PlanSubject `json:",inline"`
}

// BindingPolicySubject selects instances. All fields that are set must hold; at
// least one is set.
// +kubebuilder:validation:XValidation:rule=`self.?serviceType.orValue("") != "" || self.?className.orValue("") != "" || self.?planName.orValue("") != "" || has(self.planSelector) || has(self.costs) || has(self.instance) || has(self.instanceSelector)`,message="a subject that says nothing would be every instance: set serviceType, className, planName, planSelector, costs, instance or instanceSelector; every instance is instanceSelector: {}",reason=FieldValueRequired
type BindingPolicySubject struct {
	PlanSubject `json:",inline"`

	// Instance is one instance by name.
	// +optional
	Instance *PolicyInstance `json:"instance,omitempty"`
	// InstanceSelector matches labels of instances; an empty one matches all.
	// +optional
	InstanceSelector *metav1.LabelSelector `json:"instanceSelector,omitempty"`
}

// PlanSubject selects plans, in the cluster and in every namespace.
type PlanSubject struct {
	// ServiceType selects the plans of a type, their own or their class's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceType string `json:"serviceType,omitempty"`
	// ClassName selects the plans of a class, by its Kubernetes or its external
	// name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`
	// PlanName selects plans by their Kubernetes or their external name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PlanName string `json:"planName,omitempty"`
	// PlanSelector matches labels of plans, with their class's below their own;
	// an empty one matches all.
	// +optional
	PlanSelector *metav1.LabelSelector `json:"planSelector,omitempty"`
	// Costs selects the plans that cost more than an amount.
	// +optional
	Costs *PolicyCosts `json:"costs,omitempty"`
}

// PolicyCosts selects plans by what they cost. All costs of the currency and the
// unit add up. A copy of a plan counts with the costs of the cluster plan that has
// its external ID.
type PolicyCosts struct {
	// Currency is compared without regard to case, such as usd.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^\S(.*\S)?$`
	Currency string `json:"currency"`
	// Unit is compared without regard to case, such as MONTHLY. Costs for other
	// units do not count.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^\S(.*\S)?$`
	Unit string `json:"unit"`
	// Above is the amount, a decimal such as "100" or "99.95". Plans that cost
	// more are selected; those that cost just as much are not.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$`
	Above string `json:"above"`
	// Unknown says how a plan counts that has no cost of the currency and the
	// unit, or whose costs are malformed: Deny selects it, as if it cost more,
	// and Allow does not. A plan that is free and names none costs nothing.
	// +optional
	// +kubebuilder:default=Deny
	Unknown UnknownCosts `json:"unknown,omitempty"`
}

// UnknownCosts says how a plan counts of which is not known what it costs.
// +kubebuilder:validation:Enum=Deny;Allow
type UnknownCosts string

// How a plan counts of which is not known what it costs: as one that costs more than
// the amount, or as one that does not.
const (
	UnknownDeny  UnknownCosts = "Deny"
	UnknownAllow UnknownCosts = "Allow"
)

// PolicyInstance names an instance.
type PolicyInstance struct {
	// Namespace is the namespace of the instance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace"`
	// Name is the metadata.name of the instance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// PolicyStatus is what a policy selects now, which is for people, and the slots
// that it granted, which the controller depends on.
type PolicyStatus struct {
	// ObservedGeneration is the metadata.generation that this status was
	// derived from; -1 before the first time.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Plans is how many live plans the subjects select.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Plans int32 `json:"plans"`
	// PlanNames are the first of these plans in order, as class/plan by
	// external names with their scope.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	PlanNames []string `json:"planNames,omitempty"`
	// Instances is how many instances the subjects select; of a binding policy
	// only.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Instances *int32 `json:"instances,omitempty"`
	// Namespaces is how many namespaces the rule holds in.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Namespaces int32 `json:"namespaces"`
	// NamespaceNames are the first of these namespaces in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	NamespaceNames []string `json:"namespaceNames,omitempty"`
	// Slots are what a policy with limits granted, by namespace. The controller
	// provisions nothing, and binds nothing, that lacks a slot. Written by the
	// keeper alone.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +kubebuilder:validation:MaxItems=10000
	Slots []PolicySlots `json:"slots,omitempty"`
	// Conditions are Effective: whether the rule selects anything.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []Condition `json:"conditions,omitempty"`
}

// PolicySlots are the slots of one namespace.
type PolicySlots struct {
	// Namespace is the namespace of the objects.
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// Instances are the UIDs of the instances that have a slot, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100000
	Instances []types.UID `json:"instances,omitempty"`
	// Bindings are the UIDs of the bindings that have a slot, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100000
	Bindings []types.UID `json:"bindings,omitempty"`
}
