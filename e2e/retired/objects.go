package retired

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Read reads the objects of a manifest.
func Read(manifest string) (objects []*unstructured.Unstructured, err error) {
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), len(manifest))
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read object %d of the manifest: %w", len(objects), err)
		}
		objects = append(objects, object)
	}
}

// Store creates objects with their status, one after the other.
func Store(ctx context.Context, c client.Client, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		status, has := object.Object["status"]
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("cannot create %s %q: %w", object.GetKind(), object.GetName(), err)
		}
		if !has {
			continue
		}
		object.Object["status"] = status
		if err := c.Status().Update(ctx, object); err != nil {
			return fmt.Errorf("cannot write the status of %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// Checksum is the sum of parameters as the retired catalog stored it: its numbers had gone
// through float64.
func Checksum(parameters string) (string, error) {
	decoded := map[string]any{}
	if err := json.Unmarshal([]byte(parameters), &decoded); err != nil {
		return "", fmt.Errorf("cannot read the parameters: %w", err)
	}
	content, err := json.Marshal(decoded)
	if err != nil {
		return "", fmt.Errorf("cannot write the parameters: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}
