package rendering

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
)

// YAML is a document of each object, without what differs from one write to the next.
func YAML(objects []*unstructured.Unstructured) (string, error) {
	var text strings.Builder
	for i, object := range objects {
		document, err := yaml.Marshal(manifest.Bare(object))
		if err != nil {
			return "", fmt.Errorf("cannot encode %s: %w", title(object), err)
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(document)
	}
	return text.String(), nil
}
