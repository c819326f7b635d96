package manifest

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
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// fieldOwner is who manifests are applied as.
const fieldOwner = client.FieldOwner("defaultplan-stack")

// Read reads the objects of a folder of deploy, in the order of the
// files' names.
func Read(folder string) ([]*unstructured.Unstructured, error) {
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

// ApplyFolder applies the manifests of a folder of deploy.
func ApplyFolder(ctx context.Context, c client.Client, folder string) error {
	objects, err := Read(folder)
	if err != nil {
		return err
	}
	return applyAll(ctx, c, objects)
}

// applyAll applies objects at the same time, namespaces before all others.
func applyAll(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	var later []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() != "Namespace" {
			later = append(later, object)
			continue
		}
		if err := Apply(ctx, c, object); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, object := range later {
		group.Go(func() error { return Apply(ctx, c, object) })
	}
	return group.Wait()
}

// Apply applies one object.
func Apply(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.ForceOwnership, fieldOwner)
	if err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// ApplyDefinitions applies the CustomResourceDefinitions, and returns when the API server
// serves their kinds.
func ApplyDefinitions(ctx context.Context, c client.Client) error {
	objects, err := Read("crds")
	if err != nil {
		return err
	}
	if err := applyAll(ctx, c, objects); err != nil {
		return err
	}
	return wait.Eventually(ctx, func() (bool, error) { return established(ctx, c, objects) })
}

// established says that the API server serves all the kinds.
func established(ctx context.Context, c client.Client, wanted []*unstructured.Unstructured) (bool, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.List(ctx, list); err != nil {
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
