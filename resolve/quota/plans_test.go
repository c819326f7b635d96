package quota_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// shop is a catalog of the cluster's plans small and large, and of tiny in namespace dev;
// elsewhere is there only for its ID.
type shop struct{ err error }

func (s shop) Plan(ref resolve.Ref) (quota.Offer, bool, error) {
	known := map[resolve.Ref]bool{{Name: "small"}: true, {Name: "large"}: true, {Namespace: "dev", Name: "tiny"}: true}
	return offer(ref.Namespace, ref.Name), known[ref], s.err
}

func (s shop) WithID(sent quota.IDs) ([]quota.Offer, error) {
	switch sent.Plan {
	case "large-id":
		other := offer(sent.Namespace, "foreign")
		other.IDs = quota.IDs{Class: "other", Plan: sent.Plan}
		return []quota.Offer{other, offer(sent.Namespace, "large")}, s.err
	case "tiny-id":
		return []quota.Offer{offer(sent.Namespace, "tiny")}, s.err
	}
	return nil, s.err
}

func offer(namespace, name string) quota.Offer {
	ids := quota.IDs{Class: "db", Plan: name + "-id", Namespace: namespace, Broker: resolve.Ref{Name: "acme"}}
	return quota.Offer{Target: policy.Target{Plan: policy.Names{Kubernetes: name}}, IDs: ids}
}

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), object))
	return object
}

// sent is the record of a plan of the cluster that was sent.
func sent(plan string) string {
	return "{clusterServicePlanExternalName: x, clusterServicePlanExternalID: " + plan + "-id, classExternalID: db}"
}

const asksSmall = "{metadata: {namespace: dev}, spec: {clusterServicePlanRef: {name: small}}, status: {"

