package offline

import (
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/defaultplan/defaultplan/deploy/schema"
)

// reapplied is an object as kubectl apply updates one that it has never applied: what
// the manifest says is set, what it leaves out stays, and a null takes away.
func reapplied(kind *schema.Kind, old, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	now, err := old.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, old.GetName(), err)
	}
	wanted, err := manifest.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, old.GetName(), err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(nil, wanted, now)
	if err != nil {
		return nil, fmt.Errorf("cannot compare %s %q with what is stored: %w", kind.Kind, old.GetName(), err)
	}
	merged, err := jsonpatch.MergePatch(now, patch)
	if err != nil {
		return nil, fmt.Errorf("cannot patch %s %q: %w", kind.Kind, old.GetName(), err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(merged); err != nil {
		return nil, fmt.Errorf("cannot read %s %q: %w", kind.Kind, old.GetName(), err)
	}
	return object, nil
}
