package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// call makes the one call of a decision.
func (s *instanceResource) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	var reply lifecycle.CallResult
	r := &d.Record
	switch d.Step {
	case lifecycle.Provision:
		reply.Response, reply.Err = broker.Provision(ctx, osb.ProvisionRequest{
			InstanceID: r.ID, ServiceID: s.ask.ClassExternalID, PlanID: s.ask.PlanExternalID,
			Organization: s.origin.Organization, Space: s.origin.Space, Context: s.origin.Context,
			Parameters: s.parameters.Raw, MaintenanceVersion: s.ask.MaintenanceVersion, Identity: platform.IdentityOf(s.ask.User),
		})
	case lifecycle.Update:
		reply.Response, reply.Err = broker.Update(ctx, s.update(r))
	case lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Poll:
		s.follow(ctx, broker, d, &reply)
	case lifecycle.Fetch:
		id := r.ID
		if id == "" {
			id = s.instance.Spec.ExternalID
		}
		var fetched *osb.Instance
		fetched, reply.Err = broker.FetchInstance(ctx, osb.FetchRequest{
			InstanceID: id, ServiceID: s.ask.ClassExternalID, PlanID: s.ask.PlanExternalID,
		})
		if reply.Err == nil {
			reply.Found = &lifecycle.Found{
				Difference: s.differs(fetched), DashboardURL: fetched.DashboardURL, MaintenanceVersion: fetched.MaintenanceVersion,
			}
		}
	case lifecycle.Rest, lifecycle.Release:
	}
	return reply
}

// update says what changes, and what was before.
func (s *instanceResource) update(r *lifecycle.Record) osb.UpdateRequest {
	before := r.Applied
	if before == nil { // the status was written without it
		before = &lifecycle.Request{}
	}
	request := osb.UpdateRequest{
		InstanceID: r.ID, ServiceID: s.ask.ClassExternalID, Context: s.origin.Context, Identity: platform.IdentityOf(s.ask.User),
		Previous: osb.PreviousValues{
			ServiceID: before.ClassExternalID, PlanID: before.PlanExternalID, MaintenanceVersion: before.MaintenanceVersion,
			Organization: s.origin.Organization, Space: s.origin.Space,
		},
	}
	if s.changes.Plan {
		request.PlanID = s.ask.PlanExternalID
	}
	if s.changes.Parameters {
		request.Parameters = s.parameters.Raw
		if request.Parameters == nil {
			request.Parameters = json.RawMessage("{}") // they were taken away
		}
	}
	if s.changes.Maintenance || s.changes.Plan {
		request.MaintenanceVersion = s.ask.MaintenanceVersion
	}
	return request
}

// errNothingRecorded prevents a call whose target is unknown.
var errNothingRecorded = errors.New("nothing is recorded of what its broker was sent")

// follow removes or polls what is recorded: with the plan as the broker knows it.
func (s *instanceResource) follow(ctx context.Context, broker *osb.Client, d *lifecycle.Decision, reply *lifecycle.CallResult) {
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
		request.Identity = platform.IdentityOf(s.instance.Spec.UserInfo)
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

// equalJSON compares the meaning of JSON: 1 equals 1.0, because brokers are
// written in many languages.
func equalJSON(a, b any) bool {
	x, errX := plain(a)
	y, errY := plain(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// plain is a value as encoding/json decodes it into an any.
func plain(value any) (read any, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a parameter: %w", err)
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("cannot decode a parameter: %w", err)
	}
	return read, nil
}
