package relist

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	owner := func(kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: kind, Name: name, UID: "an older one's", Controller: new(true)}}
	}
	plan := func(change func(*api.ServicePlan)) *found {
		p := &api.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}}
		change(p)
		return see(p)
	}
	cases := map[string]struct {
		reason string
		live   *found
		want   ownership
	}{
		"Absent":    {"It is made.", nil, ownership{}},
		"Partial":   {"A chart's is completed.", plan(func(p *api.ServicePlan) { p.Spec.ExternalID = "S" }), ownership{}},
		"Legacy":    {"The retired catalog's has no owner, and names the broker.", plan(func(p *api.ServicePlan) { p.Spec.ServiceBrokerName = "b" }), ownership{}},
		"Ours":      {"Ours is ours.", plan(func(p *api.ServicePlan) { p.OwnerReferences = owner("ServiceBroker", "b") }), ownership{}},
		"Unmanaged": {"Not against a person's will.", plan(func(p *api.ServicePlan) { p.Annotations = map[string]string{api.AnnotationManaged: "false"} }), ownership{leave: true}},
		"Managed":   {"Any other word is none.", plan(func(p *api.ServicePlan) { p.Annotations = map[string]string{api.AnnotationManaged: "true"} }), ownership{}},
		"Another":   {"Another broker's is not.", plan(func(p *api.ServicePlan) { p.OwnerReferences = owner("ServiceBroker", "c") }), ownership{skip: `ServicePlan "s" belongs to ServiceBroker c; to have both, give the broker a nameSuffix`}},
		"NamesOne":  {"Nor one that names another.", plan(func(p *api.ServicePlan) { p.Spec.ServiceBrokerName = "c" }), ownership{skip: `ServicePlan "s" belongs to ServiceBroker c; to have both, give the broker a nameSuffix`}},
		"Copied":    {"Nor a copy of a cluster's.", plan(func(p *api.ServicePlan) { p.Spec.ClusterServiceBrokerName = "b" }), ownership{skip: `ServicePlan "s" belongs to ClusterServiceBroker b; to have both, give the broker a nameSuffix`}},
		"OtherID":   {"An ID never changes.", plan(func(p *api.ServicePlan) { p.Spec.ExternalID = "x" }), ownership{skip: `ServicePlan "s" stands for another ID, "x"; give the broker a nameSuffix`}},
		"OtherClass": {"Nor does a class.", plan(func(p *api.ServicePlan) {
			p.OwnerReferences, p.Spec.ServiceClassRef.Name = owner("ServiceBroker", "b"), "x"
		}), ownership{moved: true, skip: `ServicePlan "s" belongs to class "x"; it is made again once that is gone`}},
		"OtherClassWritten": {"What an operator wrote in is not swept.", plan(func(p *api.ServicePlan) {
			p.OwnerReferences, p.Spec.ServiceClassRef.Name = owner("ServiceBroker", "b"), "x"
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-edit"}}
		}), ownership{moved: true, skip: `ServicePlan "s" belongs to class "x"; others wrote in it, so that it stays; the relist after it was deleted by hand makes it again`}},
		"OtherClassOfOperator": {"Who is not the owner does not remove it.", plan(func(p *api.ServicePlan) { p.Spec.ServiceClassRef.Name = "x" }), ownership{skip: `ServicePlan "s" belongs to class "x"; it is made again once that is gone`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := &Broker{Namespace: "n", Name: "b", UID: "u"}
			assert.Equal(t, tc.want, ownershipOf(broker, tc.live, &Object{Kind: ServicePlan, Namespace: "n", Name: "s", ExternalID: "S", Class: "c"}), tc.reason)
		})
	}
}
