package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// ofRetired is an instance as the retired catalog stores it.
func ofRetired(edit func(*v1beta1.ServiceInstance)) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{}
	i.Spec.ExternalID = "in-spec"
	i.Status.ProvisionStatus, i.Status.DeprovisionStatus = v1beta1.Provisioned, v1beta1.DeprovisionRequired
	i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "plan", ParameterChecksum: "theirs"}
	edit(i)
	return i
}

func TestRetiredChecksumIsRecognized(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		edit     func(*v1beta1.ServiceInstance)
		sum      string
		changed  bool
		retired  bool
		checksum string
	}{
		"Same":    {reason: "of the same parameters", edit: func(*v1beta1.ServiceInstance) {}, sum: "theirs", checksum: "ours"},
		"Changed": {reason: "they were changed since", edit: func(*v1beta1.ServiceInstance) {}, sum: "of others", changed: true, retired: true, checksum: "theirs"},
		"None":    {reason: "none then and now", edit: func(i *v1beta1.ServiceInstance) { i.Status.ExternalProperties.ParameterChecksum = "" }, checksum: "ours"},
		"Ours": {
			reason: "a sum of ours is compared as such", sum: "theirs", changed: true, checksum: "theirs",
			edit: func(i *v1beta1.ServiceInstance) { i.Status.ExternalProperties.PlanExternalID = "plan" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource := OfInstance(ofRetired(tc.edit))
			asked := &Desired{Request: Request{ParameterChecksum: "ours"}}
			asked.PlanExternalID = "plan"
			if resource.OfRetired() {
				// As it is stored by a pass that cannot read the parameters.
				stored := ofRetired(tc.edit)
				resource.Record.Applied.ClassExternalID = "found in the catalog"
				stored.Status = resource.Record.InstanceStatus(stored.Status)
				resource = OfInstance(stored)
				assert.True(t, resource.OfRetired(), "what was not recognized is still to be")
				target := v1beta1.BrokerTarget{ClassExternalID: "found in the catalog", PlanExternalID: "plan"}
				assert.Equal(t, target, stored.Status.ExternalProperties.BrokerTarget, "whole: bindings, policies and deletion go by it")
			}
			resource.Recognize(asked, tc.sum)
			assert.Equal(t, tc.retired, resource.OfRetired(), tc.reason)
			assert.Equal(t, tc.changed, resource.Changes(asked).Parameters, tc.reason)
			assert.Equal(t, tc.checksum, resource.Record.InstanceStatus(v1beta1.ServiceInstanceStatus{}).ExternalProperties.ParameterChecksum)
		})
	}
}

// What was asked for under the retired catalog is not asked for again.
func TestRetiredRequestsAreServed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		observed int64
		want     Changes
	}{
		"Observed": {reason: "the retired catalog acted on them", observed: 2},
		"New":      {reason: "it did not see them", observed: 1, want: Changes{Maintenance: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := ofRetired(func(i *v1beta1.ServiceInstance) {
				i.Generation, i.Spec.UpdateRequests, i.Status.ObservedGeneration = 2, 3, tc.observed
			})
			asked := &Desired{Request: Request{ParameterChecksum: "theirs", MaintenanceVersion: "1.0.0", UpdateRequests: 3}}
			asked.PlanExternalID = "plan"
			resource := OfInstance(i)
			assert.Equal(t, tc.want, resource.Changes(asked), tc.reason)
			// A first pass stores what it took over; a later one takes nothing over.
			resource.Record.Applied.ClassExternalID = "class"
			i.Status = resource.Record.InstanceStatus(i.Status)
			i.Spec.UpdateRequests, i.Generation, i.Status.ObservedGeneration, asked.UpdateRequests = 4, 3, 3, 4
			resource = OfInstance(i)
			assert.True(t, resource.Changes(asked).Maintenance, "the user asks now")
		})
	}
}

// An update of the retired catalog whose outcome is not known is recognized as well.
func TestRetiredUpdateIsRecognized(t *testing.T) {
	t.Parallel()
	resource := OfInstance(ofRetired(func(i *v1beta1.ServiceInstance) {
		i.Status.CurrentOperation = v1beta1.InstanceUpdate
		i.Status.InProgressProperties = &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "plan", ParameterChecksum: "theirs, later"}
	}))
	asked := &Desired{Request: Request{ParameterChecksum: "ours"}}
	asked.PlanExternalID = "plan"
	resource.Recognize(asked, "theirs, later")
	assert.Equal(t, "ours", resource.Record.InProgress.ParameterChecksum)
	assert.Equal(t, "theirs", resource.Record.Applied.ParameterChecksum)
}

// The retired catalog stored no ID in status: every call names the one in spec.
func TestRetiredIDIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status v1beta1.ServiceInstanceStatus
		want   string
	}{
		"Provisioned":  {status: v1beta1.ServiceInstanceStatus{ProvisionStatus: v1beta1.Provisioned}, want: "in-spec"},
		"Provisioning": {status: v1beta1.ServiceInstanceStatus{CurrentOperation: v1beta1.InstanceProvision, AsyncOpInProgress: true}, want: "in-spec"},
		"Mitigating":   {status: v1beta1.ServiceInstanceStatus{OrphanMitigationInProgress: true}, want: "in-spec"},
		"Failed":       {status: v1beta1.ServiceInstanceStatus{DeprovisionStatus: v1beta1.DeprovisionFailed}, want: "in-spec"},
		"Other":        {status: v1beta1.ServiceInstanceStatus{CurrentOperation: v1beta1.InstanceUpdate, ExternalID: "in-status"}, want: "in-status"},
		"New":          {want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource := OfInstance(ofRetired(func(i *v1beta1.ServiceInstance) { i.Status = tc.status }))
			assert.Equal(t, tc.want, resource.Record.ID)
		})
	}
	for name, status := range map[string]v1beta1.ServiceBindingStatus{
		"Binding":   {CurrentOperation: v1beta1.BindingBind, AsyncOpInProgress: true},
		"Unbinding": {CurrentOperation: v1beta1.BindingUnbind, AsyncOpInProgress: true, UnbindStatus: v1beta1.UnbindRequired},
		"Bound":     {ExternalProperties: &v1beta1.ServiceBindingPropertiesState{}, UnbindStatus: v1beta1.UnbindRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &v1beta1.ServiceBinding{Status: status}
			b.Spec.ExternalID = "in-spec"
			resource := OfBinding(b)
			assert.Equal(t, "in-spec", resource.Record.ID)
		})
	}
}
