package quota_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// TestOfferIs holds an offer against what a record says was sent. Old records leave the class
// or the broker out.
func TestOfferIs(t *testing.T) {
	t.Parallel()
	acme := resolve.Ref{Name: "acme"}
	of := quota.Offer{IDs: quota.IDs{Class: "db", Plan: "small", Broker: acme}}
	cases := map[string]struct {
		reason string
		sent   quota.IDs
		want   bool
	}{
		"Same":           {reason: "all of it agrees", sent: quota.IDs{Class: "db", Plan: "small", Broker: acme}, want: true},
		"NoClass":        {reason: "the record leaves the class out", sent: quota.IDs{Plan: "small", Broker: acme}, want: true},
		"NoBroker":       {reason: "the record leaves the broker out", sent: quota.IDs{Class: "db", Plan: "small"}, want: true},
		"PlanAlone":      {reason: "the record has nothing else", sent: quota.IDs{Plan: "small"}, want: true},
		"OtherPlan":      {reason: "of the same class", sent: quota.IDs{Class: "db", Plan: "large", Broker: acme}},
		"OtherClass":     {reason: "two classes may have plans with one ID", sent: quota.IDs{Class: "mq", Plan: "small", Broker: acme}},
		"OtherBroker":    {reason: "two brokers may have one catalog", sent: quota.IDs{Class: "db", Plan: "small", Broker: resolve.Ref{Name: "other"}}},
		"OfNamespace":    {reason: "a plan of a namespace is not the cluster's", sent: quota.IDs{Class: "db", Plan: "small", Namespace: "dev", Broker: acme}},
		"NamespacesOwn":  {reason: "a broker of a namespace is not the cluster's", sent: quota.IDs{Class: "db", Plan: "small", Broker: resolve.Ref{Namespace: "dev", Name: "acme"}}},
		"NothingWasSent": {reason: "a record without IDs is of no plan", sent: quota.IDs{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, of.Is(tc.sent), tc.reason)
		})
	}
}

// TestCandidates leaves out plans of other brokers, and reads no more than a few: more plans
// with one ID than that are made to keep others waiting.
func TestCandidates(t *testing.T) {
	t.Parallel()
	acme, other := resolve.Ref{Name: "acme"}, resolve.Ref{Name: "other"}
	plans := func(of resolve.Ref, n int) []resolve.PlanEntry {
		all := make([]resolve.PlanEntry, n)
		for i := range all {
			all[i] = resolve.PlanEntry{Ref: resolve.Ref{Name: fmt.Sprintf("%s-%d", of.Name, i)}, Broker: of}
		}
		return all
	}
	cases := map[string]struct {
		reason string
		sent   quota.IDs
		plans  []resolve.PlanEntry
		want   []resolve.PlanEntry
	}{
		"None":        {reason: "there is none", sent: quota.IDs{Broker: acme}},
		"OfItsBroker": {reason: "it is the broker's", sent: quota.IDs{Broker: acme}, plans: plans(acme, 2), want: plans(acme, 2)},
		"OfAnother":   {reason: "its class is of that broker, too", sent: quota.IDs{Broker: acme}, plans: append(plans(other, 2), plans(acme, 1)...), want: plans(acme, 1)},
		"Unsaid":      {reason: "a plan that names no broker may be of its class's", sent: quota.IDs{Broker: acme}, plans: plans(resolve.Ref{}, 1), want: plans(resolve.Ref{}, 1)},
		"OldRecord":   {reason: "a record without a broker may be of any", plans: append(plans(other, 1), plans(acme, 1)...), want: append(plans(other, 1), plans(acme, 1)...)},
		"Few":         {reason: "as many as are read", sent: quota.IDs{Broker: acme}, plans: plans(acme, quota.FewPlans), want: plans(acme, quota.FewPlans)},
		"Many":        {reason: "more are not read", sent: quota.IDs{Broker: acme}, plans: plans(acme, quota.FewPlans+1)},
		"ManyOfOthers": {
			reason: "other brokers' plans do not count", sent: quota.IDs{Broker: acme},
			plans: append(plans(other, quota.FewPlans), plans(acme, 1)...), want: plans(acme, 1),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.sent.Candidates(tc.plans)
			assert.Len(t, got, len(tc.want), tc.reason)
			for i := range tc.want {
				assert.Equal(t, tc.want[i].Ref, got[i].Ref, tc.reason)
			}
		})
	}
}

