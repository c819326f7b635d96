package oldclients_test

// The retired catalog: pkg/apis/servicecatalog/validation/broker.go. That
// relistRequests cannot go back is among TestRulesOfBrokers, and that a broker's
// Secret takes a right among TestRightsThatAWriteTakes.
var oldBrokerRefusals = map[string]oldRefusal{
	"brokers must have a remote url to contact": {kind: "ClusterServiceBroker", spec: "url: null", field: "spec.url"},
	"an empty url": {kind: "ClusterServiceBroker", spec: "url: ''", field: "spec.url"},
	"name is not a DNS-1123 subdomain": {
		kind: "ClusterServiceBroker", object: "{metadata: {name: A_1}}", field: "metadata.name",
	},
	"cannot be used when insecureSkipTLSVerify is true": {
		kind: "ClusterServiceBroker", spec: "insecureSkipTLSVerify: true, caBundle: aGVsbG8=", field: "spec.caBundle",
	},
	"relist behavior must be one of the two": {
		kind: "ClusterServiceBroker", spec: "relistBehavior: Junk", field: "spec.relistBehavior",
	},
	"relistRequests must be non-negative": {
		kind: "ClusterServiceBroker", spec: "relistRequests: -1", field: "spec.relistRequests",
	},
	"relistDuration must be greater than zero": {
		kind: "ClusterServiceBroker", spec: "relistDuration: '0s'", field: "spec.relistDuration",
	},
	"relistDuration must not be negative": {
		kind: "ClusterServiceBroker", spec: "relistDuration: '-15m0s'", field: "spec.relistDuration",
	},
	"auth config is required": {
		kind: "ClusterServiceBroker", spec: "authInfo: {basic: null}", field: "spec.authInfo",
	},
	"a basic auth secret is required": {
		kind: "ClusterServiceBroker", spec: "authInfo: {basic: {secretRef: null}}", field: "spec.authInfo.basic",
	},
	"a bearer secret is required": {
		kind: "ClusterServiceBroker", spec: "authInfo: {basic: null, bearer: {}}", field: "spec.authInfo.bearer",
	},
	"Invalid property": {
		kind: "ClusterServiceBroker", spec: "catalogRestrictions: {serviceClass: ['a=b']}",
		field: "spec.catalogRestrictions.serviceClass[0]",
	},
	"Invalid property of a plan": {
		kind: "ClusterServiceBroker", spec: "catalogRestrictions: {servicePlan: ['a=b']}", field: "spec.catalogRestrictions.servicePlan[0]",
	},
	"a restriction that does not parse": {
		kind: "ClusterServiceBroker", spec: "catalogRestrictions: {servicePlan: ['name in']}",
		field: "spec.catalogRestrictions.servicePlan[0]",
	},
	"status: the spec of a status update is validated once more": {
		kind: "ClusterServiceBroker", object: "{status: {reconciledGeneration: 5}}",
		dropped: "the status of a main write is dropped by the API server",
	},
}

