package osb

import (
	"context"
	"encoding/json"
	"net/http"
)

// The bodies of the requests about instances, by the names of the specification.
type (
	provisionBody struct {
		ServiceID    string          `json:"service_id"`
		PlanID       string          `json:"plan_id"`
		Organization string          `json:"organization_guid"`
		Space        string          `json:"space_guid"`
		Context      map[string]any  `json:"context,omitempty"`
		Parameters   json.RawMessage `json:"parameters,omitempty"`
		Maintenance  *version        `json:"maintenance_info,omitempty"`
	}
	updateBody struct {
		ServiceID   string          `json:"service_id"`
		PlanID      string          `json:"plan_id,omitempty"`
		Context     map[string]any  `json:"context,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Maintenance *version        `json:"maintenance_info,omitempty"`
		Previous    *previousBody   `json:"previous_values,omitempty"`
	}
	previousBody struct {
		ServiceID    string   `json:"service_id,omitempty"`
		PlanID       string   `json:"plan_id,omitempty"`
		Organization string   `json:"organization_id,omitempty"`
		Space        string   `json:"space_id,omitempty"`
		Maintenance  *version `json:"maintenance_info,omitempty"`
	}
)

// The statuses that mean success, by request.
var (
	created = []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}
	changed = []int{http.StatusOK, http.StatusAccepted}
	fetched = []int{http.StatusOK}
)

// Provision asks the broker for an instance ("Provisioning"). A 200 says that it
// was there already, the same; an Async response is followed by Poll.
func (c *Client) Provision(ctx context.Context, r ProvisionRequest) (*Response, error) {
	parameters := given(r.Parameters)
	return send(ctx, c.broker, call{
		operation: "provision", method: http.MethodPut, path: instancePath(r.InstanceID), query: async(),
		needs: []need{
			{"instance ID", r.InstanceID}, {"service ID", r.ServiceID}, {"plan ID", r.PlanID},
			{"organization", r.Organization}, {"space", r.Space},
		},
		body: provisionBody{
			ServiceID: r.ServiceID, PlanID: r.PlanID, Organization: r.Organization, Space: r.Space,
			Context: r.Context, Parameters: parameters, Maintenance: maintenance(r.MaintenanceVersion),
		},
		parameters: parameters, identity: r.Identity, good: created, absent: NotFound,
	}, (*httpResponse).response)
}

// Update asks the broker to change an instance ("Updating a Service Instance"). What
// the request leaves empty stays as it is.
func (c *Client) Update(ctx context.Context, r UpdateRequest) (*Response, error) {
	parameters := given(r.Parameters)
	return send(ctx, c.broker, call{
		operation: "update", method: http.MethodPatch, path: instancePath(r.InstanceID), query: async(),
		needs: []need{{"instance ID", r.InstanceID}, {"service ID", r.ServiceID}},
		body: updateBody{
			ServiceID: r.ServiceID, PlanID: r.PlanID, Context: r.Context, Parameters: parameters,
			Maintenance: maintenance(r.MaintenanceVersion), Previous: r.Previous.body(),
		},
		parameters: parameters, identity: r.Identity, good: changed, absent: NotFound,
	}, (*httpResponse).response)
}

// body is nil where nothing is known.
func (p PreviousValues) body() *previousBody {
	if p == (PreviousValues{}) {
		return nil
	}
	return &previousBody{
		ServiceID: p.ServiceID, PlanID: p.PlanID, Organization: p.Organization, Space: p.Space,
		Maintenance: maintenance(p.MaintenanceVersion),
	}
}

// Deprovision asks the broker to delete an instance ("Deprovisioning"). That there
// is none is the kind Gone, for the caller to take as the success that it is.
func (c *Client) Deprovision(ctx context.Context, r DeprovisionRequest) (*Response, error) {
	return send(ctx, c.broker, call{
		operation: "deprovision", method: http.MethodDelete, path: instancePath(r.InstanceID),
		query:    async().with("service_id", r.ServiceID).with("plan_id", r.PlanID),
		needs:    []need{{"instance ID", r.InstanceID}, {"service ID", r.ServiceID}, {"plan ID", r.PlanID}},
		identity: r.Identity, good: changed, absent: Gone,
	}, (*httpResponse).deleted)
}

// FetchInstance asks the broker what an instance is ("Fetching a Service Instance").
// Only for offerings whose InstancesRetrievable is true; Gone may also mean that it is
// still being provisioned.
func (c *Client) FetchInstance(ctx context.Context, r FetchRequest) (*Instance, error) {
	return send(ctx, c.broker, call{
		operation: "fetch instance", method: http.MethodGet, path: instancePath(r.InstanceID),
		query:    query{}.with("service_id", r.ServiceID).with("plan_id", r.PlanID),
		needs:    []need{{"instance ID", r.InstanceID}},
		identity: r.Identity, good: fetched, absent: Gone,
	}, (*httpResponse).instance)
}
