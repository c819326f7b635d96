package snapshot

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

const (
	// headerKind and headerVersion are what the header of a file begins with.
	headerKind    = "CatalogSnapshot"
	headerVersion = "defaultplan/v1"
)

// A Header is the first line of a file.
type Header struct {
	// Kind is CatalogSnapshot, and Version that of this form.
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Taken is when it was read, Svcat by which version.
	Taken time.Time `json:"taken"`
	Svcat string    `json:"svcat,omitempty"`
	// Cluster is the UID of namespace kube-system; empty if it could not be read.
	Cluster string `json:"cluster,omitempty"`
	// Parameters says that the values of parameters are in the file.
	Parameters bool `json:"parameters"`
	// Webhook are the options of admission.
	Webhook Webhook `json:"webhook"`
	// Lists are the objects by kind, in the order in which they were read.
	Lists []List `json:"lists"`
	// Unknown is what the file lacks, each as a sentence.
	Unknown []string `json:"unknown,omitempty"`
}

// A List is how many objects of a kind there are, and the resourceVersion at which they were
// read: lists that have the same are of the same moment.
type List struct {
	Kind            string `json:"kind"`
	Count           int    `json:"count"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Webhook are the options of admission as a header has them.
type Webhook struct {
	Unresolved   string          `json:"unresolved"`
	SchemaCheck  string          `json:"schemaCheck"`
	Controllers  []string        `json:"controllers,omitempty"`
	FeatureGates map[string]bool `json:"featureGates"`
}

// A Snapshot is the state of the catalog at one time.
type Snapshot struct {
	Header

	// Objects are as JSON, which takes a third of the memory that decoded ones do.
	Objects [][]byte
}

// A Name is what an object is called.
type Name struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string  `json:"name"`
		Namespace *string `json:"namespace"`
	} `json:"metadata"`
	// Spec has the name at the broker, of a class or plan.
	Spec struct {
		ExternalName any `json:"externalName"`
	} `json:"spec"`
}

// NameOf is the name of an object of a snapshot.
func NameOf(object []byte) (Name, error) {
	var name Name
	// The decoder's own text may quote the object.
	if kjson.UnmarshalCaseSensitivePreserveInts(object, &name) != nil {
		return name, errNoObject
	}
	return name, nil
}

var errNoObject = errors.New("it is no JSON of an object")

// namespaceKind is the one kind that is not the catalog's own.
const namespaceKind = "Namespace"

// A kind is one of those that a snapshot has.
type kind struct {
	schema.GroupVersionKind

	// resource is its name in errors, and namespaced says that namespaces have it.
	resource   string
	namespaced bool
}

// kinds are all, those first that the others refer to.
var kinds = []kind{
	{schema.GroupVersionKind{Version: "v1", Kind: namespaceKind}, "namespaces", false},
	ours("ClusterServiceBroker", "clusterservicebrokers", false),
	ours("ClusterServiceClass", "clusterserviceclasses", false),
	ours("ClusterServicePlan", "clusterserviceplans", false),
	ours("ClusterServiceType", "clusterservicetypes", false),
	ours("ProvisioningPolicy", "provisioningpolicies", false),
	ours("BindingPolicy", "bindingpolicies", false),
	ours("ServiceBroker", "servicebrokers", true),
	ours("ServiceClass", "serviceclasses", true),
	ours("ServicePlan", "serviceplans", true),
	ours("ServiceType", "servicetypes", true),
	ours("ServiceInstance", "serviceinstances", true),
	ours("ServiceBinding", "servicebindings", true),
}

func ours(name, resource string, namespaced bool) kind {
	return kind{v1beta1.GroupVersion.WithKind(name), resource, namespaced}
}

// webhookOf are options as a header has them.
func webhookOf(o *options.Options) Webhook {
	gates := map[string]bool{}
	for gate := range o.Gates.GetAll() {
		if gate != "AllAlpha" && gate != "AllBeta" {
			gates[string(gate)] = o.Gates.Enabled(gate)
		}
	}
	return Webhook{Unresolved: o.Unresolved, SchemaCheck: o.SchemaCheck, Controllers: o.Controllers, FeatureGates: gates}
}

// Options are the options of admission that a header has.
func (h *Header) Options() (*options.Options, error) {
	o := options.New()
	o.Unresolved, o.SchemaCheck = h.Webhook.Unresolved, h.Webhook.SchemaCheck
	if len(h.Webhook.Controllers) > 0 {
		o.Controllers = h.Webhook.Controllers
	}
	if err := o.Gates.SetFromMap(h.Webhook.FeatureGates); err != nil {
		return nil, fmt.Errorf("webhook.featureGates of the header: %w: use the svcat that took the snapshot, or a later one", err)
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("webhook of the header: %w", err)
	}
	return o, nil
}

// withheldNote says that a file lacks the values of parameters.
const withheldNote = "the values of parameters: they are not in the snapshot; svcat snapshot --with-parameters has them"

// appliedNote says that a file lacks what was applied to objects whose values it withholds.
const appliedNote = "which fields an apply takes away from instances, bindings and brokers: what was applied to them before is not in the snapshot"
