package deploy_test

import (
	"io/fs"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
)

// A valueCase is what becomes of one value of the chart.
type valueCase struct {
	reason string
	// set are the values, as --set-json takes them.
	set []string
	// changes are the objects that are not as by default: changed (~), added (+) or
	// taken away (-).
	changes []string
	// says is what one of those that are there says.
	says string
}

const (
	webhook    = "~Deployment defaultplan-system/defaultplan-webhook"
	keeper     = "~Deployment defaultplan-system/defaultplan-keeper"
	controller = "~Deployment defaultplan-system/defaultplan-controller"

	// everyObject stands for a change of each that is there.
	everyObject = "~"

	// testPod is what helm test runs.
	testPod = "~Pod defaultplan-system/defaultplan-test"

	webhookService = "~Service defaultplan-system/defaultplan-webhook"

	webhookPolicy    = "~NetworkPolicy defaultplan-system/defaultplan-webhook"
	keeperPolicy     = "~NetworkPolicy defaultplan-system/defaultplan-keeper"
	controllerPolicy = "~NetworkPolicy defaultplan-system/defaultplan-controller"
)

var digest = "sha256:" + strings.Repeat("0", 64)

// sharedCases are those of values that all pods have.
var sharedCases = map[string]valueCase{
	"images.registry":   {"an own registry", []string{`images.registry="registry.example:5000/mirror"`}, []string{webhook, keeper, controller, testPod}, `"image":"registry.example:5000/mirror/defaultplan/`},
	"images.tag":        {"another build", []string{`images.tag="v9"`}, []string{webhook, keeper, controller, testPod}, `:v9"`},
	"images.pullPolicy": {"a tag that moves", []string{`images.pullPolicy="Always"`}, []string{webhook, keeper, controller, testPod}, `"imagePullPolicy":"Always"`},
	"images.pullSecrets": {
		"a registry that asks who pulls", []string{`images.pullSecrets=["mine"]`}, []string{webhook, keeper, controller, testPod}, `"imagePullSecrets":[{"name":"mine"}]`,
	},
	"images.svcat.repository": {"a name of one's own", []string{`images.svcat.repository="a/b"`}, []string{testPod}, `"image":"a/b:v`},
	"images.svcat.digest":     {"what is pinned does not move with its tag", []string{`images.svcat.digest="` + digest + `"`}, []string{testPod}, `@` + digest},
	"commonLabels":            {"to find all of it by", []string{`commonLabels={"team":"a"}`}, []string{everyObject}, `"team":"a"`},
	"runAsUser":               {"a platform that chooses", []string{`runAsUser=null`}, []string{webhook, keeper, controller, testPod}, `"securityContext":{"runAsNonRoot":true,"seccompProfile"`},
	"test.nodeSelector":       {"own nodes", []string{`test.nodeSelector={"a":"b"}`}, []string{testPod}, `"nodeSelector":{"a":"b"}`},
	"test.tolerations":        {"own nodes", []string{`test.tolerations=[{"key":"a","operator":"Exists"}]`}, []string{testPod}, `"tolerations":[{"key":"a","operator":"Exists"}]`},
	"priorityClass.create": {
		"a class of the cluster", []string{`priorityClass.create=false`, `priorityClass.name="system-cluster-critical"`},
		[]string{"-PriorityClass defaultplan", webhook, keeper, controller}, `"priorityClassName":"system-cluster-critical"`,
	},
	"priorityClass.name": {
		"the name is taken", []string{`priorityClass.name="mine"`},
		[]string{"-PriorityClass defaultplan", "+PriorityClass mine", webhook, keeper, controller}, `"priorityClassName":"mine"`,
	},
	"priorityClass.value": {"others are worth more", []string{`priorityClass.value=7`}, []string{"~PriorityClass defaultplan"}, `"value":7`},
	"metrics.secure": {
		"a cluster that closes the port otherwise", []string{`metrics.secure=false`},
		[]string{
			webhook, keeper, controller,
			"-ClusterRole defaultplan-metrics-auth", "-ClusterRoleBinding defaultplan-metrics-auth", "-ClusterRole defaultplan-metrics-reader",
			"~Service defaultplan-system/defaultplan-webhook-metrics", "~Service defaultplan-system/defaultplan-keeper-metrics",
			"~Service defaultplan-system/defaultplan-controller-metrics",
		}, `"appProtocol":"http"`,
	},
	"tracing.endpoint": {
		"the webhook's policy lets it speak to the collector", []string{`tracing.endpoint="collector:4317"`},
		[]string{webhookPolicy, keeperPolicy, webhook, keeper, controller}, `"--tracing-endpoint=collector:4317"`,
	},
	"tracing.samplingRatePerMillion": {
		"a number that must not become 1e+06", []string{`tracing.endpoint="collector:4317"`, `tracing.samplingRatePerMillion=1000000`},
		[]string{webhookPolicy, keeperPolicy, webhook, keeper, controller}, `"--tracing-sampling-rate-per-million=1000000"`,
	},
}

