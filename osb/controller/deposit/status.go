package deposit

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Reasons of conditions.
const (
	// ReasonKeysNotFound is why a binding is not transformed as its spec says.
	ReasonKeysNotFound = "KeysNotFound"
	// ReasonConfigMapLost is why a binding is not published.
	ReasonConfigMapLost = "ConfigMapLost"
)

// What a reconcile wrote in addition to the Secret, for status; nil fields are
// unchanged.
type written struct {
	// published says whether there is a ConfigMap, and unpublished that there was one which
	// cannot be written again.
	published, unpublished *bool
	// missing are the keys that transforms did not find; nil: nothing was transformed.
	missing *[]string
	// emptyBecause says why the Secret that was written holds nothing; empty: it holds something,
	// or none was written.
	emptyBecause string
	// deposited says that credentials were stored.
	deposited bool
	// result is what status says of the endpoints; nil: what it says already.
	result *endpoints.Result
}

// Tell writes into status all that the binding created.
func (d *Deposit) Tell(status *v1beta1.ServiceBindingStatus) {
	status.Secrets = nil
	if status.Binding != nil {
		status.Secrets = []string{status.Binding.Name}
	}
	if p := d.written.published; p != nil {
		status.ConfigMaps = nil
		if *p {
			status.ConfigMaps = []string{d.name()}
		}
	}
	d.tellUnpublished(status)
	d.tellMissing(status)
	if j := d.written.result; j != nil {
		j.Tell(status, d.binding.Generation)
	}
}

// Confirm is for credentials that are as they were: status says of the endpoints what it did.
func (d *Deposit) Confirm() { d.written.result = d.places.Endpoints.Again(d.binding) }

// tellUnpublished writes into status whether a ConfigMap is lost that cannot be
// written again.
func (d *Deposit) tellUnpublished(status *v1beta1.ServiceBindingStatus) {
	w := &d.written
	switch {
	case w.unpublished != nil && *w.unpublished && w.published == nil:
		status.Conditions = v1beta1.SetCondition(status.Conditions, v1beta1.Condition{
			Type: v1beta1.ConditionPublished, Status: v1beta1.ConditionFalse, Reason: ReasonConfigMapLost,
			Message: fmt.Sprintf("the ConfigMap %q is gone, or another's, and the broker does not give the credentials again; "+
				"new ones bring it back: raise spec.rotation.requests", d.name()),
		}, d.binding.Generation, metav1.Time{Time: d.began}.Rfc3339Copy())
	case w.unpublished != nil || w.published != nil:
		if _, has := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionPublished); has {
			status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionPublished)
		}
	}
}

// tellMissing writes into status which keys the transforms did not find. It
// stays until other credentials are written, because no other reconcile knows the
// keys.
func (d *Deposit) tellMissing(status *v1beta1.ServiceBindingStatus) {
	missing := d.written.missing
	switch {
	case missing == nil:
	case len(*missing) == 0:
		status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionTransformed)
	default:
		status.Conditions = v1beta1.SetCondition(status.Conditions, v1beta1.Condition{
			Type: v1beta1.ConditionTransformed, Status: v1beta1.ConditionFalse, Reason: ReasonKeysNotFound, Message: notFound(*missing),
		}, d.binding.Generation, metav1.Time{Time: d.began}.Rfc3339Copy())
	}
}

// Events are those of keys that the transforms did not find, and of a Service that
// was asked for and is not written.
func (d *Deposit) Events() []lifecycle.Event {
	var all []lifecycle.Event
	if missing := d.written.missing; missing != nil && len(*missing) > 0 {
		all = append(all, lifecycle.Event{Warning: true, Reason: ReasonKeysNotFound, Message: notFound(*missing)})
	}
	if !d.written.deposited { // it was said when the credentials were stored
		return all
	}
	if reason, message, is := d.written.result.Missed(&d.binding.Spec); is {
		all = append(all, lifecycle.Event{Warning: true, Reason: reason, Message: message})
	}
	return all
}

// notFound names keys that transforms did not find, as many as an event can hold.
func notFound(keys []string) string {
	const most = 800 // bytes; a key has less
	shown, size := 0, 0
	for shown < len(keys) && size+len(keys[shown]) <= most {
		size += len(keys[shown]) + len(", ")
		shown++
	}
	named := strings.Join(keys[:shown], ", ")
	if more := len(keys) - shown; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return "the credentials have no such key, so these did nothing: " + named
}
