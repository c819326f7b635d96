package offline

import (
	"context"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/defaultplan/defaultplan/deploy/schema"
)

// reapply updates an object as kubectl apply does that has never applied it: what the
// manifest says is set, what it leaves out stays, and a null takes away.
func (c *Cluster) reapply(ctx context.Context, kind *schema.Kind, old, manifest *unstructured.Unstructured) (Result, error) {
	now, err := old.MarshalJSON()
	if err != nil {
		return Result{}, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, old.GetName(), err)
	}
	wanted, err := manifest.MarshalJSON()
	if err != nil {
		return Result{}, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, old.GetName(), err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(nil, wanted, now)
	if err != nil {
		return Result{}, fmt.Errorf("cannot compare %s %q with what is stored: %w", kind.Kind, old.GetName(), err)
	}
	merged, err := jsonpatch.MergePatch(now, patch)
	if err != nil {
		return Result{}, fmt.Errorf("cannot patch %s %q: %w", kind.Kind, old.GetName(), err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(merged); err != nil {
		return Result{}, fmt.Errorf("cannot read %s %q: %w", kind.Kind, old.GetName(), err)
	}
	return c.write(ctx, &write{kind: kind, object: object, old: old, user: admin})
}