// podCases are those of values that each component has: NAME stands for it.
var podCases = map[string]valueCase{
	"images.NAME.repository": {"a name of one's own", []string{`images.NAME.repository="a/b"`}, nil, `"image":"a/b:v`},
	"images.NAME.digest":     {"what is pinned does not move with its tag", []string{`images.NAME.digest="` + digest + `"`}, nil, `@` + digest},
	"NAME.replicas": {
		"of one, a budget would only block drains", []string{`NAME.replicas=1`},
		[]string{"-PodDisruptionBudget defaultplan-system/defaultplan-NAME", "~Deployment defaultplan-system/defaultplan-NAME"}, `"replicas":1`,
	},
	"NAME.logLevel":                      {"to find out", []string{`NAME.logLevel="debug"`}, nil, `"--log-level=debug"`},
	"NAME.extraArgs":                     {"a flag without a value", []string{`NAME.extraArgs=["--bind-address="]`}, nil, `"--bind-address="]`},
	"NAME.extraEnv":                      {"a proxy", []string{`NAME.extraEnv=[{"name":"HTTPS_PROXY","value":"p:1"}]`}, nil, `{"name":"HTTPS_PROXY","value":"p:1"}`},
	"NAME.resources.requests.cpu":        {"the other request stays", []string{`NAME.resources.requests.cpu="1"`}, nil, `"requests":{"cpu":"1","memory":"128Mi"}`},
	"NAME.resources.requests.memory":     {"the other request stays", []string{`NAME.resources.requests.memory="1Gi"`}, nil, `"requests":{"cpu":"50m","memory":"1Gi"}`},
	"NAME.resources.limits.memory":       {"a large catalog", []string{`NAME.resources.limits.memory="2Gi"`}, nil, `"limits":{"memory":"2Gi"}`},
	"NAME.terminationGracePeriodSeconds": {"slow calls", []string{`NAME.terminationGracePeriodSeconds=121`}, nil, `"terminationGracePeriodSeconds":121`},
	"NAME.podDisruptionBudget.enabled": {
		"another makes one", []string{`NAME.podDisruptionBudget.enabled=false`}, []string{"-PodDisruptionBudget defaultplan-system/defaultplan-NAME"}, "",
	},
	"NAME.podDisruptionBudget.minAvailable": {
		"a share", []string{`NAME.podDisruptionBudget.minAvailable="50%"`}, []string{"~PodDisruptionBudget defaultplan-system/defaultplan-NAME"}, `"minAvailable":"50%"`,
	},
	"NAME.topologySpread.zone": {"strictly", []string{`NAME.topologySpread.zone="DoNotSchedule"`}, nil, `"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"`},
	"NAME.topologySpread.host": {"not at all", []string{`NAME.topologySpread.host=""`, `NAME.topologySpread.zone=""`}, nil, `"enableServiceLinks"`},
	"NAME.nodeSelector":        {"own nodes", []string{`NAME.nodeSelector={"a":"b"}`}, nil, `"nodeSelector":{"a":"b"}`},
	"NAME.tolerations":         {"own nodes", []string{`NAME.tolerations=[{"key":"a","operator":"Exists"}]`}, nil, `"tolerations":[{"key":"a","operator":"Exists"}]`},
	"NAME.affinity":            {"own nodes", []string{`NAME.affinity={"nodeAffinity":{}}`}, nil, `"affinity":{"nodeAffinity":{}}`},
	"NAME.podAnnotations":      {"beside ours", []string{`NAME.podAnnotations={"a":"b"}`}, nil, `"annotations":{"a":"b",`},
	"NAME.dnsPolicy":           {"names of the node", []string{`NAME.dnsPolicy="Default"`}, nil, `"dnsPolicy":"Default"`},
	"NAME.deploymentAnnotations": {
		"of tools that restart Deployments", []string{`NAME.deploymentAnnotations={"a":"b"}`}, nil, `"annotations":{"a":"b"},"labels":{"app.kubernetes.io/component":"NAME"`,
	},
	"NAME.extraVolumes":      {"an authority of one's own", []string{`NAME.extraVolumes=[{"name":"mine","configMap":{"name":"mine"}}]`}, nil, `{"configMap":{"name":"mine"},"name":"mine"}`},
	"NAME.extraVolumeMounts": {"and where it is", []string{`NAME.extraVolumes=[{"name":"mine","configMap":{"name":"mine"}}]`, `NAME.extraVolumeMounts=[{"name":"mine","mountPath":"/mine"}]`}, nil, `{"mountPath":"/mine","name":"mine"}`},
	"NAME.podSecurityContext": {
		"what a platform asks for", []string{`NAME.podSecurityContext={"runAsUser":1000730000,"supplementalGroups":[7]}`}, nil,
		`"securityContext":{"fsGroup":65532,"runAsGroup":65532,"runAsNonRoot":true,"runAsUser":1000730000,"seccompProfile":{"type":"RuntimeDefault"},"supplementalGroups":[7]}`,
	},
	"NAME.securityContext": {
		"a profile of one's own", []string{`NAME.securityContext={"seccompProfile":{"type":"Localhost","localhostProfile":"a.json"}}`}, nil,
		`"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"seccompProfile":{"localhostProfile":"a.json","type":"Localhost"}}`,
	},
	"NAME.startupProbe":   {"a slow node", []string{`NAME.startupProbe={"failureThreshold":60}`}, nil, `"startupProbe":{"failureThreshold":60,"httpGet":{"path":"/healthz","port":"health"},"periodSeconds":1,"timeoutSeconds":2}`},
	"NAME.readinessProbe": {"a slow node", []string{`NAME.readinessProbe={"periodSeconds":4}`}, nil, `"readinessProbe":{"failureThreshold":5,"httpGet":{"path":"/readyz","port":"health"},"periodSeconds":4,"timeoutSeconds":2}`},
	"NAME.livenessProbe":  {"a slow node", []string{`NAME.livenessProbe={"initialDelaySeconds":9}`}, nil, `"livenessProbe":{"failureThreshold":3,"httpGet":{"path":"/healthz","port":"health"},"initialDelaySeconds":9,"periodSeconds":10,"timeoutSeconds":5}`},
	"NAME.updateStrategy": {"no room for one more", []string{`NAME.updateStrategy={"type":"Recreate"}`}, nil, `"strategy":{"type":"Recreate"}`},
	"NAME.podLabels":      {"beside ours", []string{`NAME.podLabels={"a":"b"}`}, nil, `"labels":{"a":"b",`},
}

