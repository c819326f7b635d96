package apiclient

import (
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	definitions "github.com/defaultplan/defaultplan/deploy/schema"
)

// refPrefix begins the references between models.
const refPrefix = "#/definitions/"

// modelsOf are the OpenAPI models of a kind and of its metadata, as the API server makes
// them of a definition to tell which manager owns which field.
func modelsOf(kind *definitions.Kind) map[string]*spec.Schema {
	models := map[string]*spec.Schema{}
	for name, model := range openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(refPrefix + modelName(name)) }) {
		models[modelName(name)] = &model.Schema
	}
	whole := kind.Structural.ToKubeOpenAPI()
	whole.Properties["metadata"] = *spec.RefSchema(refPrefix + modelName(metav1.ObjectMeta{}.OpenAPIModelName()))
	for _, field := range []string{"apiVersion", "kind"} {
		whole.Properties[field] = *spec.StringProperty()
	}
	whole.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}})
	models[kind.Kind] = whole
	return models
}

// modelName is a name without the slashes that a reference would read as a path.
func modelName(name string) string { return strings.ReplaceAll(name, "/", ".") }
