package ui

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/merge"
)

// A wish is what a person wants of a plan's page.
type wish struct {
	name, namespace string
	// serviceType asks by type; otherwise the plan is named.
	serviceType string
	class       *catalog.Class
	plan        *catalog.Plan
	parameters  map[string]any
	// secret and key name a Secret with more parameters; empty: none.
	secret, key string
	// secrets are the parameters that no page shows.
	secrets []merge.Pointer
	// yaml is the manifest as it is copied.
	yaml string
}

// manifest is the instance as its user would write it, as JSON: nothing is in it that
// was not asked for.
func (w *wish) manifest() ([]byte, error) {
	spec := map[string]any{}
	if w.serviceType != "" {
		spec["serviceType"] = w.serviceType
	} else {
		w.refer(spec)
	}
	if w.parameters != nil {
		spec["parameters"] = w.parameters
	}
	if w.secret != "" {
		spec["parametersFrom"] = []any{map[string]any{"secretKeyRef": map[string]any{"name": w.secret, "key": w.key}}}
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": "ServiceInstance",
		"metadata": map[string]any{"name": w.name, "namespace": w.namespace}, "spec": spec,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write the manifest: %w", err)
	}
	return text, nil
}

// refer names class and plan in the plan's scope: as people call them, or by their
// Kubernetes names if they have no others.
func (w *wish) refer(spec map[string]any) {
	// As in ClusterServicePlan and clusterServicePlanName.
	kind := v1beta1.ScopedKind(w.plan.Object.GetNamespace(), "Service")
	scope := strings.ToLower(kind[:1]) + kind[1:]
	set := func(what, external, name string) {
		if external != "" {
			spec[scope+what+"ExternalName"] = external
			return
		}
		spec[scope+what+"Name"] = name
	}
	set("Class", w.class.Spec.ExternalName, w.class.Object.GetName())
	set("Plan", w.plan.Spec.ExternalName, w.plan.Object.GetName())
}

// inYAML is a manifest as a person copies it.
func inYAML(manifest []byte) (string, error) {
	text, err := yaml.JSONToYAML(manifest)
	if err != nil {
		return "", fmt.Errorf("cannot write the manifest as YAML: %w", err)
	}
	return string(text), nil
}

// objectOf is a manifest read back from its YAML: what is tried is what is copied.
func objectOf(text string) (*unstructured.Unstructured, error) {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	return object, nil
}
