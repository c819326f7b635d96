package instance

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/externalid"
)

// adopts says whether an instance is only compared with what its broker has.
// Defaults apply to new instances only, and parameters that are not sent are not
// validated. The instance of a claim is always a new one.
func adopts(w *Write) bool {
	return w.Req.Kind.Kind == "ServiceInstance" && externalid.Marked(&w.New.Metadata)
}

// unmarked says whether an instance that was not adopted yet is no longer to be: its parameters,
// which were not validated, would be sent.
func unmarked(w *Write) bool {
	return w.Old != nil && !w.New.Deleting() && externalid.Marked(&w.Old.Metadata) && !adopts(w) && w.New.Status.ProvisionStatus != v1beta1.Provisioned
}

// markOf is what a write says of an adoption.
func markOf(w *Write) *externalid.Mark {
	mark := &externalid.Mark{Req: w.Req, New: &w.New.Metadata, Id: w.New.Spec.ExternalID}
	if w.Old != nil {
		mark.Old = &w.Old.Metadata
	}
	return mark
}
