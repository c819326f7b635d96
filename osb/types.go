package osb

import (
	"encoding/json"
	"time"
)

// A Catalog is what a broker offers.
type Catalog struct {
	// Services are the offerings, in the broker's order. May be empty.
	Services []Service `json:"services"`
	// ETag is the validator that came with it, for the next request; may be empty.
	ETag string `json:"-"`
	// Size is how many bytes it had as it was sent.
	Size int `json:"-"`
	// Skipped are the services and plans that could not be read, in the broker's order.
	Skipped []Skip `json:"-"`
}

// A Skip is a part of a catalog that could not be read.
type Skip struct {
	// Service and Plan are their names, made printable; or where they stand, as in
	// "plans[2]". Plan is empty where the whole service was skipped.
	Service, Plan string
	// Reason says which field is of a wrong type: "bindable is neither true nor false".
	Reason string
}

// A LeftOut is a field of a wrong type: "tags", which "is not a list of strings".
type LeftOut struct{ Field, Why string }

// A Service is an offering. Lengths and lawfulness are not checked here: the importer of
// a catalog decides what it skips.
type Service struct {
	// Index is where it stands in the list that it came in, from 0.
	Index int `json:"-"`
	// LeftOut are its fields that were of a wrong type and that it can do without.
	LeftOut []LeftOut `json:"-"`

	ID                   string          `json:"id"`
	Name                 string          `json:"name"`
	Description          string          `json:"description"`
	Tags                 []string        `json:"tags"`
	Requires             []string        `json:"requires"`
	Bindable             bool            `json:"bindable"`
	InstancesRetrievable bool            `json:"instances_retrievable"`
	BindingsRetrievable  bool            `json:"bindings_retrievable"`
	AllowContextUpdates  bool            `json:"allow_context_updates"`
	PlanUpdatable        bool            `json:"plan_updateable"`
	Metadata             json.RawMessage `json:"metadata"`
	Plans                []Plan          `json:"plans"`
}

// A Plan is a variant of a Service. Pointers are nil where the broker said nothing:
// the service's value, or the specification's default, holds.
type Plan struct {
	// Index and LeftOut are as those of a Service.
	Index   int       `json:"-"`
	LeftOut []LeftOut `json:"-"`

	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Tags        []string        `json:"tags"`
	Metadata    json.RawMessage `json:"metadata"`
	// Free is nil for true.
	Free *bool `json:"free"`
	// Bindable and PlanUpdatable are nil for what the service says.
	Bindable      *bool `json:"bindable"`
	PlanUpdatable *bool `json:"plan_updateable"`
	// BindingRotatable is nil for false.
	BindingRotatable *bool    `json:"binding_rotatable"`
	Schemas          *Schemas `json:"schemas"`
	// MaximumPollingDuration is in seconds; nil for no limit of the broker's.
	MaximumPollingDuration *int64           `json:"maximum_polling_duration"`
	MaintenanceInfo        *MaintenanceInfo `json:"maintenance_info"`
}