// TestUnsure takes each sign of an operation alone.
func TestUnsure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status string
		want   bool
	}{
		"Idle":        {},
		"Provisioned": {status: "provisionStatus: Provisioned, externalProperties: {}"},
		"Owed":        {status: "deprovisionStatus: Required"},
		"Operation":   {status: "currentOperation: Update", want: true},
		"Intended":    {status: "inProgressProperties: {}", want: true},
		"Async":       {status: "asyncOpInProgress: true", want: true},
		"Mitigated":   {status: "orphanMitigationInProgress: true", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, quota.Unsure(read[v1beta1.ServiceInstance](t, "{status: {"+tc.status+"}}")))
		})
	}
}

// TestStagesOfABinding takes each sign alone of what a broker may have of a binding.
func TestStagesOfABinding(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, status string
		want           quota.Stage
	}{
		"New":          {reason: "nothing was sent", want: quota.Asked},
		"NotRequired":  {reason: "nothing is to be unbound", status: "unbindStatus: NotRequired", want: quota.Asked},
		"Unbound":      {reason: "it is gone", status: "unbindStatus: Succeeded", want: quota.Asked},
		"Intended":     {reason: "the call may have been made", status: "inProgressProperties: {}", want: quota.Doubtful},
		"Binding":      {reason: "the call may have been made", status: "currentOperation: Bind", want: quota.Doubtful},
		"Unbinding":    {reason: "it may still be there", status: "currentOperation: Unbind, asyncOpInProgress: true", want: quota.Doubtful},
		"Async":        {reason: "of an operation that is not known", status: "asyncOpInProgress: true", want: quota.Doubtful},
		"BindingAsync": {reason: "the broker works on it", status: "currentOperation: Bind, asyncOpInProgress: true", want: quota.Standing},
		"Mitigated": {
			reason: "it is taken back", want: quota.Doubtful,
			status: "currentOperation: Bind, asyncOpInProgress: true, orphanMitigationInProgress: true",
		},
		"MitigatedLater": {reason: "it is unknown whether it exists", status: "orphanMitigationInProgress: true", want: quota.Doubtful},
		"Required":       {reason: "something may be there", status: "unbindStatus: Required", want: quota.Doubtful},
		"Failed":         {reason: "it could not be unbound", status: "unbindStatus: Failed", want: quota.Doubtful},
		"Bound":          {reason: "it is there", status: "externalProperties: {}", want: quota.Standing},
		"BoundUnbinding": {reason: "until it is gone", status: "externalProperties: {}, currentOperation: Unbind", want: quota.Standing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binding := read[v1beta1.ServiceBinding](t, "{spec: {clusterServicePlanRef: {name: small}}, status: {"+tc.status+"}}")
			want := []quota.Named{{Ref: resolve.Ref{Name: "small"}, Stage: tc.want}}
			assert.Equal(t, want, quota.OfBinding(binding, nil), tc.reason)
		})
	}
}

// TestKinds has what differs between the two kinds that slots are for.
func TestKinds(t *testing.T) {
	t.Parallel()
	one, two := int32(1), int32(2)
	limits := policy.Limits{Instances: &one, Bindings: &two}
	status := read[v1beta1.PolicyStatus](t, "{slots: [{namespace: qa, instances: [q]}, {namespace: dev, instances: [a, b], bindings: [c]}]}")
	for _, tc := range []struct {
		kind           quota.Kind
		word, field    string
		single, plural string
		limit          *int32
		granted        string
	}{
		{quota.Instances, "instances", "maxInstances", "1 instance", "2 instances", &one, "a b"},
		{quota.Bindings, "bindings", "maxBindings", "1 binding", "2 bindings", &two, "c"},
	} {
		t.Run(tc.word, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.word, tc.kind.String())
			assert.Equal(t, tc.field, tc.kind.Field())
			assert.Equal(t, tc.single, tc.kind.Count(1))
			assert.Equal(t, tc.plural, tc.kind.Count(2))
			assert.Same(t, tc.limit, tc.kind.Of(limits))
			assert.Nil(t, tc.kind.Of(policy.Limits{}), "no limit is not a limit of 0")
			assert.Equal(t, tc.granted, joined(tc.kind.Granted(status, "dev")))
			assert.Empty(t, tc.kind.Granted(status, "new"), "another namespace has its own")
			assert.Empty(t, tc.kind.Granted(&v1beta1.PolicyStatus{}, "dev"))
		})
	}
}