// validation/serviceclass.go and serviceplan.go.
var oldOfferingRefusals = map[string]oldRefusal{
	"class: externalID is required":   {kind: "ClusterServiceClass", spec: "externalID: ''", field: "spec.externalID"},
	"class: externalID is too long":   {kind: "ClusterServiceClass", spec: "externalID: LONG", field: "spec.externalID"},
	"class: externalName is too long": {kind: "ClusterServiceClass", spec: "externalName: LONG", field: "spec.externalName"},
	"class: description is required": {
		kind: "ClusterServiceClass", spec: "description: ''",
		dropped: "a partial class is admitted, and a broker without descriptions lists",
	},
	"class: clusterServiceBrokerName is required": {
		kind: "ClusterServiceClass", spec: "clusterServiceBrokerName: ''", dropped: "a partial class is admitted",
	},
	"class: externalName is required": {kind: "ClusterServiceClass", spec: "externalName: ''", dropped: "a partial class is admitted"},
	"class: name is longer than 63": {
		kind: "ClusterServiceClass", object: "{metadata: {name: LONG}}",
		dropped: "labels have the name's hash, and so any name of an object",
	},
	"class: externalID changes, never looked at": {
		kind: "ClusterServiceClass", spec: "externalID: other", stored: true, field: "spec.externalID",
	},
	"class: broker changes, silently reverted": {
		kind: "ClusterServiceClass", spec: "clusterServiceBrokerName: other", stored: true, field: "spec.clusterServiceBrokerName",
	},
	"plan: externalID is required":   {kind: "ClusterServicePlan", spec: "externalID: ''", field: "spec.externalID"},
	"plan: externalID is too long":   {kind: "ClusterServicePlan", spec: "externalID: LONG", field: "spec.externalID"},
	"plan: externalName is too long": {kind: "ClusterServicePlan", spec: "externalName: LONG", field: "spec.externalName"},
	"plan: an owning serviceclass is required": {
		kind: "ClusterServicePlan", spec: "clusterServiceClassRef: {name: ''}", field: "spec.clusterServiceClassRef",
	},
	"plan: description is required":                {kind: "ClusterServicePlan", spec: "description: ''", dropped: "a partial plan is admitted"},
	"plan: externalID cannot change when updating": {kind: "ClusterServicePlan", spec: "externalID: other", stored: true, field: "spec.externalID"},
	"plan: class changes, silently reverted": {
		kind: "ClusterServicePlan", spec: "clusterServiceClassRef: {name: other}", stored: true, field: "spec.clusterServiceClassRef",
	},
	"plan: broker changes, silently reverted": {
		kind: "ClusterServicePlan", spec: "clusterServiceBrokerName: other", stored: true, field: "spec.clusterServiceBrokerName",
	},
}

// validation/instance.go, for an instance that names class and plan.
var oldInstanceRefusals = map[string]oldRefusal{
	"instances can only refer to a cluster or namespaced class": {
		kind: "ServiceInstance", spec: "serviceClassExternalName: a, servicePlanExternalName: b", field: "spec.serviceClassExternalName",
	},
	"plan references must have a class reference set": {
		kind: "ServiceInstance", spec: "clusterServiceClassExternalName: null, clusterServicePlanExternalName: null", field: "spec",
	},
	"a plan without a class": {
		kind: "ServiceInstance", spec: "clusterServiceClassExternalName: null", field: "spec.clusterServicePlanExternalName",
	},
	"exactly one of the names of a class": {
		kind: "ServiceInstance", spec: "clusterServiceClassName: a", field: "spec.clusterServiceClassExternalName",
	},
	"exactly one of the names of a plan": {
		kind: "ServiceInstance", spec: "clusterServicePlanExternalID: a", field: "spec.clusterServicePlanExternalID",
	},
	"must specify clusterServicePlanExternalName with the class": {
		kind: "ServiceInstance", spec: "clusterServicePlanExternalName: null, clusterServicePlanName: NAME(old)",
		dropped: "both names are understood",
	},
	"a class's name is too long": {
		kind: "ServiceInstance", spec: "clusterServiceClassExternalName: LONG", field: "spec.clusterServiceClassExternalName",
	},
	"a plan's name is too long": {
		kind: "ServiceInstance", spec: "clusterServicePlanExternalName: LONG", field: "spec.clusterServicePlanExternalName",
	},
	"a source needs a Secret": {
		kind: "ServiceInstance", spec: "parametersFrom: [{}]", field: "spec.parametersFrom[0].secretKeyRef",
	},
	"a source needs a name": {
		kind: "ServiceInstance", spec: "parametersFrom: [{secretKeyRef: {name: '', key: a}}]",
		field: "spec.parametersFrom[0].secretKeyRef.name",
	},
	"a source needs a key": {
		kind: "ServiceInstance", spec: "parametersFrom: [{secretKeyRef: {name: a, key: ''}}]",
		field: "spec.parametersFrom[0].secretKeyRef.key",
	},
	"invalid inline parameters": {kind: "ServiceInstance", spec: "parameters: [1]", field: "spec.parameters"},
	"updateRequests must be non-negative": {
		kind: "ServiceInstance", spec: "updateRequests: -1", field: "spec.updateRequests",
	},
	"clusterServiceClassRef must not be present on create": {
		kind: "ServiceInstance", spec: "clusterServiceClassRef: {name: NAME(old)}", field: "spec.clusterServiceClassRef",
	},
	"clusterServicePlanRef must not be present on create": {
		kind: "ServiceInstance", spec: "clusterServicePlanRef: {name: NAME(old)}", field: "spec.clusterServicePlanRef",
	},
	"servicePlanRef must not be present on create": {
		kind: "ServiceInstance", spec: "servicePlanRef: {name: NAME(old)}", field: "spec.servicePlanRef",
	},
	"instance: name is not a DNS-1123 subdomain": {
		kind: "ServiceInstance", object: "{metadata: {name: A_1}}", field: "metadata.name",
	},
	"reconciledGeneration must be less than generation": {
		kind: "ServiceInstance", object: "{status: {reconciledGeneration: 5}}", dropped: "a new object has no status, whatever it says",
	},
	"a plan's class that is absent, without a plan": {
		kind: "ServiceInstance", spec: "clusterServiceClassExternalName: absent, clusterServicePlanExternalName: null",
		field: "spec.clusterServiceClassExternalName",
	},
	"has more than one plan, PlanName must be specified": {
		kind: "ServiceInstance", spec: "clusterServicePlanExternalName: null", field: "spec.clusterServiceClassExternalName",
	},
	"an instance of an absent plan is admitted": {
		kind: "ServiceInstance", spec: "clusterServicePlanExternalName: absent", dropped: "it never was refused",
	},
}

