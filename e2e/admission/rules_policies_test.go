package admission_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestRulesOfPolicies of both kinds.
func TestRulesOfPolicies(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
	e.CreateInstance("mydb", env.OfPlan(e.Name("c"), e.Name("p")))
	seen := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: e.Name("deny")}, Spec: api.ProvisioningPolicySpec{
		PolicyRule: api.PolicyRule{Action: api.PolicyDeny, Namespaces: &api.PolicyNamespaces{Names: []string{e.Namespace}}},
		Subjects:   []api.PolicySubject{{PlanSubject: api.PlanSubject{ClassName: e.Name("c")}}},
	}}
	e.Eventually(func() (bool, error) {
		// What selects nothing is told from the cache.
		e.Warnings.Take()
		err := e.Client().Create(e.Context(), seen.DeepCopy(), client.DryRunAll)
		return len(e.Warnings.Take()) == 0, err
	})
	holdsRules(e, env.Kind{Name: "ProvisioningPolicy"}, policyRules("{className: NAME(c)}"), map[string]rule{
		"SubjectEmpty": {
			reason: "all plans must be meant", passes: policyOf("{planSelector: {}}"), fails: policyOf("{}"), field: "spec.subjects[0]",
		},
	})
	holdsRules(e, env.Kind{Name: "BindingPolicy"}, policyRules("{className: NAME(c)}"), bindingPolicyRules)
}

// policyOf are the members of a policy about a subject.
func policyOf(subject string) string { return "action: Deny, subjects: [" + subject + "]" }

// policyRules are those of both kinds; subject selects something.
func policyRules(subject string) map[string]rule {
	right := policyOf(subject)
	within := func(namespaces string) string { return right + ", namespaces: " + namespaces }
	return map[string]rule{
		"NoAction": {reason: "one of two", passes: right, fails: "subjects: [" + subject + "]", field: "spec.action"},
		"Action": {
			reason: "one of two", passes: "action: Allow, subjects: [" + subject + "]", fails: "action: Audit, subjects: [" + subject + "]",
			field: "spec.action",
		},
		"NoSubjects":   {reason: "it is about something", passes: right, fails: "action: Deny", field: "spec.subjects"},
		"EmptySubject": {reason: "it is about something", passes: right, fails: "action: Deny, subjects: []", field: "spec.subjects"},
		"MessageLong": {
			reason: "it is part of a refusal", passes: right + ", message: " + strings.Repeat("a", 512),
			fails: right + ", message: " + strings.Repeat("a", 513), field: "spec.message",
		},

		"NoNamespaces": {reason: "none must not mean all", passes: right, fails: within("{}"), field: "spec.namespaces"},
		"NamespaceName": {
			reason: "it is a name", passes: within("{names: [NAMESPACE]}"), fails: within("{names: [Team_A]}"),
			field: "spec.namespaces.names[0]",
		},
		"NamespaceTwice": {
			reason: "it is a set", passes: within("{names: [NAMESPACE, default]}"), fails: within("{names: [default, default]}"),
			field: "spec.namespaces.names[1]",
		},
		"NamespaceAbsent": {
			reason: "it may come", passes: within("{names: [NAME(absent)]}"), told: "spec.namespaces.names[0]: there is no namespace",
		},
		"NamespaceOperator": {
			reason: "a selector can be read", passes: within("{selector: {matchExpressions: [{key: a, operator: Exists}]}}"),
			fails: within("{selector: {matchExpressions: [{key: a, operator: Near}]}}"),
			field: "spec.namespaces.selector.matchExpressions[0].operator",
		},
		"NamespaceKey": {
			reason: "a selector can be read", passes: within("{selector: {}}"), fails: within("{selector: {matchLabels: {'a b': c}}}"),
			field: "spec.namespaces.selector.matchLabels[a b]",
		},

		"Type": {
			reason: "a DNS label", passes: policyOf("{serviceType: NAME(mysql)}"), told: "spec.subjects[0] selects no plan now",
			fails: policyOf("{serviceType: My_SQL}"), field: "spec.subjects[0].serviceType",
		},
		"ClassLong": {
			reason: "within bounds", passes: policyOf("{className: NAME(c)}"),
			fails: policyOf("{className: " + strings.Repeat("a", 254) + "}"), field: "spec.subjects[0].className",
		},
		"PlanLong": {
			reason: "within bounds", passes: policyOf("{planName: NAME(p)}"),
			fails: policyOf("{planName: " + strings.Repeat("a", 254) + "}"), field: "spec.subjects[0].planName",
		},
		"PlanKey": {
			reason: "a selector can be read", passes: policyOf("{planSelector: {}}"),
			fails: policyOf(subject + ", {planSelector: {matchLabels: {'a b': c}}}"),
			field: "spec.subjects[1].planSelector.matchLabels[a b]",
		},
		"PlanValue": {
			reason: "a selector can be read", passes: policyOf("{planSelector: {}}"),
			fails: policyOf("{planSelector: {matchLabels: {a: 'b c'}}}"), field: "spec.subjects[0].planSelector.matchLabels[a]",
		},
		"PlanOperator": {
			reason: "a selector can be read", passes: policyOf("{planSelector: {}}"),
			fails: policyOf("{planSelector: {matchExpressions: [{key: a, operator: In}]}}"),
			field: "spec.subjects[0].planSelector.matchExpressions[0].values",
		},
		"SelectsNone": {
			reason: "it may come", passes: policyOf(subject + ", {className: NAME(c), planName: typo}"),
			told: "spec.subjects[1] selects no plan now",
		},
		"Changed": {
			reason: "it is held to all of it", from: right, passes: "message: ask us",
			fails: policyOf("{planSelector: {matchLabels: {'a b': c}}}"), field: "spec.subjects[0].planSelector.matchLabels[a b]",
		},
	}
}

