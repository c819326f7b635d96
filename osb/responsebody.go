package osb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// maxOperation is the most characters of an operation's key.
const maxOperation = 10_000

// lawfully is the value if the body that it was read from is as the specification says.
func lawfully[T any](a *httpResponse, body *reading, value *T) (*T, error) {
	if err := a.lawful(body); err != nil {
		return nil, err
	}
	return value, nil
}

// response reads the answer to a provision or an update.
func (a *httpResponse) response() (*Response, error) {
	body := a.open()
	metadata := body.inside("metadata")
	return lawfully(a, body, &Response{
		Async: a.status == http.StatusAccepted, Created: a.status == http.StatusCreated,
		Operation: operationKey(body), DashboardURL: body.text("dashboard_url"),
		Labels: metadata.scalars("labels"), Attributes: metadata.scalars("attributes"),
		RetryAfter: a.wait,
	})
}

// bound reads the answer to a bind. A 202 holds nothing but the key, whatever else
// it holds.
func (a *httpResponse) bound() (*Response, error) {
	body := a.open()
	response := &Response{
		Async: a.status == http.StatusAccepted, Created: a.status == http.StatusCreated,
		Operation: operationKey(body), RetryAfter: a.wait,
	}
	if !response.Async {
		response.Binding = binding(body)
	}
	return lawfully(a, body, response)
}

// deleted reads the answer to a deprovision or an unbind. A 200 says all by itself:
// real brokers answer nothing, or a word, where a JSON object belongs. Markup is
// something else's answer, and what begins as JSON and is none was not sent to its end; the header
// alone says nothing, for frameworks call a word HTML.
func (a *httpResponse) deleted() (*Response, error) {
	body := a.open()
	if a.status == http.StatusOK {
		if a.begins("<") || a.beginsJSON() && !json.Valid(a.text()) {
			return nil, a.lawful(body)
		}
		return &Response{RetryAfter: a.wait}, nil
	}
	return lawfully(a, body, &Response{
		Async: a.status == http.StatusAccepted, Operation: operationKey(body), RetryAfter: a.wait,
	})
}

// instance reads an instance that was fetched.
func (a *httpResponse) instance() (*Instance, error) {
	body := a.open()
	metadata := body.inside("metadata")
	return lawfully(a, body, &Instance{
		ServiceID: body.text("service_id"), PlanID: body.text("plan_id"), DashboardURL: body.text("dashboard_url"),
		Parameters:         body.rawObject("parameters"),
		MaintenanceVersion: body.inside("maintenance_info").text("version"),
		Labels:             metadata.scalars("labels"), Attributes: metadata.scalars("attributes"),
	})
}

// lastOperation reads how an operation goes.
func (a *httpResponse) lastOperation() (*LastOperation, error) {
	body := a.open()
	operation := &LastOperation{
		State: OperationState(body.text("state")), Description: a.description(body), RetryAfter: a.wait,
		Usable: body.flagPointer("instance_usable"), Repeatable: body.flagPointer("update_repeatable"),
	}
	switch operation.State {
	case InProgress, Succeeded, Failed:
	default:
		body.blame("state", fmt.Sprintf("is none of %q, %q and %q", InProgress, Succeeded, Failed))
	}
	return lawfully(a, body, operation)
}

func operationKey(body *reading) *string {
	key := body.textPointer("operation")
	if key != nil && utf8.RuneCountInString(*key) > maxOperation {
		body.blame("operation", fmt.Sprintf("is longer than %d characters", maxOperation))
	}
	return key
}