// MaintenanceInfo is the version of what runs an instance.
type MaintenanceInfo struct {
	// Version is a semantic version 2.0.
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

// Schemas are JSON schemas of parameters as the broker wrote them; nil where it gave
// none.
type Schemas struct {
	InstanceCreate json.RawMessage
	InstanceUpdate json.RawMessage
	BindingCreate  json.RawMessage
}

// An Identity is the user for whom a request is sent: the header
// X-Broker-API-Originating-Identity.
type Identity struct {
	// Platform is "kubernetes".
	Platform string
	// Value is the user; it is sent as JSON in base64, with all four keys.
	Value IdentityValue
}

// An IdentityValue is a Kubernetes user. All four keys are sent, also when empty.
type IdentityValue struct {
	Username string              `json:"username"`
	UID      string              `json:"uid"`
	Groups   []string            `json:"groups"`
	Extra    map[string][]string `json:"extra"`
}

// ProvisionRequest asks for an instance: PUT /v2/service_instances/:instance_id. All
// but Parameters, MaintenanceVersion and Identity are required. accepts_incomplete is
// always true.
type ProvisionRequest struct {
	InstanceID, ServiceID, PlanID string
	// Organization and Space are the deprecated organization_guid and space_guid,
	// which brokers still require: the cluster's ID and the namespace's UID.
	Organization, Space string
	// Context is the platform's object: platform, namespace, clusterid, instance_name.
	Context map[string]any
	// Parameters is a JSON object, or nil for none.
	Parameters json.RawMessage
	// MaintenanceVersion is sent as maintenance_info.version unless it is empty.
	MaintenanceVersion string
	Identity           *Identity
}

// UpdateRequest changes an instance: PATCH /v2/service_instances/:instance_id.
type UpdateRequest struct {
	InstanceID, ServiceID string
	// PlanID is the new plan, or empty where it does not change.
	PlanID  string
	Context map[string]any
	// Parameters is a JSON object, or nil where they do not change.
	Parameters json.RawMessage
	// MaintenanceVersion is the new one, or empty where it does not change.
	MaintenanceVersion string
	Previous           PreviousValues
	Identity           *Identity
}

// PreviousValues are what the instance was before an update.
type PreviousValues struct {
	ServiceID, PlanID, Organization, Space, MaintenanceVersion string
}

// DeprovisionRequest removes an instance: DELETE /v2/service_instances/:instance_id.
// PlanID is the plan as the broker knows it.
type DeprovisionRequest struct {
	InstanceID, ServiceID, PlanID string
	// Identity is nil for orphan mitigation.
	Identity *Identity
}

// BindRequest asks for credentials:
// PUT /v2/service_instances/:instance_id/service_bindings/:binding_id.
type BindRequest struct {
	InstanceID, BindingID, ServiceID, PlanID string
	// AppGUID is sent as app_guid and in bind_resource: the namespace's UID.
	AppGUID    string
	Context    map[string]any
	Parameters json.RawMessage
	// Predecessor is the ID of the binding whose credentials these replace, for plans
	// whose BindingRotatable is true; empty for none.
	Predecessor string
	Identity    *Identity
}

// UnbindRequest removes a binding:
// DELETE /v2/service_instances/:instance_id/service_bindings/:binding_id.
type UnbindRequest struct {
	InstanceID, BindingID, ServiceID, PlanID string
	// Identity is nil for orphan mitigation.
	Identity *Identity
}

// FetchRequest asks for an instance, or with a BindingID for a binding of it. ServiceID
// and PlanID are hints, sent unless they are empty.
type FetchRequest struct {
	InstanceID, BindingID, ServiceID, PlanID string
	Identity                                 *Identity
}

// PollRequest asks how an operation goes, of an instance, or with a BindingID of a
// binding.
type PollRequest struct {
	InstanceID, BindingID, ServiceID string
	// PlanID is the plan as it was before the operation.
	PlanID string
	// Operation is the key that the broker returned, sent as it came; nil: none.
	Operation *string
	Identity  *Identity
}

// A Response is what a broker answered to a request that changes something.
type Response struct {
	// Async says that the broker works on it: poll. 202.
	Async bool
	// Created says that a 201 came, not a 200: it was made by this request.
	Created bool
	// Operation is the key for polling; nil where none came.
	Operation *string
	// DashboardURL is where people look at the instance; empty where none came: the
	// known one holds.
	DashboardURL string
	// Labels and Attributes are the instance's metadata; nil where none came.
	Labels, Attributes map[string]string
	// Binding is the credentials and what else a binding consists of: set where a bind
	// was answered 200 or 201, also if nothing was in it; nil everywhere else.
	Binding *Binding
	// RetryAfter is how long to wait before the first poll; 0 where nothing was said.
	RetryAfter time.Duration
}

// A Binding is what a broker returns of one.
type Binding struct {
	// Credentials is a JSON object, or nil where none came.
	Credentials     map[string]json.RawMessage
	SyslogDrainURL  string
	RouteServiceURL string
	// VolumeMounts is the JSON list as it came, or nil.
	VolumeMounts json.RawMessage
	Endpoints    []Endpoint
	// ExpiresAt and RenewBefore are zero where nothing was said.
	ExpiresAt, RenewBefore time.Time
	// Parameters is a JSON object where a fetched binding has it.
	Parameters json.RawMessage
}

// An Endpoint is where an application finds a service.
type Endpoint struct {
	Host string `json:"host"`
	// Ports are single ones or ranges, such as "9000-9010".
	Ports []string `json:"ports"`
	// Protocol is tcp, udp or all; empty means tcp.
	Protocol string `json:"protocol"`
}

// An Instance is what a broker returns of one that is fetched.
type Instance struct {
	ServiceID, PlanID, DashboardURL string
	// Parameters is a JSON object, or nil where none came.
	Parameters         json.RawMessage
	MaintenanceVersion string
	Labels, Attributes map[string]string
}

// OperationState is how an operation goes.
type OperationState string

// The states of an operation. Any other is a broker's fault.
const (
	InProgress OperationState = "in progress"
	Succeeded  OperationState = "succeeded"
	Failed     OperationState = "failed"
)

// A LastOperation is the answer to a poll.
type LastOperation struct {
	State OperationState
	// Description is the broker's text for people; at most 1,024 characters of it.
	Description string
	// Usable says after a failed update or deprovision whether the instance can still
	// be used; nil: it can. Repeatable says whether a failed update may be tried again;
	// nil: it may.
	Usable, Repeatable *bool
	// RetryAfter is how long to wait before the next poll; 0 where nothing was said.
	RetryAfter time.Duration
}
