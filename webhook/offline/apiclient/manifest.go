package apiclient

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/webhook/offline"
)

// lastApplied is where kubectl apply keeps what it applied before.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ApplyManifest creates or updates an object as kubectl apply does: what the manifest says
// is set, what it said before and leaves out now is taken away, and all else stays.
func (c *Client) ApplyManifest(ctx context.Context, manifest *unstructured.Unstructured) error {
	kind, live, err := c.cluster.Stored(manifest.GroupVersionKind(), client.ObjectKeyFromObject(manifest))
	if err != nil {
		return err
	}
	owner, err := ownerOf(kind)
	if err != nil {
		return err
	}
	w := &write{Client: c, kind: kind, owner: owner, live: live, manager: c.manager, into: &unstructured.Unstructured{Object: map[string]any{}}}
	w.into.SetName(manifest.GetName())
	if live == nil {
		return w.create(ctx, owner.updated(nil, manifest.DeepCopy(), w.manager, false))
	}
	wanted, err := offline.Reapplied(live, manifest, []byte(live.GetAnnotations()[lastApplied]))
	if err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", kind.Kind, manifest.GetName(), err)
	}
	return w.update(ctx, owner.updated(live, wanted, w.manager, false))
}
