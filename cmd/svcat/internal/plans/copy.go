package plans

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// What a copy does not take over: it begins with one of these. Admission computes the
// hashed labels; the other labels and annotations tell who made the original and keeps
// it, who would then think that the copy is theirs.
var (
	ownLabels = []string{
		v1beta1.GroupName + "/spec.", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "helm.sh/", "helm.toolkit.fluxcd.io/",
		"kustomize.toolkit.fluxcd.io/", "argocd.argoproj.io/",
	}
	ownAnnotations = []string{
		v1beta1.AnnotationDefaultPlan, v1beta1.AnnotationSuggestedPlan, v1beta1.AnnotationCatalogHash, v1beta1.AnnotationClassName,
		v1beta1.AnnotationManaged,
		"kubectl.kubernetes.io/", "meta.helm.sh/", "helm.sh/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "config.kubernetes.io/",
	}
)

// copiedMeta is the metadata of a copy: no owner, nothing of who made the original.
func copiedMeta(from client.Object, namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Labels: without(from.GetLabels(), ownLabels), Annotations: without(from.GetAnnotations(), ownAnnotations),
	}
}

func without(words map[string]string, prefixes []string) map[string]string {
	kept := map[string]string{}
	for key, value := range words {
		drop := false
		for _, prefix := range prefixes {
			drop = drop || strings.HasPrefix(key, prefix)
		}
		if !drop {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// copyClass is a class of the user's own with the spec of another, called name, in a
// namespace or, with none, in the cluster. Its external ID is the original's: it is
// what the broker is sent.
func copyClass(from catalog.Class, namespace, name string) catalog.Class {
	meta, spec := copiedMeta(from.Object, namespace, name), *from.Spec.DeepCopy()
	spec.ExternalName = name
	own, cluster := brokersOf(from.Broker, from.ClusterBroker)
	class, _ := catalog.ClassOf(v1beta1.PerScope[client.Object](namespace,
		&v1beta1.ClusterServiceClass{ObjectMeta: meta, Spec: v1beta1.ClusterServiceClassSpec{CommonServiceClassSpec: spec, ClusterServiceBrokerName: from.Broker}},
		&v1beta1.ServiceClass{ObjectMeta: meta, Spec: v1beta1.ServiceClassSpec{CommonServiceClassSpec: spec, ServiceBrokerName: own, ClusterServiceBrokerName: cluster}},
	))
	return class
}

// agreeing are a class's tags without the broker's word for another type.
func agreeing(tags []string, serviceType string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool {
		name, named, _ := strings.Cut(tag, "=")
		return strings.TrimSpace(name) == "ServiceType" && serviceType != "" && strings.ToLower(strings.TrimSpace(named)) != serviceType
	})
}

// A naming is what a copied plan is called, and of which class it is.
type naming struct {
	namespace, name, externalName string

	class catalog.Class
}

// copyPlan is as copyClass.
func copyPlan(from catalog.Plan, as naming) catalog.Plan {
	meta, spec := copiedMeta(from.Object, as.namespace, as.name), *from.Spec.DeepCopy()
	spec.ExternalName = as.externalName
	metav1.SetMetaDataAnnotation(&meta, v1beta1.AnnotationClassName, as.class.Title())
	class := as.class.Object.GetName()
	own, cluster := brokersOf(from.Broker, from.ClusterBroker)
	plan, _ := catalog.PlanOf(v1beta1.PerScope[client.Object](as.namespace,
		&v1beta1.ClusterServicePlan{ObjectMeta: meta, Spec: v1beta1.ClusterServicePlanSpec{
			CommonServicePlanSpec: spec, ClusterServiceBrokerName: from.Broker, ClusterServiceClassRef: v1beta1.ClusterObjectReference{Name: class},
		}},
		&v1beta1.ServicePlan{ObjectMeta: meta, Spec: v1beta1.ServicePlanSpec{
			CommonServicePlanSpec: spec, ServiceBrokerName: own, ClusterServiceBrokerName: cluster, ServiceClassRef: v1beta1.LocalObjectReference{Name: class},
		}},
	))
	return plan
}

// brokersOf are the two fields of an object within a namespace that name its broker.
func brokersOf(broker string, ofCluster bool) (own, cluster string) {
	if ofCluster {
		return "", broker
	}
	return broker, ""
}

// copyPlans copies the plans of a class to its copy. Their external names stay, which
// tell plans of one class apart; their Kubernetes names are CLASS-PLAN, and with a
// number where two would be called alike. With retyped, plans that have the type of
// the original class have that of the copy.
func copyPlans(plans []catalog.Plan, from, to catalog.Class, retyped bool) []catalog.Plan {
	var copies []catalog.Plan
	taken := map[string]bool{}
	for _, plan := range plans {
		as := naming{to.Object.GetNamespace(), unique(to.Object.GetName()+"-"+kubeName(plan.Title()), taken), plan.Title(), to}
		copied := copyPlan(plan, as)
		if retyped && copied.Spec.ServiceType == from.Spec.ServiceType {
			copied.Spec.ServiceType = ""
		}
		copies = append(copies, copied)
	}
	return copies
}

// unique is a name that is not taken yet, which it is then.
func unique(name string, taken map[string]bool) string {
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	taken[free] = true
	return free
}

// kubeName is an external name with what a Kubernetes name may have.
func kubeName(externalName string) string {
	lawful := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(externalName))
	if lawful = strings.Trim(lawful, "-"); lawful == "" {
		return "plan"
	}
	return lawful
}

// unlawful says why a copy cannot have that name, which is both its Kubernetes and
// its external name; empty if it can.
func unlawful(name string) string {
	if len(name) > validation.DNS1123LabelMaxLength {
		return fmt.Sprintf("it has more than %d characters", validation.DNS1123LabelMaxLength)
	}
	return strings.Join(validation.IsDNS1123Subdomain(name), "; ")
}
