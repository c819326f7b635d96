package lifecycle

import (
	"fmt"
	"strings"

	"github.com/defaultplan/defaultplan/osb"
)

// Reasons that no call gives.
const (
	reasonBlocked  = "DeprovisionBlockedByExistingCredentials"
	reasonHeld     = "BrokerUnavailable"
	reasonAuth     = "AuthFailed"
	reasonConflict = "ExternalIDConflict"
	reasonTimeout  = "AsyncOperationTimeout"
	reasonPoll     = "ErrorPollingLastOperation"
	reasonStore    = "ErrorInjectingBindResult"
	reasonAPI      = "ErrorCallingAPIServer"
	// ReasonPlanNotUpdatable is that of an instance that is to have another plan, which the one that it has forbids.
	ReasonPlanNotUpdatable = "PlanNotUpdatable"
	// ReasonAdopted is that of a resource that was at its broker before.
	ReasonAdopted = "Adopted"
	// ReasonAbandoned is that of a resource that was let go although something may be left
	// at its broker.
	ReasonAbandoned = "Abandoned"
)

// reasonFetch is the reason of a resource that could not be read at its broker. The retired catalog
// read bindings only.
func reasonFetch(kind Kind) string {
	if kind == Binding {
		return "FetchingBindingFailed"
	}
	return "FetchingFailed"
}

// emptyMessage begins what is said of a Secret that holds nothing; why, follows.
const emptyMessage = "the Secret is empty: "

const adoptedMessage = "it was at the broker already, and was taken over"

// A wording is what is said of a call, in the words of the retired catalog where it
// had some.
type wording struct {
	// verb is for messages: "provision".
	verb string
	// inFlight is the reason while a call is made, working while the broker works on
	// it, done when it went well, failed when the broker answered otherwise, and
	// erred when no answer came.
	inFlight, working, done, failed, erred string
	workMessage, doneMessage               string
}

var wordings = map[Kind]map[Step]wording{
	Instance: {
		Provision: {
			verb: "provision", inFlight: "ProvisionRequestInFlight", working: "Provisioning", done: "ProvisionedSuccessfully",
			failed: "ProvisionCallFailed", erred: "ErrorCallingProvision",
			workMessage: "the instance is being provisioned", doneMessage: "the instance was provisioned",
		},
		Update: {
			verb: "update", inFlight: "UpdateInstanceRequestInFlight", working: "UpdatingInstance", done: "InstanceUpdatedSuccessfully",
			failed: "UpdateInstanceCallFailed", erred: "ErrorCallingUpdateInstance",
			workMessage: "the instance is being updated", doneMessage: "the instance was updated",
		},
		Deprovision: {
			verb: "deprovision", inFlight: "DeprovisionRequestInFlight", working: "Deprovisioning", done: "DeprovisionedSuccessfully",
			failed: "DeprovisionCallFailed", erred: "DeprovisionCallFailed",
			workMessage: "the instance is being deprovisioned", doneMessage: "the instance was deprovisioned",
		},
		MitigateOrphan: {
			verb: "deprovision", inFlight: "StartingInstanceOrphanMitigation", working: "StartingInstanceOrphanMitigation",
			done: "OrphanMitigationSuccessful", failed: "OrphanMitigationFailed", erred: "OrphanMitigationFailed",
			workMessage: "what an earlier try may have left at the broker is being removed",
			doneMessage: "what an earlier try may have left at the broker was removed",
		},
	},
	Binding: {
		Provision: {
			verb: "bind", inFlight: "BindingRequestInFlight", working: "Binding", done: "InjectedBindResult",
			failed: "BindCallFailed", erred: "ErrorCallingBind",
			workMessage: "the credentials are being made", doneMessage: "the credentials were written to the Secret",
		},
		Deprovision: {
			verb: "unbind", inFlight: "UnbindingRequestInFlight", working: "Unbinding", done: "UnboundSuccessfully",
			failed: "UnbindCallFailed", erred: "UnbindCallFailed",
			workMessage: "the credentials are being removed", doneMessage: "the credentials were removed",
		},
		MitigateOrphan: {
			verb: "unbind", inFlight: "ServiceBindingNeedsOrphanMitigation", working: "ServiceBindingNeedsOrphanMitigation",
			done: "OrphanMitigationSuccessful", failed: "OrphanMitigationFailed", erred: "OrphanMitigationFailed",
			workMessage: "what an earlier try may have left at the broker is being removed",
			doneMessage: "what an earlier try may have left at the broker was removed",
		},
	},
}

func words(kind Kind, step Step) wording { return wordings[kind][step] }

// reason is why a call failed, in one word.
func (w wording) reason(e *osb.Error) string {
	switch {
	case e.Kind == osb.Auth:
		return reasonAuth
	case e.StatusCode == 0:
		return w.erred
	}
	return w.failed
}

// blockedByBindings names at most ten of them.
func blockedByBindings(names []string) string {
	const most = 10
	listed, more := names, ""
	if len(names) > most {
		listed, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("All associated ServiceBindings must be removed before this ServiceInstance can be deleted: %s%s", strings.Join(listed, ", "), more)
}
