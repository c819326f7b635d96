package plans

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// original is a plan as a broker and a tool left it.
func original() *v1beta1.ClusterServicePlan {
	p := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{
		Name: "guid", UID: "uid", ResourceVersion: "7", Generation: 3,
		OwnerReferences: []metav1.OwnerReference{{Kind: "ClusterServiceBroker", Name: "azure"}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "x"}},
		Labels: map[string]string{
			v1beta1.LabelExternalID: "hash", v1beta1.LabelClusterServiceClassRefName: "hash", v1beta1.LabelAttributePrefix + "Cores": "4",
			"tier": "dev", "app.kubernetes.io/managed-by": "Helm", "argocd.argoproj.io/instance": "x",
		},
		Annotations: map[string]string{
			v1beta1.AnnotationDefaultPlan: "true", v1beta1.AnnotationSuggestedPlan: "true", v1beta1.AnnotationCatalogHash: "x", v1beta1.AnnotationManaged: "false",
			v1beta1.AnnotationClassName:                "azure-mysql",
			v1beta1.AnnotationAttributePrefix + "Note": "a b", "kubectl.kubernetes.io/last-applied-configuration": "{}", "meta.helm.sh/release-name": "x",
		},
	}}
	p.Spec.ExternalName, p.Spec.ExternalID, p.Spec.ServiceType, p.Spec.Weight = "small", "id", "mysql", 5
	p.Spec.ClusterServiceBrokerName, p.Spec.ClusterServiceClassRef.Name = "azure", "class"
	p.Spec.DefaultProvisionParameters = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}
	p.Status.RemovedFromBrokerCatalog = true
	return p
}

func TestCopyPlan(t *testing.T) {
	t.Parallel()
	from, _ := catalog.PlanOf(original())
	target := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
	target.Spec.ExternalName = "my-mysql"
	mine, _ := catalog.ClassOf(target)
	meta := metav1.ObjectMeta{
		Name:        "tiny",
		Labels:      map[string]string{v1beta1.LabelAttributePrefix + "Cores": "4", "tier": "dev"},
		Annotations: map[string]string{v1beta1.AnnotationAttributePrefix + "Note": "a b", v1beta1.AnnotationClassName: "my-mysql"},
	}
	common := v1beta1.CommonServicePlanSpec{ExternalName: "tiny", ExternalID: "id", ServiceType: "mysql", Weight: 5}
	common.DefaultProvisionParameters = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}

	inCluster := &v1beta1.ClusterServicePlan{ObjectMeta: meta}
	inCluster.Spec = v1beta1.ClusterServicePlanSpec{CommonServicePlanSpec: common, ClusterServiceBrokerName: "azure", ClusterServiceClassRef: v1beta1.ClusterObjectReference{Name: "mine"}}
	assert.Equal(t, inCluster, copyPlan(from, naming{"", "tiny", "tiny", mine}).Object)

	meta.Namespace = "dev"
	inNamespace := &v1beta1.ServicePlan{ObjectMeta: meta}
	inNamespace.Spec = v1beta1.ServicePlanSpec{CommonServicePlanSpec: common, ClusterServiceBrokerName: "azure", ServiceClassRef: v1beta1.LocalObjectReference{Name: "mine"}}
	copied := copyPlan(from, naming{"dev", "tiny", "tiny", mine})
	assert.Equal(t, inNamespace, copied.Object)
	assert.Equal(t, original(), from.Object, "the original is as it was")

	// Within the namespace the broker stays the cluster's.
	again := copyPlan(copied, naming{"dev", "other", "other", mine})
	assert.True(t, again.ClusterBroker)
	assert.Equal(t, "azure", again.Broker)
}

// The original's tag says of which type the original is.
func TestAgreeing(t *testing.T) {
	t.Parallel()
	tags := []string{"ServiceType=mysql", "relational", "Region=eu"}
	assert.Equal(t, []string{"relational", "Region=eu"}, agreeing(tags, "mariadb"))
	assert.Equal(t, tags, agreeing(tags, "mysql"))
	assert.Equal(t, tags, agreeing(tags, ""), "without a type nothing contradicts it")
	assert.Len(t, tags, 3)
	assert.Equal(t, []string{"ServiceType = MySQL"}, agreeing([]string{"ServiceType = MySQL"}, "mysql"), "as a relist reads it")
	assert.Nil(t, agreeing(nil, "mysql"))
}

func TestCopyPlansNames(t *testing.T) {
	t.Parallel()
	var plans []catalog.Plan
	for _, name := range []string{"Small Plan", "small-plan", "SMALL.plan", "größe", "---", ""} {
		p := original()
		p.Spec.ExternalName = name
		plan, _ := catalog.PlanOf(p)
		plans = append(plans, plan)
	}
	plans[1].Spec.ServiceType = "redis"
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}
	class.Spec.ServiceType = "mysql"
	from, _ := catalog.ClassOf(class)
	var names, types, classes []string
	for _, copied := range copyPlans(plans, from, copyClass(from, "", "mine"), true) {
		names = append(names, copied.Object.GetName())
		types = append(types, copied.Spec.ServiceType)
		classes = append(classes, copied.Object.GetAnnotations()[v1beta1.AnnotationClassName])
	}
	assert.Equal(t, []string{"mine-small-plan", "mine-small-plan-2", "mine-small-plan-3", "mine-gr--e", "mine-plan", "mine-guid"}, names)
	assert.Equal(t, []string{"", "redis", "", "", "", ""}, types, "a type of its own stays")
	assert.Equal(t, slices.Repeat([]string{"mine"}, 6), classes, "the name of the copied class, for the column CLASS")
	assert.Equal(t, "mysql", copyPlans(plans, from, from, false)[0].Spec.ServiceType)
}

func TestUnlawful(t *testing.T) {
	t.Parallel()
	for name, lawful := range map[string]bool{"mysql-dev": true, "a.b": true, "MySQL": false, "a_b": false, "-a": false, "a/b": false, "": false} {
		assert.Equal(t, lawful, unlawful(name) == "", name)
	}
	assert.NotEmpty(t, unlawful("a123456789012345678901234567890123456789012345678901234567890123"), "64 characters")
}

func TestAlike(t *testing.T) {
	t.Parallel()
	plan := func(edit func(*v1beta1.ClusterServicePlan)) *v1beta1.ClusterServicePlan {
		p := original()
		p.OwnerReferences = nil
		edit(p)
		return p
	}
	wanted := plan(func(p *v1beta1.ClusterServicePlan) {
		p.Spec.DefaultProvisionParameters.Raw = []byte(`{"b": 1, "a": 9007199254740993}`)
	})
	for name, tc := range map[string]struct {
		reason string
		stored *v1beta1.ClusterServicePlan
		want   bool
	}{
		"Same": {"The order of keys is none.", plan(func(p *v1beta1.ClusterServicePlan) {
			p.Spec.DefaultProvisionParameters.Raw = []byte(`{"a":9007199254740993,"b":1}`)
		}), true},
		"Digit": {"One digit is a difference.", plan(func(p *v1beta1.ClusterServicePlan) {
			p.Spec.DefaultProvisionParameters.Raw = []byte(`{"a":9007199254740992,"b":1}`)
		}), false},
		"Owned": {"A broker's is not ours.", original(), false},
		"Leaving": {"One that goes is not there.", plan(func(p *v1beta1.ClusterServicePlan) {
			p.Spec = wanted.Spec
			p.DeletionTimestamp = new(metav1.Now())
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, alike(tc.stored, wanted), tc.reason)
		})
	}
}
