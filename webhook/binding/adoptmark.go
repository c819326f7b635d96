package binding

import "github.com/defaultplan/defaultplan/webhook/externalid"

// markOf is what a write says of an adoption.
func markOf(w *write) *externalid.Mark {
	mark := &externalid.Mark{Req: w.Req, New: &w.New.Metadata, Id: w.New.Spec.ExternalID, Dedicated: w.New.Spec.InstanceRef == nil}
	if w.Old != nil {
		mark.Old = &w.Old.Metadata
	}
	return mark
}

// adopts says whether a binding is only compared with what its broker has: its parameters
// are not sent, and not validated.
func adopts(w *write) bool { return externalid.Marked(&w.New.Metadata) }

// unmarked says whether a decided binding that was not adopted yet is no longer to be: its
// parameters, which were not validated, would be sent.
func unmarked(w *write) bool {
	return w.Old != nil && !w.New.Deleting() && externalid.Marked(&w.Old.Metadata) && !adopts(w) && w.New.Spec.Decided() && !w.Old.Status.started()
}
