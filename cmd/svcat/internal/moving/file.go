package moving

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// Version is the format of the file: apiVersion of its header.
	Version = "moving.servicecatalog.kubernetes.io/v1"
	// kindHeader is the kind of the header.
	kindHeader = "Export"

	// maxFile bounds a file, encrypted or not, maxDocument one of its objects, and
	// maxDocuments how many it has.
	maxFile      = 64 << 20
	maxDocument  = 4 << 20
	maxDocuments = 200_000
	// maxValues bounds how many values an object has, and maxFileValues the whole file: one
	// of two bytes in a list can take some hundred in memory.
	maxValues     = 100_000
	maxFileValues = 2_000_000
)

// A Header is the first document of a file.
type Header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Exported is when, and Svcat by which version the file was written.
	Exported metav1.Time `json:"exported"`
	Svcat    string      `json:"svcat,omitempty"`
	// ClusterID is the ID by which brokers know the cluster; empty: the user may not read it.
	ClusterID string `json:"clusterID,omitempty"`
	// Objects is how many documents follow: a file that was cut has fewer.
	Objects int `json:"objects"`
	// Secrets are those that the objects use.
	Secrets []SecretUse `json:"secrets,omitempty"`
}

// A SecretUse is a Secret that objects of the file use.
type SecretUse struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Keys are those that are used; none: all.
	Keys []string `json:"keys,omitempty"`
	// UsedBy are the objects, as KIND NAMESPACE/NAME.
	UsedBy []string `json:"usedBy"`
	// Carried says that the file has its contents.
	Carried bool `json:"carried,omitempty"`
}

// Contents is what a file holds.
type Contents struct {
	Header    Header
	Brokers   []v1beta1.BrokerObject
	Classes   []v1beta1.ClassObject
	Plans     []v1beta1.PlanObject
	Instances []*v1beta1.ServiceInstance
	Bindings  []*v1beta1.ServiceBinding
	Secrets   []*corev1.Secret

	// carried finds a Secret, and holders the objects of an ID at the broker; each is made when it
	// is first asked for.
	carried map[types.NamespacedName]*corev1.Secret
	holders map[string][]client.Object
}

// Objects are all objects in the order of the file.
func (c *Contents) Objects() []client.Object {
	var all []client.Object
	for _, o := range c.Brokers {
		all = append(all, o)
	}
	for _, o := range c.Classes {
		all = append(all, o)
	}
	for _, o := range c.Plans {
		all = append(all, o)
	}
	for _, o := range c.Secrets {
		all = append(all, o)
	}
	for _, o := range c.Instances {
		all = append(all, o)
	}
	for _, o := range c.Bindings {
		all = append(all, o)
	}
	return all
}

// add puts an object where its kind is, and says whether it has a place.
func (c *Contents) add(object client.Object) bool {
	switch o := object.(type) {
	case v1beta1.BrokerObject:
		c.Brokers = append(c.Brokers, o)
	case v1beta1.ClassObject:
		c.Classes = append(c.Classes, o)
	case v1beta1.PlanObject:
		c.Plans = append(c.Plans, o)
	case *v1beta1.ServiceInstance:
		c.Instances = append(c.Instances, o)
	case *v1beta1.ServiceBinding:
		c.Bindings = append(c.Bindings, o)
	case *corev1.Secret:
		c.Secrets = append(c.Secrets, o)
	default:
		return false
	}
	return true
}

// Secret is the Secret that the file carries under a name; nil if it carries none.
func (c *Contents) Secret(key types.NamespacedName) *corev1.Secret {
	if c.carried == nil {
		c.carried = map[types.NamespacedName]*corev1.Secret{}
		for _, secret := range c.Secrets {
			c.carried[client.ObjectKeyFromObject(secret)] = secret
		}
	}
	return c.carried[key]
}

// ClassID is the ID at the broker of the class of an instance; empty: the file does not have it.
func (c *Contents) ClassID(instance *v1beta1.ServiceInstance) string {
	namespace, name := "", instance.Spec.ClusterServiceClassRef.GetName()
	if local := instance.Spec.ServiceClassRef.GetName(); local != "" {
		namespace, name = instance.Namespace, local
	}
	for _, class := range c.Classes {
		if class.GetNamespace() == namespace && class.GetName() == name {
			return class.GetSpec().ExternalID
		}
	}
	return ""
}

// kinds makes an empty object of each kind that a file may have.
var kinds = map[string]func() client.Object{
	"ClusterServiceBroker": func() client.Object { return &v1beta1.ClusterServiceBroker{} },
	"ServiceBroker":        func() client.Object { return &v1beta1.ServiceBroker{} },
	"ClusterServiceClass":  func() client.Object { return &v1beta1.ClusterServiceClass{} },
	"ServiceClass":         func() client.Object { return &v1beta1.ServiceClass{} },
	"ClusterServicePlan":   func() client.Object { return &v1beta1.ClusterServicePlan{} },
	"ServicePlan":          func() client.Object { return &v1beta1.ServicePlan{} },
	"ServiceInstance":      func() client.Object { return &v1beta1.ServiceInstance{} },
	"ServiceBinding":       func() client.Object { return &v1beta1.ServiceBinding{} },
	kindSecret:             func() client.Object { return &corev1.Secret{} },
}

const kindSecret = "Secret"

// versionOf is the apiVersion of a kind of the file.
func versionOf(kind string) string {
	if kind == kindSecret {
		return "v1"
	}
	return v1beta1.GroupVersion.String()
}

// KindOf is the kind of an object of the file.
func KindOf(object client.Object) string {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return kindInstance
	case *v1beta1.ServiceBinding:
		return "ServiceBinding"
	case *corev1.Secret:
		return kindSecret
	case v1beta1.BrokerObject:
		return v1beta1.ScopedKind(o.GetNamespace(), "ServiceBroker")
	case v1beta1.ClassObject:
		return v1beta1.ScopedKind(o.GetNamespace(), "ServiceClass")
	case v1beta1.PlanObject:
		return v1beta1.ScopedKind(o.GetNamespace(), "ServicePlan")
	}
	return ""
}

// ConditionsOf are the conditions of a broker, instance or binding.
func ConditionsOf(object client.Object) []v1beta1.Condition {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return o.Status.Conditions
	case *v1beta1.ServiceBinding:
		return o.Status.Conditions
	case v1beta1.BrokerObject:
		return o.GetStatus().Conditions
	}
	return nil
}

// IDOf is the ID that an instance or binding has at its broker; empty: none yet.
func IDOf(object client.Object) string {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return cmp.Or(o.Status.ExternalID, o.Spec.ExternalID)
	case *v1beta1.ServiceBinding:
		return cmp.Or(o.Status.ExternalID, o.Spec.ExternalID)
	}
	return ""
}
