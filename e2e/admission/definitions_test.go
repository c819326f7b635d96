package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// properties are the fields of an object.
type properties = map[string]apiextensionsv1.JSONSchemaProps

// definitionEdits are updates of the definition of bindings, and whether the policy
// "definitions" refuses them.
var definitionEdits = map[string]struct {
	reason  string
	edit    func(spec, status properties)
	refused bool
}{
	"Same":       {reason: "nothing is lost", edit: func(properties, properties) {}},
	"NewField":   {reason: "a newer release adds fields", edit: func(_, status properties) { status["later"] = apiextensionsv1.JSONSchemaProps{Type: "string"} }},
	"OfStatus":   {reason: "where a claim's instance is", edit: func(_, status properties) { delete(status, "instanceRef") }, refused: true},
	"OfSpec":     {reason: "what a user asked for", edit: func(spec, _ properties) { delete(spec, "rotation") }, refused: true},
	"OfAField":   {reason: "what was added to a field of old", edit: func(spec, _ properties) { delete(spec["userInfo"].Properties, "uid") }, refused: true},
	"OfAnItem":   {reason: "and to the items of a list", edit: func(_, status properties) { delete(status["conditions"].Items.Schema.Properties, "observedGeneration") }, refused: true},
	"InItsPlace": {reason: "another field is no substitute", edit: func(_, status properties) { status["other"] = status["rotation"]; delete(status, "rotation") }, refused: true},
}

// definitionsOfOthers are definitions of the group that have no fields of ours: those of
// the retired catalog keep whatever they get.
var definitionsOfOthers = map[string]string{
	"NoFields":       "v1beta1",
	"AnotherVersion": "v1",
}

// definitionsOfOthersAreTheirs changes definitions that the policy has no say in.
func definitionsOfOthersAreTheirs(t *testing.T, e *env.Env) {
	t.Helper()
	for name, version := range definitionsOfOthers {
		t.Run("Definition/"+name, func(t *testing.T) {
			plural := strings.ToLower(name) + "s"
			definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + ".servicecatalog.k8s.io"}}
			definition.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, of a test"}
			definition.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "servicecatalog.k8s.io", Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: name},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: version, Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
				}},
			}
			e.Create(definition)
			t.Cleanup(func() { e.Delete(definition) })
			e.Patch(definition, `{"metadata": {"labels": {"changed": "by-its-owner"}}}`)
			e.Patch(definition, `{"spec": {"names": {"shortNames": ["`+plural[:3]+`"]}}}`)
		})
	}
}

// definitionsKeepTheirFields tries to replace a definition by one of fewer fields, as an
// older release brings it.
func definitionsKeepTheirFields(t *testing.T, e *env.Env) {
	t.Helper()
	for name, tc := range definitionEdits {
		t.Run("Definition/"+name, func(t *testing.T) {
			definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "servicebindings.servicecatalog.k8s.io"}}
			require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
				require.NoError(t, e.Client().Get(t.Context(), client.ObjectKeyFromObject(definition), definition))
				fields := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
				tc.edit(fields["spec"].Properties, fields["status"].Properties)
				err := e.Client().Update(t.Context(), definition, client.DryRunAll)
				switch {
				case apierrors.IsConflict(err):
					return false, err
				case !tc.refused:
					require.NoError(t, err, tc.reason)
				default:
					require.True(t, apierrors.IsInvalid(err), "%s: %v", tc.reason, err)
					assert.ErrorContains(t, err, "knows fewer fields than the one that is stored")
				}
				return true, nil
			}))
		})
	}
}
