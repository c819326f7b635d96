package conformance

// The sections that several rules are found under.
const (
	sectionAuth      = "Platform to Service Broker Authentication"
	sectionErrors    = "Service Broker Errors"
	sectionCatalog   = "Catalog Management"
	sectionPolling   = "Polling Last Operation for Service Instances"
	sectionPollingB  = "Polling Last Operation for Service Bindings"
	sectionProvision = "Provisioning"
	sectionFetch     = "Fetching a Service Instance"
	sectionUpdate    = "Updating a Service Instance"
	sectionBinding   = "Binding"
	sectionRotation  = "Binding Rotation"
	sectionFetchB    = "Fetching a Service Binding"
	sectionUnbinding = "Unbinding"
	sectionDeprov    = "Deprovisioning"
)

var brokerRules = []Rule{
	{"AUTH-1", Must, "2.13", sectionAuth, "a request with wrong credentials is answered with 401"},
	{"AUTH-2", Must, "2.13", sectionAuth, "a request without credentials is answered with 401"},
	{"EXT-1", Must, "2.14", "Vendor Extension Fields", "an unknown field in a request does not change the answer"},
	{"ERR-1", Must, "2.15", sectionErrors, "error, if present, is a string that is not empty"},
	{"ERR-2", Must, "2.15", sectionErrors, "description, if present, is a string that is not empty"},
	{"ERR-3", Must, "2.16", sectionErrors, "instance_usable comes only with errors of an update or a deprovision, and update_repeatable only with those of an update"},
	{"ERR-4", Must, "2.14", sectionErrors, "a request that is refused with a 4xx changes nothing: a refused provision leaves no instance"},
	{"CON-1", Must, "2.14", "Blocking Operations", "a request that cannot be processed while another runs is refused with 422 and the code ConcurrencyError"},

	{"CAT-1", Must, "2.13", sectionCatalog, "the catalog is answered with 200 and an object whose services are a list"},
	{"CAT-2", Must, "2.13", sectionCatalog, "the name of each offering is a string, not empty, and unique in the catalog"},
	{"CAT-3", Must, "2.13", sectionCatalog, "the id of each offering is a string, not empty, and of no other offering"},
	{"CAT-4", Must, "2.13", sectionCatalog, "each offering has a description that is not empty, and says whether it is bindable"},
	{"CAT-5", Must, "2.13", sectionCatalog, "each offering has at least one plan"},
	{"CAT-6", Must, "2.13", sectionCatalog, "the id of each plan is a string, not empty, and of no other plan"},
	{"CAT-7", Must, "2.13", sectionCatalog, "the name of each plan is a string, not empty, and unique within its offering"},
	{"CAT-8", Must, "2.13", sectionCatalog, "each plan has a description that is not empty"},
	{"CAT-9", Must, "2.13", sectionCatalog, "a schema of parameters declares its version with $schema"},
	{"CAT-10", Must, "2.13", sectionCatalog, "a schema of parameters has no external reference"},
	{"CAT-11", Must, "2.13", sectionCatalog, "a schema of parameters has no more than 64 kB"},
	{"CAT-12", Must, "2.15", sectionCatalog, "maintenance_info of a plan has a version, which is a semantic version 2.0"},
	{"CAT-13", Must, "2.13", sectionCatalog, "an offering or plan keeps its id when the catalog is fetched again"},

	{"POLL-1", Must, "2.13", sectionPolling, "a poll of an operation is answered with 200 and one of the three states"},
	{"POLL-2", Must, "2.16", sectionPolling, "a poll of an instance that never was is answered with 404"},
	{"POLL-3", Must, "2.16", sectionPollingB, "a poll of a binding that never was is answered with 404"},
	{"POLL-4", Must, "2.15", sectionProvision, "operation of a 202 is a string of at most 10,000 characters"},

	{"PRO-1", Must, "2.13", sectionProvision, "a new instance is answered with 201, or with 202 while it is being made"},
	{"PRO-2", Must, "2.13", sectionProvision, "the same request again, before the instance is made, is answered with 202 and not with 200"},
	{"PRO-3", Must, "2.14", sectionProvision, "the 202 of a repeated request has the operation of the first"},
	{"PRO-4", Must, "2.13", sectionProvision, "a request that is not JSON, or lacks a required field, is answered with 400"},
	{"PRO-5", Must, "2.13", sectionProvision, "a request for an ID that exists with other attributes is answered with 409"},
	{"PRO-6", Must, "2.13", sectionProvision, "without accepts_incomplete a plan that is only provisioned asynchronously is refused with 422 and the code AsyncRequired"},
	{"PRO-7", Must, "2.15", sectionProvision, "a maintenance_info version other than the catalog's is refused with 422 and the code MaintenanceInfoConflict"},
	{"PRO-8", Must, "2.15", sectionProvision, "dashboard_url, if present, is a string or null"},
	{"PRO-9", Must, "2.14", sectionProvision, "a dashboard_url that a fetched instance has came with the first answer to its provisioning"},

	{"GETI-1", Must, "2.14", sectionFetch, "an instance of an offering with instances_retrievable can be fetched as soon as it is made"},
	{"GETI-2", Must, "2.14", sectionFetch, "an instance that does not exist is answered with 404"},
	{"GETI-3", Must, "2.14", sectionFetch, "an instance that is being provisioned is answered with 404"},
	{"GETI-4", Must, "2.14", sectionFetch, "an instance that cannot be fetched while it is updated is answered with 422 and the code ConcurrencyError"},

	{"UPD-1", Must, "2.13", sectionUpdate, "an update that is accepted is answered with 200, or with 202 while it runs"},
	{"UPD-2", Must, "2.13", sectionUpdate, "a request that is not JSON, or lacks service_id, is answered with 400"},
	{"UPD-3", Must, "2.13", sectionUpdate, "a change of plan that is not supported is refused with 422"},
	{"UPD-4", Must, "2.13", sectionUpdate, "an update without plan_id does not change the plan"},
	{"UPD-5", Must, "2.13", sectionUpdate, "an update without parameters does not change the parameters"},
	{"UPD-6", Must, "2.16", sectionUpdate, "an update that is refused applies none of its changes"},
	{"UPD-7", Must, "2.13", sectionUpdate, "without accepts_incomplete a plan that is only updated asynchronously is refused with 422 and the code AsyncRequired"},
	{"UPD-8", Must, "2.15", sectionUpdate, "a maintenance_info version other than the catalog's is refused with 422 and the code MaintenanceInfoConflict"},
	{"UPD-9", Must, "2.14", sectionUpdate, "the same update again, before it is done, is answered with 202 and the operation of the first"},

	{"BIND-1", Must, "2.13", sectionBinding, "a new binding is answered with 201, or with 202 while it is being made"},
	{"BIND-2", Must, "2.14", sectionBinding, "a 202 has nothing of the binding, such as credentials"},
	{"BIND-3", Must, "2.14", sectionBinding, "the same request again, before the binding is made, is answered with 202 and the operation of the first"},
	{"BIND-4", Must, "2.13", sectionBinding, "a request that is not JSON, or lacks a required field, is answered with 400"},
	{"BIND-5", Must, "2.13", sectionBinding, "a request for an ID that exists with other parameters is answered with 409"},
	{"BIND-6", Must, "2.14", sectionBinding, "without accepts_incomplete a plan that is only bound asynchronously is refused with 422 and the code AsyncRequired"},
	{"BIND-7", Must, "2.14", sectionBinding, "credentials, where they are returned, are an object"},
	{"BIND-8", Must, "2.13", sectionBinding, "a bind that is refused only because it names no application is answered with 422 and the code RequiresApp"},
	{"BIND-9", Must, "2.15", sectionBinding, "each endpoint has a host, ports that are single or ranges, and a known protocol"},
	{"BIND-10", Must, "2.17", sectionBinding, "expires_at and renew_before have the form yyyy-mm-ddThh:mm:ss.sZ, and renew_before is not the later one"},
	{"BIND-11", Must, "2.13", sectionBinding, "syslog_drain_url, route_service_url and volume_mounts come only from offerings that declare them in requires"},

	{"ROT-1", Must, "2.17", sectionRotation, "a plan with binding_rotatable makes a successor of a binding that is named as predecessor_binding_id"},
	{"ROT-2", Must, "2.17", sectionRotation, "the predecessor stays valid beside its successor"},

	{"GETB-1", Must, "2.14", sectionFetchB, "a binding of an offering with bindings_retrievable can be fetched as soon as it is made"},
	{"GETB-2", Must, "2.14", sectionFetchB, "a binding that does not exist is answered with 404"},
	{"GETB-3", Must, "2.14", sectionFetchB, "a binding that is being made is answered with 404"},

	{"UNB-1", Must, "2.13", sectionUnbinding, "an unbind is answered with 200, or with 202 while it runs"},
	{"UNB-2", Must, "2.13", sectionUnbinding, "a binding that does not exist is answered with 410"},
	{"UNB-3", Must, "2.13", sectionUnbinding, "a request that lacks service_id or plan_id is answered with 400"},
	{"UNB-4", Must, "2.14", sectionUnbinding, "without accepts_incomplete a plan that is only unbound asynchronously is refused with 422 and the code AsyncRequired"},
	{"UNB-5", Must, "2.14", sectionUnbinding, "the same unbind again, before it is done, is answered with 202 and the operation of the first"},
	{"UNB-6", Must, "2.13", sectionUnbinding, "a binding that was unbound is gone"},
	{"UNB-7", Must, "2.15", sectionUnbinding, "an unbind that is accepted while the binding is being made halts that and removes it"},

	{"DEP-1", Must, "2.13", sectionDeprov, "a deprovision is answered with 200, or with 202 while it runs"},
	{"DEP-2", Must, "2.13", sectionDeprov, "an instance that does not exist is answered with 410"},
	{"DEP-3", Must, "2.13", sectionDeprov, "a request that lacks service_id or plan_id is answered with 400"},
	{"DEP-4", Must, "2.13", sectionDeprov, "without accepts_incomplete a plan that is only deprovisioned asynchronously is refused with 422 and the code AsyncRequired"},
	{"DEP-5", Must, "2.14", sectionDeprov, "the same deprovision again, before it is done, is answered with 202 and the operation of the first"},
	{"DEP-6", Must, "2.13", sectionDeprov, "an instance that was deprovisioned is gone"},
	{"DEP-7", Must, "2.15", sectionDeprov, "a deprovision that is accepted while the instance is being made halts that and removes it"},
}

var unjudgedOfBrokers = []Unjudged{
	{sectionCatalog, "the id of an offering or plan is unique over all brokers", "one catalog does not show what other brokers use"},
	{sectionCatalog, "fields that are optional have the types of the tables", "the tables give types without a MUST, and platforms read real catalogs that differ"},
	{sectionErrors, "the code of an error is the one of the table in every situation of it", "most situations cannot be brought about from outside; those that can have rules of their own"},
	{sectionPolling, "400 for a poll that is malformed", "no parameter of a poll is mandatory, so none can be missing"},
	{sectionProvision, "a dashboard_url identifies its instance", "how it does so is the broker's affair"},
	{sectionUpdate, "no dashboard_url changes without the first answer to an update", "brokers do not change it on demand"},
	{sectionBinding, "all endpoints that an application needs are listed", "what an application needs cannot be seen"},
	{"Log Drain, Route Services, Volume Services", "bindings of these classes have the field of their class", "an offering that declares a permission does not have to use it with every binding"},
	{sectionUnbinding, "credentials of a binding that was unbound are not accepted by the service", "the service itself is not called"},
	{sectionDeprov, "all that a provision made is removed", "only what the API shows can be judged: that the instance is gone"},
}
