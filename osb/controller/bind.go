package controller

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A bindRequest is what a binding sends to its broker.
type bindRequest struct {
	binding  *v1beta1.ServiceBinding
	platform *platform.Profile
	reader   parameters.Reader

	// desired is what is asked for; nil: that is not known.
	desired    *lifecycle.Desired
	parameters parameters.Set
	origin     platform.Origin
	// predecessor is the binding in force, where the broker is to be told.
	predecessor string
}

// A bindResponse is what a broker gave, and what for.
type bindResponse struct {
	call    deposit.Call
	binding *osb.Binding
}

// read is the desired request to the broker, with the plan that the instance
// has there. Only what is to be sent is validated by the plan's schema.
func (q *bindRequest) read(ctx context.Context, to *bindTarget, sends bool) (desired *lifecycle.Desired, problem *lifecycle.Problem, err error) {
	q.parameters, problem, err = q.reader.Read(ctx, q.binding, q.binding.Spec.Parameters, q.binding.Spec.ParametersFrom)
	if problem == nil && err == nil && sends {
		problem, err = q.reader.Unlawful(ctx, &q.parameters, to.offering.Plan.ServiceBindingCreateParameterSchema)
	}
	if problem == nil && err == nil {
		desired, err = q.aim(ctx, to)
	}
	return desired, problem, err
}

// aim is the desired request with the parameters that were read.
func (q *bindRequest) aim(ctx context.Context, to *bindTarget) (*lifecycle.Desired, error) {
	var err error
	if q.origin, err = q.platform.Origin(ctx, q.binding.Namespace, to.instance); err != nil {
		return nil, err
	}
	return q.again(&lifecycle.Request{
		BrokerTarget: to.broker(), InstanceID: idOf(to.instance),
		Parameters: q.parameters.Shown, ParameterChecksum: q.parameters.Checksum, User: q.binding.Spec.UserInfo,
	}), nil
}

// again is a request that is desired as it is.
func (q *bindRequest) again(sent *lifecycle.Request) *lifecycle.Desired {
	applied, _ := v1beta1.ParseAppliedDefaults(q.binding.Annotations[v1beta1.AnnotationAppliedDefaults])
	q.desired = &lifecycle.Desired{Rule: applied.Rule, Request: *sent}
	return q.desired
}

// repeat is the desired request for lost credentials that replaced a predecessor; false:
// they did not. They are requested by the very request that created them: a broker would
// treat any other as a conflicting one for the same ID.
func (q *bindRequest) repeat(ctx context.Context, to *bindTarget) (*lifecycle.Desired, bool, error) {
	if _, _, took := lifecycle.Repeating(q.binding, lifecycle.Request{}); !took {
		return nil, false, nil
	}
	desired, err := q.aim(ctx, to)
	if err != nil {
		return nil, false, err
	}
	q.redact(ctx)
	desired.Request, q.predecessor, _ = lifecycle.Repeating(q.binding, desired.Request)
	return desired, true, nil
}

// redact reads the parameters, as far as they exist, to redact their values in
// what the broker of a binding that is removed or polled says.
func (q *bindRequest) redact(ctx context.Context) {
	if q.parameters.Redactor.Knows() {
		return
	}
	read, _, _ := q.reader.Read(ctx, q.binding, q.binding.Spec.Parameters, q.binding.Spec.ParametersFrom)
	q.parameters.Redactor = read.Redactor // which knows what could not be read
}

// call makes the one call of a decision. It returns what is to be kept; nil: nothing.
func (q *bindRequest) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) (reply lifecycle.CallResult, given *bindResponse) {
	r := &d.Record
	switch d.Step {
	case lifecycle.Provision:
		reply.Response, reply.Err = broker.Bind(ctx, osb.BindRequest{
			InstanceID: q.desired.InstanceID, BindingID: r.ID, ServiceID: q.desired.ClassExternalID, PlanID: q.desired.PlanExternalID,
			AppGUID: q.origin.Space, Context: q.origin.Context, Parameters: q.parameters.Raw, Identity: platform.IdentityOf(q.desired.User),
			Predecessor: q.predecessor,
		})
		if reply.Err == nil && !reply.Response.Async {
			first := d.First || !d.Again && reply.Response.Created
			given = &bindResponse{deposit.Call{ID: r.ID, First: first}, reply.Response.Binding}
		}
	case lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Poll:
		q.follow(ctx, broker, d, &reply)
	case lifecycle.Fetch:
		var fetched *osb.Binding
		fetched, reply.Err = broker.FetchBinding(ctx, osb.FetchRequest{
			InstanceID: q.desired.InstanceID, BindingID: r.ID, ServiceID: q.desired.ClassExternalID, PlanID: q.desired.PlanExternalID,
		})
		if reply.Err == nil {
			given = &bindResponse{deposit.Call{ID: r.ID, First: d.First}, fetched}
		}
	case lifecycle.Update, lifecycle.Rest, lifecycle.Release:
	}
	return reply, given
}

// follow removes or polls what is recorded.
func (q *bindRequest) follow(ctx context.Context, broker *osb.Client, d *lifecycle.Decision, reply *lifecycle.CallResult) {
	r := &d.Record
	target := r.Target()
	if target == nil {
		reply.Err = errNothingRecorded
		return
	}
	if d.Step == lifecycle.Poll {
		reply.Poll, reply.Err = broker.Poll(ctx, osb.PollRequest{
			InstanceID: target.InstanceID, BindingID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID, Operation: r.Key,
		})
		return
	}
	request := osb.UnbindRequest{InstanceID: target.InstanceID, BindingID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID}
	if d.Step == lifecycle.Deprovision { // no user asks for a mitigation
		request.Identity = platform.IdentityOf(q.binding.Spec.UserInfo)
	}
	reply.Response, reply.Err = broker.Unbind(ctx, request)
}
