package diff

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
)

// An applier asks the API server what it would store of a manifest.
type applier struct {
	// client writes in dry runs, and has unknown fields refused.
	client client.Client
	// serverSide says that the manifest is applied by the API server; manager is who it is applied
	// for, and force takes fields of others over.
	serverSide, force bool
	manager           string
}

func (a *applier) validate() error {
	switch {
	case a.force && !a.serverSide:
		return cli.Usagef("--force-conflicts goes with --server-side only: add that, or leave it out")
	case a.manager == "":
		return cli.Usagef("--field-manager is empty; give a name, such as kubectl")
	}
	return nil
}

// apply returns the object as it is stored, nil where there is none, and as it would be.
func (a *applier) apply(ctx context.Context, manifest *unstructured.Unstructured) (stored, merged *unstructured.Unstructured, err error) {
	stored, err = a.read(ctx, manifest)
	switch {
	case err != nil:
		return nil, nil, err
	case a.serverSide:
		merged, err = a.onServer(ctx, manifest)
	case stored == nil:
		merged = manifest.DeepCopy()
		// kubectl apply creates without the nulls, which would take nothing away later.
		dropNulls(merged.Object)
		err = a.client.Create(ctx, merged)
	default:
		merged, err = a.patched(ctx, stored, manifest)
	}
	return stored, merged, err
}

func (a *applier) read(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(manifest.GroupVersionKind())
	err := a.client.Get(ctx, client.ObjectKeyFromObject(manifest), stored)
	if apierrors.IsNotFound(err) && !remedy.IsNotInstalled(err) {
		return nil, nil
	}
	return stored, err
}

func (a *applier) onServer(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := manifest.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode the manifest: %w", err)
	}
	options := []client.PatchOption{client.FieldOwner(a.manager)}
	if a.force {
		options = append(options, client.ForceOwnership)
	}
	merged := manifest.DeepCopy()
	return merged, a.client.Patch(ctx, merged, client.RawPatch(types.ApplyPatchType, text), options...)
}

// patched is the stored object with the patch that kubectl apply makes of what it applied last,
// what it applies now, and what is stored. Where that is nothing, nothing is sent.
func (a *applier) patched(ctx context.Context, stored, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	current, err := stored.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode the stored object: %w", err)
	}
	modified, err := manifest.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode the manifest: %w", err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(lastApplied(stored), modified, current,
		mergepatch.RequireKeyUnchanged("apiVersion"), mergepatch.RequireKeyUnchanged("kind"), mergepatch.RequireMetadataKeyUnchanged("name"))
	if err != nil {
		return nil, fmt.Errorf("cannot compare the manifest with what is stored: %w", err)
	}
	merged := stored.DeepCopy()
	if string(patch) == "{}" {
		return merged, nil
	}
	return merged, a.client.Patch(ctx, merged, client.RawPatch(types.MergePatchType, patch))
}

// lastApplied is what kubectl apply was given last; nil if it never was, or if what is recorded
// cannot be read.
func lastApplied(stored *unstructured.Unstructured) []byte {
	text := []byte(stored.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	if !json.Valid(text) {
		return nil
	}
	return text
}

// dropNulls takes the nulls out of objects, also of those in lists.
func dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil {
				delete(v, key)
				continue
			}
			dropNulls(inner)
		}
	case []any:
		for _, inner := range v {
			dropNulls(inner)
		}
	}
}
