package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/deploy"
)

// fieldOwner is who the manifests are applied as.
const fieldOwner = client.FieldOwner("defaultplan-stack")

// readManifests reads the objects of a folder of deploy, in the order of the
// files' names.
func readManifests(folder string) ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(deploy.Manifests, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot list manifests %q: %w", folder, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := fs.ReadFile(deploy.Manifests, file)
		if err != nil {
			return nil, fmt.Errorf("cannot read manifest: %w", err)
		}
		found, err := decode(content)
		if err != nil {
			return nil, fmt.Errorf("cannot decode manifest %q: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

func decode(content []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// applyFolder applies the manifests of a folder of deploy.
func (s *Stack) applyFolder(ctx context.Context, folder string) error {
	objects, err := readManifests(folder)
	if err != nil {
		return err
	}
	return s.apply(ctx, objects)
}

// apply applies objects at the same time, namespaces before all others.
func (s *Stack) apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	var later []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() != "Namespace" {
			later = append(later, object)
			continue
		}
		if err := s.applyOne(ctx, object); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, object := range later {
		group.Go(func() error { return s.applyOne(ctx, object) })
	}
	return group.Wait()
}

func (s *Stack) applyOne(ctx context.Context, object *unstructured.Unstructured) error {
	err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.ForceOwnership, fieldOwner)
	if err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func (s *Stack) applyCRDs(ctx context.Context) error {
	objects, err := readManifests("crds")
	if err != nil {
		return err
	}
	if err := s.apply(ctx, objects); err != nil {
		return err
	}
	return Eventually(ctx, func() (bool, error) { return s.established(ctx, objects) })
}

// established says that the API server serves all the kinds.
func (s *Stack) established(ctx context.Context, wanted []*unstructured.Unstructured) (bool, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := s.client.List(ctx, list); err != nil {
		return false, fmt.Errorf("cannot list definitions: %w", err)
	}
	served := map[string]bool{}
	for _, definition := range list.Items {
		for _, condition := range definition.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				served[definition.Name] = true
			}
		}
	}
	for _, object := range wanted {
		if !served[object.GetName()] {
			return false, fmt.Errorf("definition %q is not established", object.GetName())
		}
	}
	return true, nil
}
