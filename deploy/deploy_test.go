package deploy_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
)

// hooks reads both configurations as shipped, their webhooks by resource; an
// unknown field is an error.
func hooks(t *testing.T) (
	mutating map[string]admissionregistrationv1.MutatingWebhook, validating map[string]admissionregistrationv1.ValidatingWebhook,
) {
	t.Helper()
	content, err := fs.ReadFile(deploy.Manifests, "hooks/manifests.yaml")
	require.NoError(t, err)
	documents := strings.Split(strings.TrimPrefix(string(content), "---\n"), "---\n")
	require.Len(t, documents, 2)
	mutate := admissionregistrationv1.MutatingWebhookConfiguration{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &mutate))
	validate := admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &validate))
	mutating = map[string]admissionregistrationv1.MutatingWebhook{}
	for _, webhook := range mutate.Webhooks {
		mutating[resourceOf(t, webhook.Rules)] = webhook
	}
	validating = map[string]admissionregistrationv1.ValidatingWebhook{}
	for _, webhook := range validate.Webhooks {
		validating[resourceOf(t, webhook.Rules)] = webhook
	}
	require.Len(t, mutating, len(mutate.Webhooks), "one entry per resource")
	require.Len(t, validating, len(validate.Webhooks), "one entry per resource")
	return mutating, validating
}

func resourceOf(t *testing.T, rules []admissionregistrationv1.RuleWithOperations) string {
	t.Helper()
	require.Len(t, rules, 1)
	require.Len(t, rules[0].Resources, 1)
	return rules[0].Resources[0]
}

// judgedOnly are the kinds that admission adds nothing to.
var judgedOnly = []string{"clusterservicetypes", "servicetypes", "provisioningpolicies", "bindingpolicies"}

// TestHooksSayEverything holds every kind of the API to an entry in both halves,
// the two halves to the same rules, and both to leaving no field to the API
// server's defaults.
func TestHooksSayEverything(t *testing.T) {
	t.Parallel()
	mutating, validating := hooks(t)
	require.Len(t, validating, len(kinds(t)))
	require.Len(t, mutating, len(kinds(t))-len(judgedOnly))
	for _, kind := range kinds(t) {
		t.Run(kind.resource, func(t *testing.T) {
			t.Parallel()
			validate := validating[kind.resource]
			require.Len(t, validate.MatchConditions, 1)
			assert.Equal(t, admissionregistrationv1.ValidatingWebhook{
				Name:         "validate." + kind.resource + ".servicecatalog.k8s.io",
				ClientConfig: service("/validate/" + kind.resource),
				Rules: []admissionregistrationv1.RuleWithOperations{{
					// Never DELETE, never /status.
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{api.GroupName}, APIVersions: []string{api.GroupVersion.Version},
						Resources: []string{kind.resource}, Scope: new(admissionregistrationv1.ScopeType(kind.scope)),
					},
				}},
				FailurePolicy: new(admissionregistrationv1.Fail),
				MatchPolicy:   new(admissionregistrationv1.Equivalent),
				// No namespace is excluded, and that is said.
				NamespaceSelector:       &metav1.LabelSelector{},
				ObjectSelector:          &metav1.LabelSelector{},
				SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
				TimeoutSeconds:          new(int32(5)),
				AdmissionReviewVersions: []string{"v1"},
				MatchConditions:         validate.MatchConditions,
			}, validate)

			mutate, mutated := mutating[kind.resource]
			if assert.Equal(t, !slices.Contains(judgedOnly, kind.resource), mutated) && mutated {
				assert.Equal(t, mutatingHalf(kind.resource, &validate), mutate)
			}
		})
	}
}

func service(path string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{
		Namespace: "defaultplan-system", Name: "defaultplan-webhook", Path: &path, Port: new(int32(443)),
	}}
}

