package describe

import (
	"io"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// writeCredentials writes how old the credentials are, and how their replacement goes;
// nothing where they do not expire and nothing goes on.
func writeCredentials(w io.Writer, binding *v1beta1.ServiceBinding) error {
	known, other := binding.Status.Credentials, binding.Status.Rotation
	if other == nil && (known == nil || known.ExpiresAt == nil && known.RenewBefore == nil) {
		return nil
	}
	var list printer.Pairs
	if known != nil {
		list.AddSet("Issued:", moment(known.IssuedAt))
		list.AddSet("Renew Before:", moment(known.RenewBefore))
		list.AddSet("Expire:", moment(known.ExpiresAt))
	}
	if other != nil {
		addRotation(&list, other)
	}
	return writeList(w, "Credentials", &list)
}

func addRotation(list *printer.Pairs, other *v1beta1.BindingRotation) {
	if other.Role == v1beta1.RotationPredecessor {
		list.AddSet("Former External ID:", other.ExternalID)
		list.AddSet("Former Valid Until:", moment(other.RemoveAfter))
	} else {
		list.AddSet("New External ID:", other.ExternalID)
	}
	list.AddSet("Rotation:", other.Message)
	list.AddSet("Next Retry:", moment(other.NextRetry))
}