func TestPlansOfAnInstance(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, instance string
		want             map[string]quota.Stage
		opaque, unsure   bool
	}{
		"Undecided":  {reason: "it asks for none yet", instance: "{metadata: {namespace: dev}}", want: map[string]quota.Stage{}},
		"New":        {reason: "nothing was sent", instance: asksSmall + "}}", want: map[string]quota.Stage{"small": quota.Asked}},
		"Namespaced": {reason: "of its namespace", instance: "{metadata: {namespace: dev}, spec: {servicePlanRef: {name: tiny}}}", want: map[string]quota.Stage{"tiny": quota.Asked}},
		"Intended": {
			reason:   "the call may have been made",
			instance: asksSmall + "currentOperation: Provision, deprovisionStatus: Required, inProgressProperties: " + sent("small") + "}}",
			want:     map[string]quota.Stage{"small": quota.Doubtful}, unsure: true,
		},
		"Async": {
			reason:   "the broker took it on",
			instance: asksSmall + "currentOperation: Provision, asyncOpInProgress: true, inProgressProperties: " + sent("small") + "}}",
			want:     map[string]quota.Stage{"small": quota.Standing}, unsure: true,
		},
		"Mitigated": {
			reason:   "it is unknown whether it exists",
			instance: asksSmall + "currentOperation: Deprovision, orphanMitigationInProgress: true, asyncOpInProgress: true, inProgressProperties: " + sent("small") + "}}",
			want:     map[string]quota.Stage{"small": quota.Doubtful}, unsure: true,
		},
		"Provisioned": {reason: "it is there", instance: asksSmall + "provisionStatus: Provisioned, deprovisionStatus: Required, externalProperties: " + sent("small") + "}}", want: map[string]quota.Stage{"small": quota.Standing}},
		"Changed":     {reason: "to another that it does not have yet", instance: asksSmall + "provisionStatus: Provisioned, externalProperties: " + sent("large") + "}}", want: map[string]quota.Stage{"small": quota.Asked, "large": quota.Standing}},
		"Changing": {
			reason:   "it may have either",
			instance: asksSmall + "provisionStatus: Provisioned, currentOperation: Update, inProgressProperties: " + sent("small") + ", externalProperties: " + sent("large") + "}}",
			want:     map[string]quota.Stage{"small": quota.Doubtful, "large": quota.Standing}, unsure: true,
		},
		"Local": {
			reason:   "the plan that it had was the namespace's own",
			instance: asksSmall + "provisionStatus: Provisioned, externalProperties: {servicePlanExternalID: tiny-id, servicePlanExternalName: x}}}",
			want:     map[string]quota.Stage{"small": quota.Asked, "tiny": quota.Standing},
		},
		"Unrecorded": {reason: "an old status does not say of which plan", instance: asksSmall + "provisionStatus: Provisioned}}", want: map[string]quota.Stage{"small": quota.Standing}},
		"Owed":       {reason: "something may be there", instance: asksSmall + "deprovisionStatus: Failed}}", want: map[string]quota.Stage{"small": quota.Doubtful}},
		"PlanIsGone": {reason: "its name is all that is known", instance: "{spec: {clusterServicePlanRef: {name: gone}}}", want: map[string]quota.Stage{"gone": quota.Asked}, opaque: true},
		"OfItsBroker": {
			reason:   "the record says of which broker it is",
			instance: asksSmall + "provisionStatus: Provisioned, externalProperties: {clusterServicePlanExternalID: large-id, classExternalID: db, clusterServiceBrokerName: acme}}}",
			want:     map[string]quota.Stage{"small": quota.Asked, "large": quota.Standing},
		},
		"Forged": {
			reason:   "a plan with the same name and IDs, of another broker, is not what it has",
			instance: "{metadata: {namespace: dev}, spec: {servicePlanRef: {name: tiny}}, status: {provisionStatus: Provisioned, externalProperties: {servicePlanExternalID: tiny-id, classExternalID: db, clusterServiceBrokerName: operators}}}",
			want:     map[string]quota.Stage{"tiny": quota.Asked}, opaque: true,
		},
		"ForgedByOwnBroker": {
			reason:   "a broker of the namespace is not the cluster's of that name",
			instance: "{metadata: {namespace: dev}, spec: {servicePlanRef: {name: tiny}}, status: {provisionStatus: Provisioned, externalProperties: {servicePlanExternalID: tiny-id, classExternalID: db, serviceBrokerName: acme}}}",
			want:     map[string]quota.Stage{"tiny": quota.Asked}, opaque: true,
		},
		"OtherIsGone": {reason: "it is unknown what it has", instance: asksSmall + "provisionStatus: Provisioned, externalProperties: " + sent("gone") + "}}", want: map[string]quota.Stage{"small": quota.Asked}, opaque: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := read[v1beta1.ServiceInstance](t, tc.instance)
			uses, opaque, err := quota.Look(quota.OfInstance(instance), shop{})
			require.NoError(t, err)
			assert.Equal(t, tc.want, stagesOf(uses), tc.reason)
			assert.Equal(t, tc.opaque, opaque, tc.reason)
			assert.Equal(t, tc.unsure, quota.Unsure(instance), tc.reason)
		})
	}
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	small, large := quota.IDs{Class: "db", Plan: "small-id"}, quota.IDs{Class: "db", Plan: "large-id"}
	cases := map[string]struct {
		reason, status string
		want           []quota.IDs
		unknown        bool
	}{
		"New":           {reason: "nothing was sent", status: ""},
		"Provisioned":   {reason: "what it has", status: "provisionStatus: Provisioned, externalProperties: " + sent("small"), want: []quota.IDs{small}},
		"Provisioning":  {reason: "what it is given", status: "currentOperation: Provision, asyncOpInProgress: true, inProgressProperties: " + sent("large"), want: []quota.IDs{large}},
		"Updating":      {reason: "it may have either", status: "provisionStatus: Provisioned, currentOperation: Update, externalProperties: " + sent("small") + ", inProgressProperties: " + sent("large"), want: []quota.IDs{small, large}},
		"UpdatingSame":  {reason: "its parameters change", status: "currentOperation: Update, externalProperties: " + sent("small") + ", inProgressProperties: " + sent("small"), want: []quota.IDs{small}},
		"Mitigating":    {reason: "it may be there", status: "currentOperation: Deprovision, orphanMitigationInProgress: true, inProgressProperties: " + sent("small"), want: []quota.IDs{small}},
		"Unsaid":        {reason: "it is given something", status: "currentOperation: Provision", unknown: true},
		"UnsaidUpdate":  {reason: "a record without the plan", status: "currentOperation: Update, externalProperties: " + sent("small") + ", inProgressProperties: {classExternalID: db}", want: []quota.IDs{small}, unknown: true},
		"Deprovisioned": {reason: "nothing is given", status: "currentOperation: Deprovision"},
		"Old":           {reason: "it has what it asks for", status: "provisionStatus: Provisioned, externalProperties: {classExternalID: db}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := quota.Recorded(read[v1beta1.ServiceInstance](t, asksSmall+tc.status+"}}"))
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Equal(t, tc.unknown, !known, tc.reason)
		})
	}
}

