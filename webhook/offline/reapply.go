package offline

import (
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
)

// Reapplied is a stored object as kubectl apply updates it: what the manifest says is set,
// what it leaves out stays unless the last one, empty for none, had it, and a null takes
// away.
func Reapplied(old, manifest *unstructured.Unstructured, last []byte) (*unstructured.Unstructured, error) {
	kind := old.GroupVersionKind()
	now, err := old.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, old.GetName(), err)
	}
	wanted, err := manifest.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, old.GetName(), err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, wanted, now)
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