// Updates of an instance. That updateRequests cannot go back, nor the plan change
// where its class says no, is among TestKubectlShowsWhyAnUpdateIsRefused. The
// update lock is not kept: see TestAnEditDuringAnOperation.
var oldInstanceEdits = map[string]oldRefusal{
	"field is immutable: class": {
		kind: "ServiceInstance", stored: true, spec: "clusterServiceClassExternalName: other",
		field: "spec.clusterServiceClassExternalName",
	},
	"field is immutable: externalID": {
		kind: "ServiceInstance", stored: true, spec: "externalID: other", field: "spec.externalID",
	},
	"servicePlanRef must not be present on plan change": {
		kind: "ServiceInstance", stored: true,
		spec:    "clusterServicePlanExternalName: NAME(older), clusterServicePlanRef: {name: NAME(old)}",
		dropped: "the plan's name is the wish, and the stored reference none",
	},
}

// validation/binding.go. That an instance which is being deleted is not bound to
// is TestBindingIsForgottenWithItsInstance.
var oldBindingRefusals = map[string]oldRefusal{
	"instanceRef.name is required":              {kind: "ServiceBinding", spec: "instanceRef: {name: ''}", field: "spec.instanceRef.name"},
	"instanceRef.name is no DNS-1123 subdomain": {kind: "ServiceBinding", spec: "instanceRef: {name: A_1}", field: "spec.instanceRef.name"},
	"secretName is no DNS-1123 subdomain":       {kind: "ServiceBinding", spec: "secretName: A_1", field: "spec.secretName"},
	"binding: a source needs a Secret": {
		kind: "ServiceBinding", spec: "parametersFrom: [{}]", field: "spec.parametersFrom[0].secretKeyRef",
	},
	"binding: a source needs a key": {
		kind: "ServiceBinding", spec: "parametersFrom: [{secretKeyRef: {name: a, key: ''}}]",
		field: "spec.parametersFrom[0].secretKeyRef.key",
	},
	"binding: name is no DNS-1123 subdomain": {kind: "ServiceBinding", object: "{metadata: {name: A_1}}", field: "metadata.name"},
	"a missing instance is allowed":          {kind: "ServiceBinding", spec: "instanceRef: {name: absent}", dropped: "it never was refused"},
	"an edit of the spec, silently reverted": {
		kind: "ServiceBinding", stored: true, spec: "instanceRef: {name: other}", field: "spec.instanceRef",
	},
}