// bindingPolicyRules are those of binding policies alone.
var bindingPolicyRules = map[string]rule{
	"SubjectEmpty": {
		reason: "all instances must be meant", passes: policyOf("{instanceSelector: {}}"), fails: policyOf("{}"), field: "spec.subjects[0]",
	},
	"InstanceNamespace": {
		reason: "an instance is in a namespace", passes: policyOf("{instance: {namespace: NAMESPACE, name: mydb}}"),
		fails: policyOf("{instance: {name: mydb}}"), field: "spec.subjects[0].instance.namespace",
	},
	"InstanceName": {
		reason: "it has a name", passes: policyOf("{instance: {namespace: NAMESPACE, name: mydb}}"),
		fails: policyOf("{instance: {namespace: NAMESPACE, name: My_DB}}"), field: "spec.subjects[0].instance.name",
	},
	"InstanceAbsent": {
		reason: "it may come", passes: policyOf("{instance: {namespace: NAMESPACE, name: absent}}"),
		told: `spec.subjects[0].instance: there is no instance "absent"`,
	},
	"InstanceKey": {
		reason: "a selector can be read", passes: policyOf("{instanceSelector: {matchLabels: {app: shop}}}"),
		fails: policyOf("{instanceSelector: {matchLabels: {'a b': c}}}"), field: "spec.subjects[0].instanceSelector.matchLabels[a b]",
	},
}