// ownCases are those of values that one component, or none, has.
var ownCases = map[string]valueCase{
	"crds.install":         {"definitions are another's", []string{`crds.install=false`}, each("-", "crds"), ""},
	"crds.keep":            {"a cluster for a day", []string{`crds.keep=false`}, each("~", "crds"), ""},
	"rbac.aggregatedRoles": {"roles of one's own", []string{`rbac.aggregatedRoles=false`}, named("-ClusterRole servicecatalog-", "admin", "adopt", "bind", "catalog-view", "defaults", "edit", "view"), ""},
	"webhook.unresolved": {
		"what is meant to wait must not be refused by a policy", []string{`webhook.unresolved="wait"`}, append(guardCase("undecided"), webhook), `"--unresolved=wait"`,
	},
	"webhook.schemaCheck":            {"schemas that are wrong", []string{`webhook.schemaCheck="warn"`}, []string{webhook}, `"--schema-check=warn"`},
	"webhook.featureGates":           {"as the retired catalog did", []string{`webhook.featureGates={"SuggestedPlans":false}`}, []string{webhook, keeper}, `"--feature-gates=SuggestedPlans=false"`},
	"webhook.port":                   {"what a private cluster lets through", []string{`webhook.port=10250`}, []string{webhook, webhookPolicy}, `"--port=10250"`},
	"webhook.hostNetwork":            {"an overlay network", []string{`webhook.hostNetwork=true`}, []string{webhook}, `"dnsPolicy":"ClusterFirstWithHostNet","enableServiceLinks":false,"hostNetwork":true`},
	"webhook.service.annotations":    {"of a mesh", []string{`webhook.service.annotations={"a":"b"}`}, []string{webhookService}, `"annotations":{"a":"b"}`},
	"webhook.service.ipFamilyPolicy": {"both", []string{`webhook.service.ipFamilyPolicy="PreferDualStack"`}, []string{webhookService}, `"ipFamilyPolicy":"PreferDualStack"`},
	"webhook.service.ipFamilies":     {"both, in an order", []string{`webhook.service.ipFamilies=["IPv6","IPv4"]`}, []string{webhookService}, `"ipFamilies":["IPv6","IPv4"]`},
	"extraObjects": {
		"what belongs to the installation", []string{`extraObjects=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine","namespace":"{{ .Release.Namespace }}"}}]`},
		[]string{"+ConfigMap defaultplan-system/mine"}, `"name":"mine"`,
	},
	"webhook.preStopSeconds": {"slow nodes", []string{`webhook.preStopSeconds=9`}, []string{webhook}, `"preStop":{"sleep":{"seconds":9}}`},
	"webhook.drainSeconds":   {"many API servers", []string{`webhook.drainSeconds=9`}, []string{webhook}, `"--drain-time=9s"`},

	"controller.name": {
		"one of several", []string{`controller.name="east"`},
		[]string{controller, "~ValidatingAdmissionPolicy leases.servicecatalog.k8s.io", "+Role defaultplan-system/defaultplan-controller-east", "+RoleBinding defaultplan-system/defaultplan-controller-east"}, `"--controller-name=east"`,
	},
	"controller.namespaces": {
		"rights there, and nowhere else but to read policies", []string{`controller.namespaces=["a","b"]`, `controller.clusterID="c1"`},
		append(named("+ClusterRole", " defaultplan-controller-policies", "Binding defaultplan-controller-policies"),
			controller, "-ClusterRoleBinding defaultplan-controller", "+RoleBinding a/defaultplan-controller", "+RoleBinding b/defaultplan-controller"), `"--namespaces=a,b"`,
	},
	"controller.ignoreQuotas": {
		"not even that", []string{`controller.namespaces=["a"]`, `controller.clusterID="c1"`, `controller.ignoreQuotas=true`},
		[]string{controller, "-ClusterRoleBinding defaultplan-controller", "+RoleBinding a/defaultplan-controller"}, `"--ignore-quotas"`,
	},

	"controller.brokerCalls":         {"slow brokers", []string{`controller.brokerCalls=256`}, []string{controller}, `"--broker-calls=256"`},
	"controller.namespaceCallShare":  {"many tenants with brokers of their own", []string{`controller.namespaceCallShare=10`}, []string{controller}, `"--namespace-call-share=10"`},
	"controller.namespacedCallShare": {"brokers of namespaces alone", []string{`controller.namespacedCallShare=100`}, []string{controller}, `"--namespaced-call-share=100"`},
	"controller.workers":             {"a large catalog", []string{`controller.workers=64`}, []string{controller}, `"--workers=64"`},
	"controller.endpoints.enabled": {
		"Services of bindings, and the rights to them", []string{`controller.endpoints.enabled=true`},
		append(named("+ClusterRole", " defaultplan-controller-endpoints", "Binding defaultplan-controller-endpoints"), controller), `"--endpoints"`,
	},
	"controller.allowEndpoints":         {"several", []string{`controller.allowEndpoints=["10.96.0.0/12","prod.svc"]`}, []string{controller}, `"--allow-endpoints=10.96.0.0/12,prod.svc"`},
	"controller.clusterCIDRs":           {"pods and nodes", []string{`controller.clusterCIDRs=["10.244.0.0/16"]`}, []string{controller}, `"--cluster-cidrs=10.244.0.0/16"`},
	"controller.clusterDomain":          {"another name", []string{`controller.clusterDomain="k8s.acme.example"`}, []string{controller}, `"--cluster-domain=k8s.acme.example"`},
	"controller.clusterID":              {"a cluster that was moved", []string{`controller.clusterID="c1"`}, []string{controller}, `"--cluster-id=c1"`},
	"controller.allowBrokerAddresses":   {"several", []string{`controller.allowBrokerAddresses=["10.0.0.0/8","192.0.2.1/32"]`}, []string{controller}, `"--allow-broker-addresses=10.0.0.0/8,192.0.2.1/32"`},
	"controller.denyBrokerCIDRs":        {"pods and Services", []string{`controller.denyBrokerCIDRs=["10.244.0.0/16","10.96.0.0/12"]`}, []string{controller}, `"--deny-broker-cidrs=10.244.0.0/16,10.96.0.0/12"`},
	"controller.contextAnnotations":     {"cost centres", []string{`controller.contextAnnotations=["a.example/"]`}, []string{controller}, `"--context-annotations=a.example/"`},
	"controller.brokerRelistInterval":   {"often", []string{`controller.brokerRelistInterval="1h"`}, []string{controller}, `"--broker-relist-interval=1h"`},
	"controller.requestTimeout":         {"fast brokers", []string{`controller.requestTimeout="30s"`}, []string{controller}, `"--osb-api-request-timeout=30s"`},
	"controller.maximumPollingDuration": {"fast brokers", []string{`controller.maximumPollingDuration="2h"`}, []string{controller}, `"--maximum-polling-duration=2h"`},
	"controller.maximumRetryInterval":   {"eager", []string{`controller.maximumRetryInterval="1m30s"`}, []string{controller}, `"--maximum-retry-interval=1m30s"`},
	"controller.secretInterval":         {"rarely", []string{`controller.secretInterval="5m"`}, []string{controller}, `"--secret-interval=5m"`},
	"controller.osbAPIVersion":          {"an old broker", []string{`controller.osbAPIVersion="2.16"`}, []string{controller}, `"--osb-api-version=2.16"`},

	"networkPolicy.enabled":        {"a network of another kind", []string{`networkPolicy.enabled=false`}, named("-NetworkPolicy defaultplan-system/defaultplan-", "controller", "keeper", "webhook"), ""},
	"networkPolicy.apiServerPorts": {"another port", []string{`networkPolicy.apiServerPorts=[8443]`}, []string{webhookPolicy, keeperPolicy}, `"egress":[{"ports":[{"port":8443,`},
	"networkPolicy.metricsFrom.matchLabels.metrics": {
		"other namespaces", []string{`networkPolicy.metricsFrom.matchLabels={"metrics":null,"team":"a"}`},
		[]string{webhookPolicy, keeperPolicy, controllerPolicy}, `"namespaceSelector":{"matchLabels":{"team":"a"}}`,
	},
	"policies.undecided":          {"not wanted", []string{`policies.undecided=false`}, guardCase("undecided"), ""},
	"policies.unrecorded":         {"not wanted", []string{`policies.unrecorded=false`}, guardCase("unrecorded"), ""},
	"policies.secrets":            {"not wanted", []string{`policies.secrets=false`}, guardCase("secrets"), ""},
	"policies.configmaps":         {"not wanted", []string{`policies.configmaps=false`}, guardCase("configmaps"), ""},
	"policies.services":           {"not wanted", []string{`policies.services=false`}, guardCase("services"), ""},
	"policies.endpointslices":     {"not wanted", []string{`policies.endpointslices=false`}, guardCase("endpointslices"), ""},
	"policies.instances":          {"not wanted", []string{`policies.instances=false`}, guardCase("instances"), ""},
	"policies.definitions":        {"not wanted", []string{`policies.definitions=false`}, guardCase("definitions"), ""},
	"policies.hookconfigurations": {"not wanted", []string{`policies.hookconfigurations=false`}, guardCase("hookconfigurations"), ""},
	"policies.brokers":            {"not wanted", []string{`policies.brokers=false`}, guardCase("brokers"), ""},
	"policies.offerings":          {"not wanted", []string{`policies.offerings=false`}, guardCase("offerings"), ""},
	"policies.kubesystem":         {"not wanted", []string{`policies.kubesystem=false`}, guardCase("kubesystem"), ""},
	"policies.leases":             {"not wanted", []string{`policies.leases=false`}, guardCase("leases"), ""},
	"policies.requeues":           {"not wanted", []string{`policies.requeues=false`}, guardCase("requeues"), ""},
	"policies.finalizers":         {"not wanted", []string{`policies.finalizers=false`}, guardCase("finalizers"), ""},
	"policies.deletion":           {"not wanted", []string{`policies.deletion=false`}, guardCase("deletion"), ""},
	"flow.enabled": {
		"levels of one's own", []string{`flow.enabled=false`}, each("-", "flow"), "",
	},
}

// named are changes that begin alike.
func named(prefix string, names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, prefix+name)
	}
	return all
}

// guardCase is that a policy is not installed, and its binding neither.
func guardCase(name string) []string {
	return []string{"-ValidatingAdmissionPolicy " + name + ".servicecatalog.k8s.io", "-ValidatingAdmissionPolicyBinding " + name + ".servicecatalog.k8s.io"}
}

// each is one change to every object of a folder.
func each(change, folder string) []string {
	files, err := fs.Glob(deploy.Manifests, folder+"/*.yaml")
	if err != nil {
		panic(err)
	}
	var all []string
	for _, file := range files {
		content, err := fs.ReadFile(deploy.Manifests, file)
		if err != nil {
			panic(err)
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			object := unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				panic(err)
			}
			all = append(all, change+key(&object))
		}
	}
	return all
}
