package simulation

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A side is a cluster now or then.
type side struct {
	*offline.Cluster
	offers

	instances map[client.ObjectKey]*v1beta1.ServiceInstance
	bindings  map[client.ObjectKey]*v1beta1.ServiceBinding
	policies  []v1beta1.ProvisioningPolicy
	rules     []policy.Rule
	// granted is how many slots of instances the policies have granted.
	granted map[limitKey]int
	// own are the namespaces with classes, plans or types of their own.
	own map[string]bool
	// spaces are the namespaces that exist or have objects, and their labels.
	spaces map[string]map[string]string
}

func newSide(cluster *offline.Cluster) *side {
	return &side{
		Cluster: cluster,
		offers: offers{
			classes: map[resolve.Ref]*resolve.ClassEntry{}, plans: map[resolve.Ref]*resolve.PlanEntry{},
			alike: map[string][]*resolve.PlanEntry{},
		},
		instances: map[client.ObjectKey]*v1beta1.ServiceInstance{}, bindings: map[client.ObjectKey]*v1beta1.ServiceBinding{},
		spaces: map[string]map[string]string{}, own: map[string]bool{}, granted: map[limitKey]int{},
	}
}

// withoutSchemas is the cluster with a webhook that holds no schema against parameters.
func (s *side) withoutSchemas(of *options.Options) *offline.Cluster {
	return s.CloneWith(withoutSchemas(of))
}

// withoutSchemas are options of a webhook that holds no schema against parameters.
func withoutSchemas(of *options.Options) *options.Options {
	changed := *of
	changed.SchemaCheck = options.SchemaOff
	return &changed
}

// place is a namespace as policies see it.
func (s *side) place(namespace string) policy.Place {
	labels, known := s.spaces[namespace]
	if !known {
		labels = map[string]string{corev1.LabelMetadataName: namespace}
	}
	return policy.Place{Namespace: namespace, Labels: labels}
}

// planEntries are the entries of plans that were read. Clusters of which one is a clone hold the same
// object of a plan until one of them writes it, and its entry is made once.
type planEntries map[v1beta1.PlanObject]*resolve.PlanEntry

func (e planEntries) entryOf(plan v1beta1.PlanObject) *resolve.PlanEntry {
	if e[plan] == nil {
		entry := resolve.PlanFrom(plan)
		e[plan] = &entry
	}
	return e[plan]
}

// read reads what comparisons ask for often. Nothing of it may be changed.
func (s *side) read(plans planEntries) {
	for _, kind := range []string{
		"ClusterServiceClass", "ServiceClass", "ClusterServicePlan", "ServicePlan", "ServiceType", kindInstance, kindBinding, policy.KindProvisioning,
	} {
		for object := range s.Each(v1beta1.GroupVersion.WithKind(kind)) {
			s.take(object, plans)
			s.inhabit(object.GetNamespace())
		}
	}
	delete(s.spaces, "") // the cluster
	s.rules = rulesOf(s.policies)
	for namespace := range s.Each(corev1.SchemeGroupVersion.WithKind("Namespace")) {
		s.spaces[namespace.GetName()] = namespace.GetLabels()
	}
}

func (s *side) take(object client.Object, plans planEntries) {
	switch o := object.(type) {
	case *v1beta1.ServiceType:
		s.own[o.Namespace] = true
	case v1beta1.ClassObject:
		s.own[o.GetNamespace()] = true
		entry := resolve.ClassFrom(o)
		s.classes[entry.Ref] = &entry
	case v1beta1.PlanObject:
		s.own[o.GetNamespace()] = true
		entry := plans.entryOf(o)
		s.plans[entry.Ref] = entry
		s.alike[entry.ExternalID] = append(s.alike[entry.ExternalID], entry)
	case *v1beta1.ServiceInstance:
		s.instances[client.ObjectKeyFromObject(o)] = o
	case *v1beta1.ServiceBinding:
		s.bindings[client.ObjectKeyFromObject(o)] = o
	case *v1beta1.ProvisioningPolicy:
		s.policies = append(s.policies, *o)
		for i := range o.Status.Slots {
			s.granted[limitKey{o.Name, o.Status.Slots[i].Namespace, quota.Instances}] = len(o.Status.Slots[i].Instances)
		}
	}
}

// inhabit takes in where an object is.
func (s *side) inhabit(namespace string) {
	if _, known := s.spaces[namespace]; !known {
		s.spaces[namespace] = map[string]string{corev1.LabelMetadataName: namespace}
	}
}
