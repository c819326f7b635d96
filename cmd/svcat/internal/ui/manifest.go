package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/suggest"
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

// command is the svcat command that creates the same instance, for a cluster that is reached
// with the flags. Where there is none, why says so.
func (w *wish) command(ctx context.Context, reader client.Reader, flags string) (line, why string) {
	for _, secret := range w.secrets {
		if _, given := secret.Get(w.parameters); given {
			return "", "There is no svcat command to copy, because a secret value is among the parameters: your shell would keep it in its history. Use the YAML."
		}
	}
	words := []string{"svcat provision", suggest.Word(w.name)}
	if w.serviceType != "" {
		words = append(words, "--type="+suggest.Word(w.serviceType))
	} else {
		named, found := w.naming(ctx, reader)
		if !found {
			return "", "There is no svcat command to copy, because by these names it would find another plan, or none. Use the YAML."
		}
		words = append(words, named...)
	}
	if w.parameters != nil {
		words = append(words, "--params-json="+suggest.Word(compact(w.parameters)))
	}
	if w.secret != "" {
		words = append(words, "--secret="+suggest.Word(w.secret+"["+w.key+"]"))
	}
	return strings.Join(append(words, "--namespace="+suggest.Word(w.namespace)), " ") + flags, ""
}

// naming are the flags that name the plan; found is false where svcat finds another by them,
// such as one of the namespace that is called like one of the cluster.
func (w *wish) naming(ctx context.Context, reader client.Reader) (flags []string, found bool) {
	finder := catalog.Finder{Reader: reader, Scope: cli.Scope{Cluster: true, Namespaces: true, Namespace: w.namespace}}
	class, plan := w.class.Spec.ExternalName, w.plan.Spec.ExternalName
	if class == "" || plan == "" {
		finder.KubeName, class, plan = true, w.class.Object.GetName(), w.plan.Object.GetName()
		flags = []string{"--kube-name"}
	}
	named, err := finder.Plan(ctx, class, plan)
	if err != nil || catalog.RefOf(named.Object) != catalog.RefOf(w.plan.Object) {
		return nil, false
	}
	return append(flags, "--class="+suggest.Word(class), "--plan="+suggest.Word(plan)), true
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
