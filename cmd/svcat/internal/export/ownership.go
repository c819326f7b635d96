package export

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// releasedBefore gives the new object the duty of one that is gone, unless that may be in another
// cluster than this one.
func (r *releaser) releasedBefore(ctx context.Context, exported, fresh client.Object) (moving.Result, string, error) {
	if !r.sure && r.passesOn(exported, fresh) {
		return moving.ReleasedBefore, "it cannot be seen whether this is the cluster of the file, so its deletion on the new side leaves it at the broker: " +
			"annotate it there with " + v1beta1.AnnotationDeprovisionAdopted + "=true if it is released", nil
	}
	return moving.ReleasedBefore, "", r.own(ctx, exported, fresh)
}

// own gives the new object the duty to remove what is at the broker when it is deleted, where the
// old one had it. What was said of that on the new side stays.
func (r *releaser) own(ctx context.Context, old, fresh client.Object) error {
	if !r.passesOn(old, fresh) || r.dryRun {
		return nil
	}
	before, _ := fresh.DeepCopyObject().(client.Object)
	annotations := fresh.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1beta1.AnnotationDeprovisionAdopted] = "true"
	fresh.SetAnnotations(annotations)
	return r.fresh.Patch(ctx, fresh, client.MergeFrom(before), fieldOwner)
}

// passesOn says that the new object is to get the duty.
func (r *releaser) passesOn(old, fresh client.Object) bool {
	_, said := fresh.GetAnnotations()[v1beta1.AnnotationDeprovisionAdopted]
	return owes(old) && !said
}

// owes says that the deletion of the old object would have removed what is at its broker.
func owes(old client.Object) bool {
	if old.GetAnnotations()[v1beta1.AnnotationDeprovisionAdopted] == "true" {
		return true
	}
	switch o := old.(type) {
	case *v1beta1.ServiceInstance:
		return o.Status.DeprovisionStatus == v1beta1.DeprovisionRequired
	case *v1beta1.ServiceBinding:
		return o.Status.UnbindStatus == v1beta1.UnbindRequired
	}
	return false
}
