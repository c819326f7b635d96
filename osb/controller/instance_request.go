package controller

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// An instanceRequest is what an instance sends to its broker.
type instanceRequest struct {
	instance *v1beta1.ServiceInstance
	catalog  catalog.Reader
	platform *platform.Profile
	reader   parameters.Reader

	// desired is what is asked for; nil: that is not known.
	desired    *lifecycle.Desired
	parameters parameters.Set
	origin     platform.Origin
	changes    lifecycle.Changes
}

// read reads the parameters; a problem says why they are incomplete.
func (q *instanceRequest) read(ctx context.Context) (problem *lifecycle.Problem, err error) {
	q.parameters, problem, err = q.reader.Read(ctx, q.instance, q.instance.Spec.Parameters, q.instance.Spec.ParametersFrom)
	return problem, err
}

// aim is the desired request to the broker, with the parameters that were read.
func (q *instanceRequest) aim(ctx context.Context, o *catalog.Offering, r *lifecycle.Record) (*lifecycle.Desired, error) {
	var err error
	if q.origin, err = q.platform.Origin(ctx, q.instance.Namespace, q.instance); err != nil {
		return nil, err
	}
	updatable, err := q.catalog.PlanUpdatable(ctx, o, q.instance.Namespace, r.Applied)
	if err != nil {
		return nil, err
	}
	applied, _ := v1beta1.ParseAppliedDefaults(q.instance.Annotations[v1beta1.AnnotationAppliedDefaults])
	return &lifecycle.Desired{
		Request: lifecycle.Request{
			BrokerTarget: o.Target, PlanName: o.PlanName, PlanRefName: o.PlanRefName, Cluster: o.Cluster,
			Parameters: q.parameters.Shown, ParameterChecksum: q.parameters.Checksum, ContextChecksum: q.origin.Checksum,
			MaintenanceVersion: o.MaintenanceVersion(), UpdateRequests: q.instance.Spec.UpdateRequests, User: q.instance.Spec.UserInfo,
		},
		PlanUpdatable: updatable, AllowContextUpdates: o.Class.AllowContextUpdates, Rule: applied.Rule,
	}, nil
}

// unlawful validates what is to be sent by the plan's schema.
func (q *instanceRequest) unlawful(ctx context.Context, o *catalog.Offering, thing *lifecycle.Resource) (*lifecycle.Problem, error) {
	has := thing.Record.Applied
	switch {
	case toAdopt(thing):
		return nil, nil
	case !thing.Record.Exists:
		return q.reader.Unlawful(ctx, &q.parameters, o.Plan.InstanceCreateParameterSchema)
	case has != nil && has.ParameterChecksum != q.parameters.Checksum:
		return q.reader.Unlawful(ctx, &q.parameters, o.Plan.InstanceUpdateParameterSchema)
	}
	return nil, nil
}

// call makes the one call of a decision.
func (q *instanceRequest) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	var reply lifecycle.CallResult
	r := &d.Record
	switch d.Step {
	case lifecycle.Provision:
		reply.Response, reply.Err = broker.Provision(ctx, osb.ProvisionRequest{
			InstanceID: r.ID, ServiceID: q.desired.ClassExternalID, PlanID: q.desired.PlanExternalID,
			Organization: q.origin.Organization, Space: q.origin.Space, Context: q.origin.Context,
			Parameters: q.parameters.Raw, MaintenanceVersion: q.desired.MaintenanceVersion, Identity: platform.IdentityOf(q.desired.User),
		})
	case lifecycle.Update:
		reply.Response, reply.Err = broker.Update(ctx, q.update(r))
	case lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Poll:
		q.follow(ctx, broker, d, &reply)
	case lifecycle.Fetch:
		id := r.ID
		if id == "" {
			id = q.instance.Spec.ExternalID
		}
		var fetched *osb.Instance
		fetched, reply.Err = broker.FetchInstance(ctx, osb.FetchRequest{
			InstanceID: id, ServiceID: q.desired.ClassExternalID, PlanID: q.desired.PlanExternalID,
		})
		if reply.Err == nil {
			reply.Found = &lifecycle.Found{
				Difference: q.differs(fetched), DashboardURL: fetched.DashboardURL, MaintenanceVersion: fetched.MaintenanceVersion,
			}
		}
	case lifecycle.Rest, lifecycle.Release:
	}
	return reply
}

// update says what changes, and what was before.
func (q *instanceRequest) update(r *lifecycle.Record) osb.UpdateRequest {
	before := r.Applied
	if before == nil { // the status was written without it
		before = &lifecycle.Request{}
	}
	request := osb.UpdateRequest{
		InstanceID: r.ID, ServiceID: q.desired.ClassExternalID, Context: q.origin.Context, Identity: platform.IdentityOf(q.desired.User),
		Previous: osb.PreviousValues{
			ServiceID: before.ClassExternalID, PlanID: before.PlanExternalID, MaintenanceVersion: before.MaintenanceVersion,
			Organization: q.origin.Organization, Space: q.origin.Space,
		},
	}
	if q.changes.Plan {
		request.PlanID = q.desired.PlanExternalID
	}
	if q.changes.Parameters {
		request.Parameters = q.parameters.Raw
		if request.Parameters == nil {
			request.Parameters = json.RawMessage("{}") // they were taken away
		}
	}
	if q.changes.Maintenance || q.changes.Plan {
		request.MaintenanceVersion = q.desired.MaintenanceVersion
	}
	return request
}

// errNothingRecorded prevents a call whose target is unknown.
var errNothingRecorded = errors.New("nothing is recorded of what its broker was sent")

// follow removes or polls what is recorded: with the plan as the broker knows it.
func (q *instanceRequest) follow(ctx context.Context, broker *osb.Client, d *lifecycle.Decision, reply *lifecycle.CallResult) {
	r := &d.Record
	target := atBroker(r)
	if target == nil {
		reply.Err = errNothingRecorded
		return
	}
	if d.Step == lifecycle.Poll {
		reply.Poll, reply.Err = broker.Poll(ctx, osb.PollRequest{
			InstanceID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID, Operation: r.Key,
		})
		return
	}
	request := osb.DeprovisionRequest{InstanceID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID}
	if d.Step == lifecycle.Deprovision { // no user asks for a mitigation
		request.Identity = platform.IdentityOf(q.instance.Spec.UserInfo)
	}
	reply.Response, reply.Err = broker.Deprovision(ctx, request)
}

// atBroker is an instance as its broker has it. After an update of unknown
// outcome that is the former or the new request, and a deprovision that names
// the wrong plan may be rejected: successive attempts alternate.
func atBroker(r *lifecycle.Record) *lifecycle.Request {
	if r.Operation == lifecycle.Deprovisioning && r.Applied != nil && r.InProgress != nil && r.Retries%2 == 1 {
		return r.InProgress
	}
	return r.Target()
}
