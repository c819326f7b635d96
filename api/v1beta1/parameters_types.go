package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// ParametersFromSource is a source of parameters beside the inline ones.
type ParametersFromSource struct {
	// SecretKeyRef names the key of a Secret in this namespace whose value is
	// a JSON object of parameters.
	// +required
	SecretKeyRef *SecretKeyReference `json:"secretKeyRef,omitempty"`
}

// SecretKeyReference names one key of a Secret.
type SecretKeyReference struct {
	// Name is the name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Key is the key within the Secret's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`
}

// SecretTransform changes the credentials that a broker returned before they
// are written to the binding's Secret. Exactly one field is set; transforms
// run in the order of their list.
// +kubebuilder:validation:XValidation:rule=`[has(self.renameKey), has(self.addKey), has(self.addKeysFrom), has(self.removeKey), has(self.publishKey), has(self.preset)].exists_one(set, set)`,message="a transform is exactly one of renameKey, addKey, addKeysFrom, removeKey, publishKey and preset: set one; write several as several list items"
type SecretTransform struct {
	// RenameKey moves a value to another key.
	// +optional
	RenameKey *RenameKeyTransform `json:"renameKey,omitempty"`
	// AddKey adds a key with a given or computed value.
	// +optional
	AddKey *AddKeyTransform `json:"addKey,omitempty"`
	// AddKeysFrom adds every key of another Secret.
	// +optional
	AddKeysFrom *AddKeysFromTransform `json:"addKeysFrom,omitempty"`
	// RemoveKey takes a key away.
	// +optional
	RemoveKey *RemoveKeyTransform `json:"removeKey,omitempty"`
	// PublishKey moves a key to the ConfigMap beside the Secret: its value is no
	// secret.
	// +optional
	PublishKey *PublishKeyTransform `json:"publishKey,omitempty"`
	// Preset is a set of transforms by name.
	// +optional
	Preset *PresetTransform `json:"preset,omitempty"`
}

// PublishKeyTransform moves a key to the ConfigMap of the Secret's name.
type PublishKeyTransform struct {
	// Key is the key to move. If it is absent, nothing happens.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// PresetTransform is a set of transforms by name.
type PresetTransform struct {
	// Name is servicebinding: the values of keys that brokers commonly use are
	// copied to the well-known ones of the Service Binding specification, where
	// those are not there yet, and type and provider are added.
	// +kubebuilder:validation:Enum=servicebinding
	Name string `json:"name"`
	// Type is the value of the key type. Absent: that of the broker, else the
	// service type, else the external name of the class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Type string `json:"type,omitempty"`
	// Provider is the value of the key provider. Absent: that of the broker, else
	// the external name of the class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Provider string `json:"provider,omitempty"`
}

// PresetServiceBinding is the preset of the Service Binding specification.
const PresetServiceBinding = "servicebinding"

// RenameKeyTransform moves a value to another key.
type RenameKeyTransform struct {
	// From is the key that the broker returned. If it is absent, nothing
	// happens.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	From string `json:"from"`
	// To is the key to write; a value that it held is overwritten.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	To string `json:"to"`
}

// AddKeyTransform adds a key. jsonPathExpression wins over stringValue, and
// stringValue over value.
type AddKeyTransform struct {
	// Key is the key to write.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
	// Value is the value as bytes, in base64 on the wire.
	// +optional
	// +nullable
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:Pattern=`^[\r\n]*(([A-Za-z0-9+/][\r\n]*){4})*(([A-Za-z0-9+/][\r\n]*){2}=[\r\n]*=[\r\n]*|([A-Za-z0-9+/][\r\n]*){3}=[\r\n]*)?$`
	Value []byte `json:"value,omitempty"`
	// StringValue is the value as text.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=65536
	StringValue *string `json:"stringValue,omitempty"`
	// JSONPathExpression is a template over the credentials, such as
	// {.hostname}; its result, as text, is the value.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=4096
	JSONPathExpression *string `json:"jsonPathExpression,omitempty"`
}

// AddKeysFromTransform adds every key of another Secret.
// +kubebuilder:validation:XValidation:rule=`self.?secretRef.?name.orValue("") != ""`,message="secretRef.name is required: name the Secret whose keys are added",reason=FieldValueRequired
type AddKeysFromTransform struct {
	// SecretRef names the Secret. Setting this reference requires permission to
	// read it.
	// +required
	SecretRef *ObjectReference `json:"secretRef,omitempty"`
}

// RemoveKeyTransform takes a key away.
type RemoveKeyTransform struct {
	// Key is the key to take away. If it is absent, nothing happens.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// Defaults are what a class or plan gives to the instances and bindings that
// do not say otherwise. A plan's win over its class's.
type Defaults struct {
	// DefaultProvisionParameters is a JSON object of parameters for
	// provisioning. Objects merge key by key; the instance's own values win.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	DefaultProvisionParameters *runtime.RawExtension `json:"defaultProvisionParameters,omitempty"`
	// DefaultBindParameters is a JSON object of parameters for binding.
	// Objects merge key by key; the binding's own values win.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	DefaultBindParameters *runtime.RawExtension `json:"defaultBindParameters,omitempty"`
	// DefaultSecretTransforms are applied to a binding's credentials before
	// the binding's own transforms, in order. A later transform of the same
	// key takes the place of an earlier one.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	DefaultSecretTransforms []SecretTransform `json:"defaultSecretTransforms,omitempty"`
}

// UserInfo is the user who last asked for a change, sent to the broker as the
// originating identity. Written at admission.
type UserInfo struct {
	// Username is the name of the user.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Username string `json:"username"`
	// UID tells users of the same name apart.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UID string `json:"uid"`
	// Groups are the names of the groups that the user is in.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MaxLength=1024
	Groups []string `json:"groups,omitempty"`
	// Extra is what else the authenticator said, as lists of words by key.
	// +optional
	// +kubebuilder:validation:MaxProperties=1024
	Extra map[string]ExtraValue `json:"extra,omitempty"`
}

// ExtraValue is a list of words that an authenticator gave.
type ExtraValue []string
