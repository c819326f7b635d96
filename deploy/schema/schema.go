// Package schema does to an object what the API server does by the definitions as
// they are shipped: it prunes and defaults, and validates by schema, list types and
// rules, in the API server's order and by its own packages.
package schema

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
)

// Group is the group of the definitions that are shipped.
const Group = "servicecatalog.k8s.io"

// A Kind is one of the kinds that are shipped.
type Kind struct {
	schema.GroupVersionKind

	// Resource is the kind in the plural, as in a path of the API.
	Resource string
	// Namespaced says that its objects are in namespaces.
	Namespaced bool
	// Structural is the schema of its version.
	Structural *structuralschema.Structural

	schema validation.SchemaValidator
	rules  *cel.Validator
}

// Definition reads the definition of a resource as it is shipped, with the API
// server's own defaults.
func Definition(resource string) (*apiextensionsv1.CustomResourceDefinition, error) {
	raw, err := deploy.Manifests.ReadFile("crds/" + Group + "_" + resource + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot read the definition of %q: %w", resource, err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, definition); err != nil {
		return nil, fmt.Errorf("cannot decode the definition of %q: %w", resource, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
	return definition, nil
}

// Internal converts a definition as the API server does before it validates it.
func Internal(definition *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	converted := &apiextensions.CustomResourceDefinition{}
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition, converted, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot convert the definition %q: %w", definition.Name, err)
	}
	converted.Status.StoredVersions = []string{definition.Spec.Versions[0].Name}
	return converted, nil
}

// Of reads the kind of a resource. Its rules are compiled here: that takes some
// milliseconds.
func Of(resource string) (*Kind, error) {
	definition, err := Definition(resource)
	if err != nil {
		return nil, err
	}
	internal, err := Internal(definition)
	if err != nil {
		return nil, err
	}
	version := definition.Spec.Versions[0]
	props, err := apiextensions.GetSchemaForVersion(internal, version.Name)
	if err != nil {
		return nil, fmt.Errorf("cannot find the schema of %q: %w", resource, err)
	}
	kind := &Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: Group, Version: version.Name, Kind: definition.Spec.Names.Kind},
		Resource:         resource, Namespaced: definition.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	if kind.Structural, err = structuralschema.NewStructural(props.OpenAPIV3Schema); err != nil {
		return nil, fmt.Errorf("cannot read the schema of %q: %w", resource, err)
	}
	if kind.schema, _, err = validation.NewSchemaValidator(props.OpenAPIV3Schema); err != nil {
		return nil, fmt.Errorf("cannot use the schema of %q: %w", resource, err)
	}
	kind.rules = cel.NewValidator(kind.Structural, true, celconfig.PerCallLimit)
	return kind, nil
}

// Prune takes out of the object what the schema does not know, and returns the
// paths of that.
func (k *Kind) Prune(object map[string]any) []string {
	return pruning.PruneWithOptions(object, k.Structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// Default takes out of the object the nulls that the schema does not allow, and
// fills in its defaults.
func (k *Kind) Default(object map[string]any) {
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.Structural)
	defaulting.Default(object, k.Structural)
}

// Shape validates the object by schema and list types. What an update leaves as it
// was in old is not held against it; old is nil on a create.
func (k *Kind) Shape(object, old map[string]any) field.ErrorList {
	if old == nil {
		errs := validation.ValidateCustomResource(nil, object, k.schema)
		return append(errs, listtype.ValidateListSetsAndMaps(nil, k.Structural, object)...)
	}
	errs := validation.ValidateCustomResourceUpdate(nil, object, old, k.schema, validation.WithRatcheting(k.correlate(object, old)))
	if len(listtype.ValidateListSetsAndMaps(nil, k.Structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.Structural, object)...)
	}
	return errs
}

// Rules validates the object by the rules of the schema. They need an object of the
// right shape.
func (k *Kind) Rules(ctx context.Context, object, old map[string]any) field.ErrorList {
	if k.rules == nil {
		return nil
	}
	var before any
	var options []cel.Option
	if old != nil {
		before = old
		options = append(options, cel.WithRatcheting(k.correlate(object, old)))
	}
	errs, _ := k.rules.Validate(ctx, nil, k.Structural, object, before, celconfig.RuntimeCELCostBudget, options...)
	return errs
}

func (k *Kind) correlate(object, old map[string]any) *common.CorrelatedObject {
	return common.NewCorrelatedObject(object, old, &model.Structural{Structural: k.Structural})
}
