package conformance

const (
	sectionIdentity = "Originating Identity"
	sectionOrphans  = "Orphan Mitigation"
	sectionProfile  = "Profile: Kubernetes"
)

// platformRules have the IDs of the duties of osb/osbtest that judge them.
var platformRules = []Rule{
	{"M1.1", Must, "2.13", "API Version Header", "each request has X-Broker-API-Version as MAJOR.MINOR"},
	{"M1.2", Must, "2.13", sectionAuth, "each request has the credentials that were agreed on"},
	{"M1.3", Must, "2.15", "Request Identity", "a platform that sends X-Broker-API-Request-Identity sends it with each request"},
	{"M1.4", Should, "2.14", "Content Type", "a body is declared as application/json"},
	{"M2.1", Must, "2.13", sectionIdentity, "a platform that sends X-Broker-API-Originating-Identity sends it with each provision, update and bind"},
	{"M2.3", Must, "2.13", sectionIdentity, "an identity is base64 of an object, of the platform that the context names; that of kubernetes has username, uid, groups and extra"},
	{"M3.1", Must, "2.13", sectionProvision + ", " + sectionUpdate + ", " + sectionBinding + ", " + sectionUnbinding + ", " + sectionDeprov,
		"required fields and query parameters are there and not empty"},
	{"M3.2", Must, "2.13", sectionProvision + ", " + sectionBinding, "IDs in the path are not empty"},
	{"M3.3", Must, "2.13", sectionProvision + ", " + sectionUpdate, "service_id and plan_id are of the catalog"},
	{"M3.4", Must, "2.15", sectionProfile, "a context of kubernetes has namespace and clusterid, and for an instance instance_name"},
	{"M3.6", Must, "2.13", sectionProvision, "parameters are an object, and maintenance_info has a version, where they are sent"},
	{"M4.1", Should, "2.13", "Asynchronous Operations", "accepts_incomplete=true comes with each request that changes something"},
	{"M5.1", Must, "2.13", sectionPolling, "a poll brings the operation that came with the 202 as it was, and none if none came"},
	{"M6.1", Must, "2.14", sectionPolling + ", " + sectionDeprov, "plan_id is that of the instance, and in a poll of a change of plan the one from before it"},
	{"M7.1", Should, "2.13", sectionUpdate, "an update leaves out what does not change"},
	{"M8.1", Must, "2.13", sectionBinding, "a plan that is not bindable is not bound"},
	{"M8.2", Must, "2.13", sectionUpdate, "a plan that is not plan_updateable is not changed to another"},
	{"M8.3", Should, "2.14", sectionFetch + ", " + sectionFetchB, "what is not retrievable is not fetched"},
	{"M8.4", Must, "2.17", sectionRotation, "a binding is rotated only if the plan is binding_rotatable, and the predecessor is a binding of the instance that has not expired"},
	{"M8.5", Should, "2.15", sectionUpdate, "an update of nothing but the context is sent only with allow_context_updates"},
	{"M9.1", Must, "2.14", sectionDeprov, "all bindings of an instance are deleted before it"},
	{"M10.1", Should, "2.13", sectionOrphans, "nothing is cleaned up that needs it not by the table"},
	{"M10.2", Should, "2.13", sectionOrphans, "what is to be cleaned up by the table is cleaned up, and not sent again before"},
	{"M11.1", Should, "2.15", sectionPolling, "Retry-After is waited for"},
	{"M11.2", Should, "2.15", "Polling Interval and Duration", "polling ends with the maximum_polling_duration of the plan"},
	{"M12.1", Should, "2.14", "Blocking Operations", "there is one request about an instance or binding at a time"},
	{"M12.2", Should, "2.14", "Blocking Operations", "an operation is waited for before the next is asked for"},
	{"M12.3", Must, "2.14", "Blocking Operations", "there is no clean-up after a request that was refused with ConcurrencyError"},
	{"M13.1", Should, "2.13", sectionOrphans, "there is no clean-up after a request that was refused with 401, 403 or 412"},
	{"M14.1", Should, "2.16", sectionProvision, "the ID of what was removed is not used again"},
}

var unjudgedOfPlatforms = []Unjudged{
	{sectionIdentity, "the identity is that of the user who caused the request", "only the platform knows its users"},
	{sectionCatalog, "offerings and plans are recognized by id alone", "what a platform shows to its users is not seen by a broker"},
	{sectionPolling, "polling ceases with the state succeeded or failed", "brokers are also told not to forget the state at once, as the platform may ask again"},
	{"Vendor Extension Fields", "unknown fields in answers are ignored", "that a platform goes on can have other reasons; use a script, and look at its next requests"},
	{sectionFetch, "an instance is remembered after an answer that is a failure", "a platform that forgot looks like one whose users do nothing"},
	{sectionUpdate, "the dashboard_url is kept where an update brings none", "what a platform shows to its users is not seen by a broker"},
}
