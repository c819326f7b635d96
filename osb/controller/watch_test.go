package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What tells how an operation is going brings no pass over the bindings of an instance.
func TestReadByBindings(t *testing.T) {
	t.Parallel()
	ofClaim := func(i *v1beta1.ServiceInstance) {
		i.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Controller: new(true)}}
	}
	for name, tc := range map[string]struct {
		reason string
		was    func(*v1beta1.ServiceInstance)
		edit   func(*v1beta1.ServiceInstance)
		want   bool
	}{
		"Nothing":     {reason: "a resync", edit: func(*v1beta1.ServiceInstance) {}},
		"Progress":    {reason: "a poll", edit: func(i *v1beta1.ServiceInstance) { i.Status.LastOperation, i.Status.LastConditionState = new("op"), "x" }},
		"Condition":   {reason: "they read what it is of, and not what it says", edit: func(i *v1beta1.ServiceInstance) { i.Status.Conditions = []v1beta1.Condition{{Type: "Ready"}} }},
		"Labels":      {reason: "only policies read them", edit: func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"a": "b"} }},
		"Spec":        {reason: "it may be of another plan, or shared no more", edit: func(i *v1beta1.ServiceInstance) { i.Generation++ }, want: true},
		"Annotations": {reason: "brokers are told of some", edit: func(i *v1beta1.ServiceInstance) { i.Annotations = map[string]string{"a": "b"} }, want: true},
		"Deleted":     {reason: "nothing can be bound to it", edit: func(i *v1beta1.ServiceInstance) { i.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, want: true},
		"Provisioned": {reason: "they waited for it", edit: func(i *v1beta1.ServiceInstance) { i.Status.ProvisionStatus = v1beta1.Provisioned }, want: true},
		"Operation":   {reason: "they wait while it is changed", edit: func(i *v1beta1.ServiceInstance) { i.Status.CurrentOperation = v1beta1.InstanceUpdate }, want: true},
		"Unusable":    {reason: "they wait for its repair", edit: func(i *v1beta1.ServiceInstance) { i.Status.Unusable = true }, want: true},
		"ID":          {reason: "they are bound by it", edit: func(i *v1beta1.ServiceInstance) { i.Status.ExternalID = "e" }, want: true},
		"Handler":     {reason: "they are for the same controller", edit: func(i *v1beta1.ServiceInstance) { i.Status.ControllerName = "east" }, want: true},
		"Plan": {reason: "they are bound by what it has", edit: func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "p"}
		}, want: true},
		"Claim":    {reason: "its binding tells what it does", edit: ofClaim, want: true},
		"Orphaned": {reason: "others may bind to it now", was: ofClaim, edit: func(i *v1beta1.ServiceInstance) { i.OwnerReferences = nil }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := &v1beta1.ServiceInstance{}
			if tc.was != nil {
				tc.was(before)
			}
			now := before.DeepCopy()
			tc.edit(now)
			assert.Equal(t, tc.want, readByBindings().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}), tc.reason)
		})
	}
	assert.True(t, readByBindings().Create(event.CreateEvent{}))
	assert.True(t, readByBindings().Delete(event.DeleteEvent{}))
}