// mutatingHalf is the entry that goes with a validating one. What both have must
// be alike: an object that one half sees and the other does not would be decided
// and never judged.
func mutatingHalf(resource string, validate *admissionregistrationv1.ValidatingWebhook) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name:                    "mutate." + resource + ".servicecatalog.k8s.io",
		ClientConfig:            service("/mutate/" + resource),
		Rules:                   validate.Rules,
		FailurePolicy:           validate.FailurePolicy,
		MatchPolicy:             validate.MatchPolicy,
		NamespaceSelector:       validate.NamespaceSelector,
		ObjectSelector:          validate.ObjectSelector,
		SideEffects:             validate.SideEffects,
		TimeoutSeconds:          validate.TimeoutSeconds,
		AdmissionReviewVersions: validate.AdmissionReviewVersions,
		ReinvocationPolicy:      new(admissionregistrationv1.NeverReinvocationPolicy),
		MatchConditions:         append(exempted(resource), changesSeen(validate.MatchConditions[0])),
	}
}

// changesSeen is the condition of a validating entry as the mutating half has it: there is
// no new generation yet when that half is asked.
func changesSeen(condition admissionregistrationv1.MatchCondition) admissionregistrationv1.MatchCondition {
	const spec, generation = "object.?spec != oldObject.?spec", "object.metadata.?generation != oldObject.metadata.?generation"
	condition.Expression = strings.Replace(condition.Expression, generation, spec, 1)
	return condition
}

// exempted is the condition that goes before those of the validating half: to what
// the controller writes of a catalog, admission adds nothing.
func exempted(resource string) []admissionregistrationv1.MatchCondition {
	if !strings.HasSuffix(resource, "classes") && !strings.HasSuffix(resource, "plans") {
		return nil
	}
	return []admissionregistrationv1.MatchCondition{{
		Name:       "not-by-the-controller",
		Expression: "request.userInfo.username != 'system:serviceaccount:defaultplan-system:defaultplan-controller'",
	}}
}

// TestConditionsNameOurAnnotations catches a constant that changes while the
// marker, which cannot refer to it, does not; and a condition that looks at an
// annotation which is none of its kind's business.
func TestConditionsNameOurAnnotations(t *testing.T) {
	t.Parallel()
	decided := []string{api.AnnotationAppliedDefaults, api.AnnotationMintedExternalID}
	offered := []string{api.AnnotationDefaultPlan, api.AnnotationSuggestedPlan}
	named := map[string][]string{
		"serviceinstances": decided, "servicebindings": decided,
		"clusterserviceclasses": offered, "serviceclasses": offered, "clusterserviceplans": offered, "serviceplans": offered,
	}
	_, validating := hooks(t)
	for resource, webhook := range validating {
		expression := webhook.MatchConditions[0].Expression
		assert.Contains(t, expression, "request.operation == 'CREATE' || object.metadata.?generation != oldObject.metadata.?generation", resource)
		for _, annotation := range append(slices.Clone(decided), offered...) {
			want := 0
			if slices.Contains(named[resource], annotation) {
				want = 2
			}
			assert.Equal(t, want, strings.Count(expression, "'"+annotation+"'"), "%s: old and new %s", resource, annotation)
		}
	}
}

func TestManifestsAreAllEmbedded(t *testing.T) {
	t.Parallel()
	var embedded []string
	for _, folder := range []string{"crds", "hooks", "rbac", "endpoints", "vap", "flow", "workload", "certs/managed", "certs/switch", "certs/cert-manager"} {
		files, err := fs.Glob(deploy.Manifests, folder+"/*.yaml")
		require.NoError(t, err)
		assert.NotEmpty(t, files, folder)
		embedded = append(embedded, files...)
	}
	assert.True(t, slices.Contains(embedded, "crds/servicecatalog.k8s.io_serviceinstances.yaml"))
	assert.True(t, slices.Contains(embedded, "rbac/role.yaml"), "the webhook's rights are shipped")
}