func stagesOf(uses []quota.Use) map[string]quota.Stage {
	stages := map[string]quota.Stage{}
	for _, use := range uses {
		name := use.Target.Plan.Kubernetes
		stages[name] = max(stages[name], use.Stage)
	}
	return stages
}

func TestPlansOfABinding(t *testing.T) {
	t.Parallel()
	instance := asksSmall + "provisionStatus: Provisioned, externalProperties: " + sent("large") + "}}"
	cases := map[string]struct {
		reason, binding string
		alone           bool
		want            map[string]quota.Stage
	}{
		"New":       {reason: "both plans of its instance", binding: "{}", want: map[string]quota.Stage{"small": quota.Asked, "large": quota.Asked}},
		"Intended":  {reason: "the call may have been made", binding: "{status: {currentOperation: Bind, inProgressProperties: {}}}", want: map[string]quota.Stage{"small": quota.Doubtful, "large": quota.Doubtful}},
		"Async":     {reason: "the broker took it on", binding: "{status: {currentOperation: Bind, asyncOpInProgress: true, inProgressProperties: {}}}", want: map[string]quota.Stage{"small": quota.Standing, "large": quota.Standing}},
		"Bound":     {reason: "it is there", binding: "{status: {externalProperties: {}, unbindStatus: Required}}", want: map[string]quota.Stage{"small": quota.Standing, "large": quota.Standing}},
		"Owed":      {reason: "something may be there", binding: "{status: {unbindStatus: Required}}", want: map[string]quota.Stage{"small": quota.Doubtful, "large": quota.Doubtful}},
		"Alone":     {reason: "a demand's instance is yet to come", binding: "{spec: {clusterServicePlanRef: {name: small}}}", alone: true, want: map[string]quota.Stage{"small": quota.Asked}},
		"Shared":    {reason: "a name in the namespace of its instance", binding: "{metadata: {namespace: app}, spec: {instanceRef: {namespace: dev, name: db}, servicePlanRef: {name: tiny}}}", alone: true, want: map[string]quota.Stage{"tiny": quota.Asked}},
		"Undecided": {reason: "its plan is not known yet", binding: "{}", alone: true, want: map[string]quota.Stage{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := read[v1beta1.ServiceInstance](t, instance)
			if tc.alone {
				to = nil
			}
			uses, opaque, err := quota.Look(quota.OfBinding(read[v1beta1.ServiceBinding](t, tc.binding), to), shop{})
			require.NoError(t, err)
			assert.False(t, opaque, "all of them are there")
			assert.Equal(t, tc.want, stagesOf(uses), tc.reason)
		})
	}
}

