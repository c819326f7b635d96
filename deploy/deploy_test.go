package deploy_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
)

// hooks reads both configurations as shipped; an unknown field is an error.
func hooks(t *testing.T) (admissionregistrationv1.MutatingWebhookConfiguration, admissionregistrationv1.ValidatingWebhookConfiguration) {
	t.Helper()
	content, err := fs.ReadFile(deploy.Manifests, "hooks/manifests.yaml")
	require.NoError(t, err)
	documents := strings.Split(strings.TrimPrefix(string(content), "---\n"), "---\n")
	require.Len(t, documents, 2)
	mutating := admissionregistrationv1.MutatingWebhookConfiguration{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &mutating))
	validating := admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &validating))
	return mutating, validating
}

// TestHooksSayEverything holds the two halves to the same rules, and to leaving
// no field to the API server's defaults.
func TestHooksSayEverything(t *testing.T) {
	t.Parallel()
	mutating, validating := hooks(t)
	require.Len(t, mutating.Webhooks, 1)
	require.Len(t, validating.Webhooks, 1)
	mutate, validate := mutating.Webhooks[0], validating.Webhooks[0]

	assert.Equal(t, admissionregistrationv1.ValidatingWebhook{
		Name: "validate.serviceinstances.servicecatalog.k8s.io",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{
			Namespace: "defaultplan-system", Name: "defaultplan-webhook",
			Path: new("/validate/serviceinstances"), Port: new(int32(443)),
		}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			// Never DELETE, never serviceinstances/status.
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{api.GroupName}, APIVersions: []string{api.GroupVersion.Version},
				Resources: []string{"serviceinstances"}, Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		NamespaceSelector:       validate.NamespaceSelector,
		ObjectSelector:          validate.ObjectSelector,
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(5)),
		AdmissionReviewVersions: []string{"v1"},
		MatchConditions:         validate.MatchConditions,
	}, validate)
	for _, selector := range []any{validate.NamespaceSelector, validate.ObjectSelector, mutate.NamespaceSelector, mutate.ObjectSelector} {
		assert.NotNil(t, selector, "no namespace is excluded, and that is said")
	}
	assert.Equal(t, "mutate.serviceinstances.servicecatalog.k8s.io", mutate.Name)
	assert.Equal(t, "/mutate/serviceinstances", *mutate.ClientConfig.Service.Path)
	assert.Equal(t, new(admissionregistrationv1.NeverReinvocationPolicy), mutate.ReinvocationPolicy)

	// What both have must be alike: an object that one half sees and the other
	// does not would be decided and never judged.
	mutate.Name, mutate.ClientConfig.Service.Path = validate.Name, validate.ClientConfig.Service.Path
	assert.Equal(t, validate.ClientConfig, mutate.ClientConfig)
	assert.Equal(t, validate.Rules, mutate.Rules)
	assert.Equal(t, validate.MatchConditions, mutate.MatchConditions)
	assert.Equal(t, validate.FailurePolicy, mutate.FailurePolicy)
	assert.Equal(t, validate.MatchPolicy, mutate.MatchPolicy)
	assert.Equal(t, validate.TimeoutSeconds, mutate.TimeoutSeconds)
	assert.Equal(t, validate.SideEffects, mutate.SideEffects)
	assert.Equal(t, validate.AdmissionReviewVersions, mutate.AdmissionReviewVersions)
}

// TestConditionsNameOurAnnotations catches a constant that changes while the
// marker, which cannot refer to it, does not.
func TestConditionsNameOurAnnotations(t *testing.T) {
	t.Parallel()
	_, validating := hooks(t)
	require.Len(t, validating.Webhooks[0].MatchConditions, 1)
	expression := validating.Webhooks[0].MatchConditions[0].Expression
	for _, annotation := range []string{api.AnnotationAppliedDefaults, api.AnnotationMintedExternalID} {
		assert.Equal(t, 2, strings.Count(expression, "'"+annotation+"'"), "old and new %s", annotation)
	}
}

func TestManifestsAreAllEmbedded(t *testing.T) {
	t.Parallel()
	var embedded []string
	for _, folder := range []string{"crds", "hooks", "rbac"} {
		files, err := fs.Glob(deploy.Manifests, folder+"/*.yaml")
		require.NoError(t, err)
		assert.NotEmpty(t, files, folder)
		embedded = append(embedded, files...)
	}
	assert.True(t, slices.Contains(embedded, "crds/servicecatalog.k8s.io_serviceinstances.yaml"))
	assert.True(t, slices.Contains(embedded, "rbac/role.yaml"), "the webhook's rights are shipped")
}
