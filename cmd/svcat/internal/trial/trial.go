// Package trial renders the texts of a page: a catalog and manifests, without files or a terminal.
package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/apistatus"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/origins"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rendering"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// The names of the two texts, in what is said of them.
const (
	CatalogName   = "catalog.yaml"
	ManifestsName = "manifests.yaml"
)

// An Input is what a person writes, both as YAML or JSON.
type Input struct {
	Catalog   string `json:"catalog"`
	Manifests string `json:"manifests"`
	// Namespace is where objects are that name none; empty: default.
	Namespace string `json:"namespace"`
}

// An Answer is what svcat render would print for the same texts in files of these names.
type Answer struct {
	// Objects are the instances and bindings as they would be stored, in YAML.
	Objects string `json:"objects"`
	// Messages are the lines of standard error: warnings, denials, and at last why the command fails.
	Messages []string `json:"messages"`
	// Origins are where the parameters of each object come from.
	Origins []Origin `json:"origins"`
}

// An Origin is where the parameters of one object come from.
type Origin struct {
	Object string `json:"object"`
	// Parameters are pairs of a path below spec.parameters and its layer.
	Parameters [][2]string `json:"parameters"`
}

// Run answers one input. It does not fail: what is wrong is among the messages.
func Run(ctx context.Context, in Input) Answer {
	var answer Answer
	report := func(line string) { answer.Messages = append(answer.Messages, line) }
	fail := func(err error) { report(apistatus.Error(err)) }
	documents, err := read(in)
	if err != nil {
		fail(err)
		return answer
	}
	r := &rendering.Rendering{Namespace: cmp.Or(in.Namespace, metav1.NamespaceDefault), Report: report}
	objects, refused := r.Run(ctx, options.New(), documents)
	if answer.Objects, err = rendering.YAML(objects); err != nil {
		fail(err)
	}
	for _, object := range objects {
		answer.Origins = append(answer.Origins, originOf(object)...)
	}
	if refused != nil {
		fail(refused)
	}
	return answer
}

func read(in Input) ([]manifest.Document, error) {
	reader := rendering.Reader()
	catalog, err := reader.Split(CatalogName, []byte(in.Catalog))
	if err != nil {
		return nil, err
	}
	manifests, err := reader.Split(ManifestsName, []byte(in.Manifests))
	return slices.Concat(catalog, manifests), err
}

// originOf has the origins of an object's parameters; none where it has no parameters.
func originOf(object *unstructured.Unstructured) []Origin {
	record, err := v1beta1.ParseAppliedDefaults(object.GetAnnotations()[v1beta1.AnnotationAppliedDefaults])
	parameters, _, wrong := unstructured.NestedMap(object.Object, "spec", "parameters")
	if errors.Join(err, wrong) != nil || record.Rule == "" {
		return nil
	}
	pairs := origins.Of(parameters, nil, record).All()
	if len(pairs) == 0 {
		return nil
	}
	return []Origin{{Object: fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName()), Parameters: pairs}}
}
