package osb

import (
	"context"
	"encoding/json"
	"net/http"
)

type (
	bindBody struct {
		ServiceID   string          `json:"service_id"`
		PlanID      string          `json:"plan_id"`
		AppGUID     string          `json:"app_guid,omitempty"`
		Resource    *bindResource   `json:"bind_resource,omitempty"`
		Context     map[string]any  `json:"context,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Predecessor string          `json:"predecessor_binding_id,omitempty"`
	}
	bindResource struct {
		AppGUID string `json:"app_guid"`
	}
)

// Bind asks the broker for credentials ("Binding"). A 200 says that the binding was
// there already, the same. An Async response holds no credentials: they are fetched
// once Poll says that it succeeded.
func (c *Client) Bind(ctx context.Context, r BindRequest) (*Response, error) {
	parameters := given(r.Parameters)
	var resource *bindResource
	if r.AppGUID != "" {
		resource = &bindResource{AppGUID: r.AppGUID}
	}
	return send(ctx, c.broker, call{
		operation: "bind", method: http.MethodPut, path: bindingPath(r.InstanceID, r.BindingID), query: async(),
		needs: []need{
			{"instance ID", r.InstanceID}, {"binding ID", r.BindingID},
			{"service ID", r.ServiceID}, {"plan ID", r.PlanID},
		},
		body: bindBody{
			ServiceID: r.ServiceID, PlanID: r.PlanID, AppGUID: r.AppGUID, Resource: resource,
			Context: r.Context, Parameters: parameters, Predecessor: r.Predecessor,
		},
		parameters: parameters, identity: r.Identity, good: created, absent: NotFound,
	}, (*httpResponse).bound)
}

// Unbind asks the broker to delete a binding ("Unbinding"). That there is none is the
// kind Gone.
func (c *Client) Unbind(ctx context.Context, r UnbindRequest) (*Response, error) {
	return send(ctx, c.broker, call{
		operation: "unbind", method: http.MethodDelete, path: bindingPath(r.InstanceID, r.BindingID),
		query: async().with("service_id", r.ServiceID).with("plan_id", r.PlanID),
		needs: []need{
			{"instance ID", r.InstanceID}, {"binding ID", r.BindingID},
			{"service ID", r.ServiceID}, {"plan ID", r.PlanID},
		},
		identity: r.Identity, good: changed, absent: Gone,
	}, (*httpResponse).deleted)
}

// FetchBinding asks the broker for a binding and its credentials ("Fetching a Service
// Binding"). Only for offerings whose BindingsRetrievable is true. A broker may give the
// credentials only once.
func (c *Client) FetchBinding(ctx context.Context, r FetchRequest) (*Binding, error) {
	return send(ctx, c.broker, call{
		operation: "fetch binding", method: http.MethodGet, path: bindingPath(r.InstanceID, r.BindingID),
		query:    query{}.with("service_id", r.ServiceID).with("plan_id", r.PlanID),
		needs:    []need{{"instance ID", r.InstanceID}, {"binding ID", r.BindingID}},
		identity: r.Identity, good: fetched, absent: Gone,
	}, (*httpResponse).fetchedBinding)
}
