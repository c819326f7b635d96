package relist

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// statusRemoved is the field that marks what a catalog no longer lists.
const statusRemoved = "removedFromBrokerCatalog"

// maxConflicts is how often suggestions are applied again with fewer fields. A
// manager that takes one meanwhile is found at the next attempt.
const maxConflicts = 3

// document is an object for apply, with only the given fields. The UID prevents
// the apply from creating an object that is gone.
func document(kind Kind, at client.ObjectKey, uid types.UID) (whole, metadata map[string]any) {
	metadata = map[string]any{"name": at.Name}
	if at.Namespace != "" {
		metadata["namespace"] = at.Namespace
	}
	if uid != "" {
		metadata["uid"] = string(uid)
	}
	return map[string]any{"apiVersion": api.GroupVersion.String(), "kind": string(kind), inMetadata: metadata}, metadata
}

// writeFacts applies the facts of an object, unless they are stored, and
// returns the object.
func (r *run) writeFacts(ctx context.Context, live *found, object *Object) (*found, outcome) {
	uid := types.UID("")
	if live != nil {
		if factsStand(r.broker, live, object) {
			return live, stands
		}
		uid = live.GetUID()
	}
	written, err := r.patch(ctx, object, r.facts(object, uid), client.FieldOwner(api.FieldOwnerCatalog), client.ForceOwnership)
	switch {
	case err == nil:
		return written, stands
	case apierrors.IsInvalid(err), apierrors.IsRequestEntityTooLargeError(err):
		r.skip(object, "it is refused: "+cut(err.Error(), maxReason))
		return nil, wasSkipped
	default:
		r.fail(fmt.Errorf("cannot apply %s %q: %w", object.Kind, object.Name, err))
		return nil, hasFailed
	}
}

// seenAtOnce says whether an object can be chosen as soon as it exists: a
// class, or a plan whose class exists already.
func (r *run) seenAtOnce(object *Object) bool {
	class, _ := kindsOf(object.Namespace)
	return object.Class == "" || r.shelf.objects[class][object.Class] != nil
}

// makeWhole creates an object with its suggestions in one write: an instance
// that is provisioned between two writes would never get the defaults.
// Afterwards the fields are handed over to their manager. Nil: it could not be
// created so, and needs two writes.
func (r *run) makeWhole(ctx context.Context, object *Object) *found {
	whole := r.facts(object, "")
	for i := range object.Suggestions {
		merge.Set(whole, object.Suggestions[i].At, object.Suggestions[i].Value)
	}
	live, err := r.patch(ctx, object, whole, client.FieldOwner(api.FieldOwnerCatalog), client.ForceOwnership)
	if err != nil {
		return nil
	}
	if err := r.suggest(ctx, live, object, proposal{fields: object.Suggestions, needed: true}); err != nil {
		r.fail(fmt.Errorf("cannot apply what is suggested for %s %q: %w", object.Kind, object.Name, err))
		return live
	}
	if released, how := r.writeFacts(ctx, live, object); how == stands {
		return released
	}
	return live
}

// facts is the document of an object's facts.
func (r *run) facts(object *Object, uid types.UID) map[string]any {
	whole, metadata := document(object.Kind, client.ObjectKey{Namespace: object.Namespace, Name: object.Name}, uid)
	metadata[inAnnotations] = factAnnotations(object)
	metadata[inLabels] = lookupLabels(r.broker, object)
	metadata["ownerReferences"] = []any{map[string]any{
		"apiVersion": api.GroupVersion.String(), "kind": r.broker.kind(), "name": r.broker.Name, "uid": string(r.broker.UID),
		"controller": true, "blockOwnerDeletion": false,
	}}
	whole[inSpec] = maps.Clone(object.Facts)
	return whole
}

// writeSuggestions applies the suggestions of an object that no other manager
// owns, if that changes anything.
func (r *run) writeSuggestions(ctx context.Context, live *found, object *Object) outcome {
	p := propose(live, object)
	if !p.needed {
		return stands
	}
	err := r.suggest(ctx, live, object, p)
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		// Admission may deny a suggestion, such as a type that would change a
		// default. The other suggestions are applied nevertheless.
		r.skip(object, r.refused(err, live, p))
		if p = p.withType(live); len(p.fields) > 0 {
			err = r.suggest(ctx, live, object, p)
		}
	}
	if err == nil || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		return stands
	}
	r.fail(fmt.Errorf("cannot apply what is suggested for %s %q: %w", object.Kind, object.Name, err))
	return hasFailed
}

// refused says why suggestions were denied. For a type that would make its plan
// a default, admission's remedy is to grant a permission, which a broker must
// not have.
func (r *run) refused(err error, live *found, p proposal) string {
	suggested := p.typeIn()
	if suggested == "" || live.GetAnnotations()[api.AnnotationDefaultPlan] != yes || !ofType(err) {
		return "what it suggests is refused: " + cut(err.Error(), maxReason)
	}
	place := api.PerScope(r.broker.Namespace, "--cluster", "-n "+r.broker.Namespace)
	return fmt.Sprintf("it is annotated as the default, and its type would make it that of %q, which a broker may not decide: take the annotation off, `svcat sync broker %s %s`, and set it again",
		suggested, r.broker.Name, place)
}

// suggest applies suggestions, without those that conflicts name.
func (r *run) suggest(ctx context.Context, live *found, object *Object, p proposal) error {
	for tried := 0; ; tried++ {
		whole, _ := document(object.Kind, client.ObjectKeyFromObject(live), live.GetUID())
		for i := range p.fields {
			merge.Set(whole, p.fields[i].At, p.fields[i].Value)
		}
		_, err := r.patch(ctx, object, whole, client.FieldOwner(api.FieldOwnerSuggestions))
		if !apierrors.IsConflict(err) || tried == maxConflicts {
			return err
		}
		fewer, some := p.without(err)
		if !some {
			return err
		}
		p = fewer
	}
}

func (r *run) patch(ctx context.Context, object *Object, whole map[string]any, options ...client.PatchOption) (*found, error) {
	written := kinds[object.Kind].newObject()
	written.SetNamespace(object.Namespace)
	written.SetName(object.Name)
	err := r.Client.Patch(ctx, written, client.RawPatch(types.ApplyPatchType, applied(whole)), options...)
	if err != nil {
		return nil, err
	}
	r.wrote()
	return see(written), nil
}

// setStatus writes fields of an object's status, if it is still the same object.
func (r *run) setStatus(ctx context.Context, live *found, fields map[string]any) outcome {
	err := r.Engine.setStatus(ctx, live, fields)
	if err != nil {
		r.fail(err)
		return hasFailed
	}
	r.wrote()
	return stands
}

func (e *Engine) setStatus(ctx context.Context, live *found, fields map[string]any) error {
	patch := applied(map[string]any{
		inMetadata: map[string]any{"uid": string(live.GetUID())}, "status": fields,
	})
	object := kinds[live.kind].newObject()
	object.SetNamespace(live.GetNamespace())
	object.SetName(live.GetName())
	err := e.Client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(api.FieldOwnerController))
	if err != nil {
		names := slices.Sorted(maps.Keys(fields))
		return fmt.Errorf("cannot set %v of the status of %s %q: %w", names, live.kind, live.GetName(), err)
	}
	return nil
}
