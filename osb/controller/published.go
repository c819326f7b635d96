package controller

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// reasonKeysNotFound is why a binding is not transformed as its spec says.
const reasonKeysNotFound = "KeysNotFound"

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

// tell writes into status all that the binding created.
func (s *bindingResource) tell(status *v1beta1.ServiceBindingStatus) {
	status.Secrets = nil
	if status.Binding != nil {
		status.Secrets = []string{status.Binding.Name}
	}
	if p := s.written.published; p != nil {
		status.ConfigMaps = nil
		if *p {
			status.ConfigMaps = []string{credentials.SecretName(s.binding)}
		}
	}
	s.tellUnpublished(status)
	s.tellMissing(status)
	if j := s.written.result; j != nil {
		j.Tell(status, s.binding.Generation)
	}
}

// deposit writes what a broker gave: the Secret and the ConfigMap, without which nothing is
// stored. The endpoints go to status, of which another reconciler makes the Service.
func (s *bindingResource) deposit(ctx context.Context, given *osb.Binding) error {
	of := s.provenance()
	found, refusal := endpoints.Discover(&s.binding.Spec, given)
	of.Metadata = s.holdingOf(given)
	of.Metadata.ToldInStatus = refusal != nil || len(found.Endpoints) > 0
	wrote, err := s.secrets.Write(ctx, s.binding, of, given)
	if err != nil {
		return err
	}
	s.issued = of.Metadata.State(s.binding)
	s.written.published, s.written.missing, s.written.emptyBecause = &wrote.Published, &wrote.Missing, wrote.EmptyBecause
	s.written.result, s.written.deposited = s.endpoints.Of(s.binding, found, refusal), true
	return nil
}

// tellMissing writes into status which keys the transforms did not find. It
// stays until other credentials are written, because no other reconcile knows the
// keys.
func (s *bindingResource) tellMissing(status *v1beta1.ServiceBindingStatus) {
	missing := s.written.missing
	switch {
	case missing == nil:
	case len(*missing) == 0:
		status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionTransformed)
	default:
		status.Conditions = v1beta1.SetCondition(status.Conditions, v1beta1.Condition{
			Type: v1beta1.ConditionTransformed, Status: v1beta1.ConditionFalse, Reason: reasonKeysNotFound, Message: notFound(*missing),
		}, s.binding.Generation, metav1.Time{Time: s.now}.Rfc3339Copy())
	}
}

// besides are the events of keys that the transforms did not find, and of a Service that
// was asked for and is not written.
func (s *bindingResource) besides() []lifecycle.Event {
	var all []lifecycle.Event
	if missing := s.written.missing; missing != nil && len(*missing) > 0 {
		all = append(all, lifecycle.Event{Warning: true, Reason: reasonKeysNotFound, Message: notFound(*missing)})
	}
	if !s.written.deposited { // it was said when the credentials were stored
		return all
	}
	if reason, message, is := s.written.result.Missed(&s.binding.Spec); is {
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

// provenance is what the credentials are of, as far as it is known.
func (s *bindingResource) provenance() credentials.Origin {
	of := credentials.Origin{ServiceType: s.serviceType()}
	if s.offering != nil && s.offering.Class != nil {
		of.Class = s.offering.Class.ExternalName
	}
	return of
}

// unwrite removes what holds credentials. The Service goes once status has no endpoints.
func (s *bindingResource) unwrite(ctx context.Context) error {
	if err := s.secrets.RemoveAll(ctx, s.binding); err != nil {
		return err
	}
	s.written = written{published: new(false), missing: new([]string), result: s.endpoints.None(s.binding)}
	return nil
}

// unpublishable says, before a bind, whether the ConfigMap belongs to another
// object.
func (s *bindingResource) unpublishable(ctx context.Context) (*lifecycle.Problem, error) {
	if !credentials.Publishes(s.binding) {
		return nil, nil
	}
	_, state, err := s.secrets.Find(ctx, s.binding, owned.ConfigMap, credentials.SecretName(s.binding))
	if err != nil || state != owned.Foreign {
		return nil, err
	}
	return &lifecycle.Problem{Reason: credentials.ReasonNotStored, Waits: true, Message: fmt.Sprintf(
		"there is a ConfigMap %q that is not of this binding; it is left as it is: remove it, or make a binding with another secretName", credentials.SecretName(s.binding))}, nil
}
