package osb

import (
	"context"
	"net/http"
)

// Poll asks how an operation goes ("Polling Last Operation"). Gone is success where a
// deletion is polled; every other error says nothing about the operation, which goes
// on.
func (c *Client) Poll(ctx context.Context, r PollRequest) (*LastOperation, error) {
	path := instancePath(r.InstanceID)
	if r.BindingID != "" {
		path = bindingPath(r.InstanceID, r.BindingID)
	}
	values := query{}.with("service_id", r.ServiceID).with("plan_id", r.PlanID)
	if r.Operation != nil {
		// An empty key was returned too, so it is sent.
		values = append(values, "operation="+escape(*r.Operation))
	}
	return send(ctx, c.broker, call{
		operation: "poll", method: http.MethodGet, path: path + "/last_operation", query: values,
		needs:    []need{{"instance ID", r.InstanceID}},
		identity: r.Identity, good: fetched, absent: NotFound,
	}, (*httpResponse).lastOperation)
}