func TestLookFails(t *testing.T) {
	t.Parallel()
	wrong := errors.New("no answer")
	for _, text := range []string{asksSmall + "}}", "{status: {provisionStatus: Provisioned, externalProperties: " + sent("large") + "}}"} {
		_, _, err := quota.Look(quota.OfInstance(read[v1beta1.ServiceInstance](t, text)), shop{wrong})
		require.ErrorIs(t, err, wrong)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	text := `{items: [
{metadata: {name: z}, spec: {action: Limit, maxInstances: 1, maxBindings: 2, message: ask Ann, subjects: [{planName: small}]}, status: {slots: [{namespace: dev, instances: [a], bindings: [b]}, {namespace: qa, instances: [q]}]}},
{metadata: {name: few}, spec: {action: Allow, maxInstances: 5, namespaces: {names: [dev]}, subjects: [{planName: small}]}, status: {slots: [{namespace: dev, instances: [a, c]}]}},
{metadata: {name: broken}, spec: {action: Limit, maxInstances: 0, namespaces: {}, subjects: [{planName: small}]}},
{metadata: {name: none}, spec: {action: Deny, subjects: [{planName: small}]}}]}`
	all := quota.Grantings(read[v1beta1.ProvisioningPolicyList](t, text).Items)
	require.Len(t, all, 2, "those with limits that can be read")
	small, dev := []quota.Use{{Target: offer("", "small").Target, Stage: quota.Asked}}, policy.Place{Namespace: "dev"}
	assert.Nil(t, quota.Instances.Short(all, small, dev, "a"), "it has both")
	assert.Equal(t, &quota.Shortage{Policy: "z", Message: "ask Ann", Limit: 1, Granted: 1}, quota.Instances.Short(all, small, dev, "c"))
	assert.Equal(t, "few", quota.Instances.Short(all, small, dev, "d").Policy, "the first by name")
	assert.Equal(t, "z", quota.Instances.Full(all, small, dev, "d").Policy, "the first that is full")
	assert.Nil(t, quota.Bindings.Full(all, small, dev, ""), "there is one left")
	assert.Equal(t, "z", quota.Bindings.Short(all, small, dev, "x").Policy)
	assert.Nil(t, quota.Instances.Short(all, []quota.Use{{Target: offer("", "large").Target}}, dev, "x"), "another plan")
	assert.Nil(t, quota.Instances.Full(all, small, policy.Place{Namespace: "new"}, ""), "another namespace has its own")
	assert.Equal(t, map[string]quota.Stage{"few": quota.Asked, "z": quota.Asked}, quota.Instances.Stages([]policy.Rule{all[0].Rule, all[1].Rule}, small, dev))
	assert.Equal(t, "1 binding", quota.Bindings.Count(1))
	assert.Equal(t, "0 instances", quota.Instances.Count(0))
}

// TestAPlanOfAnotherBrokerIsNone: a plan that is not of its class's broker is not the one that the broker was sent.
func TestAPlanOfAnotherBrokerIsNone(t *testing.T) {
	t.Parallel()
	operators := resolve.Ref{Name: "azure"}
	class := resolve.ClassEntry{Ref: resolve.Ref{Namespace: "n", Name: "db"}, ExternalID: "db-id", Broker: operators}
	sent := quota.IDs{Class: "db-id", Plan: "id", Namespace: "n", Broker: operators}
	for name, tc := range map[string]struct {
		broker resolve.Ref
		want   bool
	}{
		"Copy":       {operators, true},
		"OfAnOwn":    {resolve.Ref{Namespace: "n", Name: "own"}, false},
		"NamingNone": {resolve.Ref{}, false},
	} {
		plan := resolve.PlanEntry{Ref: resolve.Ref{Namespace: "n", Name: "copy"}, Class: "db", ExternalID: "id", Broker: tc.broker}
		offer := quota.OfferOf(class, plan)
		assert.Equal(t, tc.want, offer.Is(sent), name)
	}
}