// TestRulesOfTypes in both scopes: the record of a default names a plan that can
// be it. The objects are the keeper's.
func TestRulesOfTypes(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for _, namespace := range []string{"", e.Namespace} {
		e.AddPlans(env.Class{Namespace: namespace, Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("p")}, env.Plan{Name: e.Name("gone")})
		e.AddPlans(env.Class{Namespace: namespace, Name: e.Name("other"), ServiceType: e.Name("cache")}, env.Plan{Name: e.Name("q"), Default: true})
		removeFromCatalog(e, env.Plan{Namespace: namespace, Name: e.Name("gone")}.Object())
		// The keeper makes them; the one of the default has its record.
		e.Eventually(func() (bool, error) {
			recorded, err := e.RecordedDefault(namespace, e.Name("cache"))
			if err != nil || recorded != e.Name("q") {
				return false, err
			}
			_, err = e.RecordedDefault(namespace, e.Name("db"))
			return err == nil, err
		})
	}
	rules := map[string]rule{
		"PlanAbsent":   {reason: "a default can be chosen", fails: "defaultPlanRef: {name: NAME(absent)}", field: "spec.defaultPlanRef.name"},
		"PlanNameless": {reason: "a default can be chosen", fails: "defaultPlanRef: {name: ''}", field: "spec.defaultPlanRef.name"},
		"PlanOfAnother": {
			reason: "it is of the type", passes: "defaultPlanRef: {name: NAME(p)}", fails: "defaultPlanRef: {name: NAME(q)}",
			field: "spec.defaultPlanRef.name",
		},
		"PlanGone": {
			reason: "its broker has it no more", passes: "defaultPlanRef: null", fails: "defaultPlanRef: {name: NAME(gone)}",
			field: "spec.defaultPlanRef.name",
		},
		"StillDefault": {
			reason: "its plan says otherwise still", name: e.Name("cache"), passes: "defaultPlanRef: {name: NAME(q)}",
			fails: "defaultPlanRef: null", field: "spec.defaultPlanRef",
		},
	}
	for name, r := range rules {
		r.from, r.name = "defaultPlanRef: null", cmp.Or(r.name, e.Name("db"))
		rules[name] = r
	}
	holdsRules(e, env.Kind{Name: "ClusterServiceType"}, rules)
	holdsRules(e, env.Kind{Name: "ServiceType", Namespaced: true}, rules)
}

// removeFromCatalog says what the controller says when a broker no longer lists a
// plan.
func removeFromCatalog(e *env.Env, object client.Object) {
	e.Helper()
	require.NoError(e, e.Client().Status().Patch(e.Context(), object, env.MergePatch(`{"status":{"removedFromBrokerCatalog":true}}`)))
}

// TestNamesOfObjects: what an object may be called. An old name of a class is as
// long as an object's may be, because it is the broker's ID escaped.
func TestNamesOfObjects(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for kind, spec := range map[string]string{
		"ClusterServiceBroker": "{url: 'https://a.example'}", "ServiceBroker": "{url: 'https://a.example'}",
		"ClusterServiceClass": "{externalID: a}", "ServiceClass": "{externalID: a}",
		"ClusterServicePlan": "{externalID: a, clusterServiceClassRef: {name: c}}", "ServicePlan": "{externalID: a, serviceClassRef: {name: c}}",
		"ServiceInstance": "{clusterServiceClassName: a, clusterServicePlanName: b}", "ServiceBinding": "{instanceRef: {name: mydb}}",
		"ProvisioningPolicy": "{action: Deny, subjects: [{planSelector: {}}]}", "BindingPolicy": "{action: Deny, subjects: [{planSelector: {}}]}",
		"ClusterServiceType": "{}", "ServiceType": "{}",
	} {
		of := env.Kind{Name: kind, Namespaced: !strings.HasPrefix(kind, "Cluster") && !strings.HasSuffix(kind, "Policy")}
		require.NoError(t, e.Client().Create(t.Context(), e.Unwritten(of, "a-1", spec), client.DryRunAll), kind)
		for _, name := range []string{"A_1", "-a", "a..b"} {
			err := e.Client().Create(t.Context(), e.Unwritten(of, name, spec), client.DryRunAll)
			assert.True(t, apierrors.IsInvalid(err), "%s %q: %v", kind, name, err)
		}
		err := e.Client().Create(t.Context(), e.Unwritten(of, "a.b", spec), client.DryRunAll)
		if strings.HasSuffix(kind, "Type") {
			require.ErrorContains(t, err, "metadata.name is the service type", kind)
			continue
		}
		require.NoError(t, err, kind)
	}
}
