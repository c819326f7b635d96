package describe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

func TestAdopted(t *testing.T) {
	t.Parallel()
	marks := func(keys ...string) map[string]string {
		set := map[string]string{}
		for _, key := range keys {
			set[key] = "true"
		}
		return set
	}
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		provision   v1beta1.ProvisionStatus
		deprovision v1beta1.DeprovisionStatus
		want        string
	}{
		"Minted":    {reason: "what it has, it made", annotations: map[string]string{v1beta1.AnnotationMintedExternalID: "e-1"}, provision: v1beta1.Provisioned},
		"OwnID":     {reason: "made under an ID of the user's", provision: v1beta1.Provisioned, deprovision: v1beta1.DeprovisionRequired},
		"NotYet":    {reason: "it is looked for", annotations: marks(v1beta1.AnnotationAdopt), want: "not yet; nothing is made"},
		"Undecided": {reason: "it is unknown whether it exists"},
		"Adopted":   {reason: "it was there", provision: v1beta1.Provisioned, deprovision: v1beta1.DeprovisionNotRequired, want: "yes, its deletion leaves it at the broker"},
		"Removed":   {reason: "its user says so", annotations: marks(v1beta1.AnnotationDeprovisionAdopted), provision: v1beta1.Provisioned, want: "yes, and its deletion removes it at the broker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			instance.Spec.ExternalID = "e-1"
			instance.Status.ProvisionStatus, instance.Status.DeprovisionStatus = tc.provision, tc.deprovision
			assert.Equal(t, tc.want, adoptions[catalog.OfInstance(instance)], tc.reason)
			binding := &v1beta1.ServiceBinding{ObjectMeta: instance.ObjectMeta}
			binding.Spec.ExternalID = "e-1"
			if tc.provision == v1beta1.Provisioned {
				binding.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{}
			}
			binding.Status.UnbindStatus = v1beta1.UnbindStatus(tc.deprovision)
			assert.Equal(t, tc.want, adoptions[catalog.OfBinding(binding)], tc.reason)
		})
	}
}

func TestOwnershipOfAnOwn(t *testing.T) {
	t.Parallel()
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: "shop-db", UID: "u-1"}}
	own := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(binding, v1beta1.GroupVersion.WithKind("ServiceBinding"))},
	}}
	var head printer.Pairs
	addOwnership(&head, own)
	assert.Equal(t, 1, head.Len(), "whose own it is")
}
