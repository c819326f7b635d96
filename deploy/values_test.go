package deploy_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// valueCases are those of every value of the chart, by its path.
func valueCases() map[string]valueCase {
	all := map[string]valueCase{}
	for _, cases := range []map[string]valueCase{sharedCases, ownCases, accountCases, certCases, monitoringCases} {
		maps.Copy(all, cases)
	}
	for path, tc := range podCases {
		for _, name := range []string{"webhook", "keeper", "controller"} {
			if name == "keeper" && strings.HasPrefix(path, "images.") {
				continue // its image is the webhook's
			}
			of := func(text string) string { return strings.ReplaceAll(text, "NAME", name) }
			changes := tc.changes
			if changes == nil {
				changes = []string{"~Deployment defaultplan-system/defaultplan-NAME"}
				if name == "webhook" && strings.HasPrefix(path, "images.") {
					changes = append(changes, keeper)
				}
			}
			one := valueCase{reason: tc.reason, says: of(tc.says)}
			for _, set := range tc.set {
				one.set = append(one.set, of(set))
			}
			for _, change := range changes {
				one.changes = append(one.changes, of(change))
			}
			all[of(path)] = one
		}
	}
	return all
}

// TestEveryValueHasAnEffect: what each value changes, and that it changes nothing
// else; all that is rendered is of the fields that its kind has.
func TestEveryValueHasAnEffect(t *testing.T) {
	t.Parallel()
	// Without the definitions, which are most of the work and none of what is changed.
	const without = `crds.install=false`
	lean := chart(t, "helm", "defaultplan-system", without)
	for path, tc := range valueCases() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			before, set := defaults, tc.set
			if !strings.HasPrefix(path, "crds.") {
				before, set = func(*testing.T) objects { return lean }, with(tc.set, without)
			}
			all := chart(t, "helm", "defaultplan-system", set...)
			for _, kind := range strict(t, all) {
				assert.Contains(t, []string{"ServiceMonitor", "PodMonitor", "PrometheusRule"}, kind, "a kind without a Go type")
			}
			changed, says := changes(t, before(t), all)
			want := tc.changes
			if slices.Equal(want, []string{everyObject}) {
				want = named(everyObject, slices.Collect(maps.Keys(before(t)))...)
			}
			assert.ElementsMatch(t, want, changed, tc.reason)
			assert.Contains(t, says, tc.says, tc.reason)
		})
	}
}

// changes are what one form has otherwise than the default has, and what is there
// instead, as JSON.
func changes(t *testing.T, before, after objects) (changed []string, says string) {
	t.Helper()
	var all strings.Builder
	for name, object := range after {
		old, there := before[name]
		if there && reflect.DeepEqual(old.Object, object.Object) {
			continue
		}
		change := "~"
		if !there {
			change = "+"
		}
		changed = append(changed, change+name)
		content, err := json.Marshal(object.Object)
		require.NoError(t, err)
		all.Write(content)
	}
	for name := range before {
		if _, there := after[name]; !there {
			changed = append(changed, "-"+name)
		}
	}
	return changed, all.String()
}

// leaves are the paths of all values of the chart that are no map with something in
// it.
func leaves(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.Unmarshal(content, &values))
	var all []string
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		inner, isMap := value.(map[string]any)
		if !isMap || len(inner) == 0 {
			all = append(all, prefix)
			return
		}
		for name, value := range inner {
			walk(strings.TrimPrefix(prefix+"."+name, "."), value)
		}
	}
	walk("", values)
	return all
}

// TestEveryValueIsTested: a value without a case, or a case of a value that is not
// there any more.
func TestEveryValueIsTested(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, leaves(t), slices.Collect(maps.Keys(valueCases())))
}

// TestEveryValueIsDocumented holds docs/install.md to the values that there are.
func TestEveryValueIsDocumented(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../docs/install.md")
	require.NoError(t, err)
	for _, path := range leaves(t) {
		component, rest, _ := strings.Cut(path, ".")
		if component == "webhook" || component == "keeper" || component == "controller" {
			// What all have is said once.
			if strings.Contains(string(content), "`*."+rest) {
				continue
			}
		}
		assert.Contains(t, string(content), "`"+path, "%s is not in docs/install.md", path)
	}
}

// TestValuesAreChecked: a value that nothing can be made of is refused by its name,
// before anything is installed.
func TestValuesAreChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, set, says string }{
		"Unknown":        {"an unknown key", `replicas=3`, "'replicas' not allowed"},
		"UnknownInside":  {"a word in the wrong place", `webhook.workers=3`, "at '/webhook': additional properties 'workers' not allowed"},
		"Typo":           {"a typo would be a default", `certs.certManager.isue=true`, "at '/certs/certManager': additional properties 'isue' not allowed"},
		"Mode":           {"", `certs.mode="certmanager"`, "at '/certs/mode': value must be one of 'managed', 'cert-manager'"},
		"Unresolved":     {"", `webhook.unresolved="maybe"`, "at '/webhook/unresolved': value must be one of 'reject', 'wait'"},
		"SchemaCheck":    {"", `webhook.schemaCheck=true`, "at '/webhook/schemaCheck'"},
		"Gate":           {"gates are known by name", `webhook.featureGates={"Nope":true}`, "Nope"},
		"GateOfAWord":    {"", `webhook.featureGates={"ServiceTypes":"yes"}`, "at '/webhook/featureGates/ServiceTypes': got string, want boolean"},
		"LogLevel":       {"", `controller.logLevel="loud"`, "at '/controller/logLevel'"},
		"Replicas":       {"", `webhook.replicas="two"`, "at '/webhook/replicas': got string, want integer"},
		"NoReplicas":     {"nothing would be admitted", `webhook.replicas=0`, "at '/webhook/replicas'"},
		"Duration":       {"", `controller.requestTimeout="1 minute"`, "at '/controller/requestTimeout'"},
		"Version":        {"2.10 would be 2.1", `controller.osbAPIVersion=2.10`, "at '/controller/osbAPIVersion': got number, want string"},
		"Digest":         {"", `images.webhook.digest="latest"`, "at '/images/webhook/digest'"},
		"Registry":       {"no scheme", `images.registry="https://registry.example"`, "at '/images/registry'"},
		"Arguments":      {"a flag in two words is none", `webhook.extraArgs=["keeper off"]`, "at '/webhook/extraArgs/0'"},
		"Spread":         {"", `webhook.topologySpread.zone="Always"`, "at '/webhook/topologySpread/zone'"},
		"Budget":         {"", `webhook.podDisruptionBudget.minAvailable="one"`, "at '/webhook/podDisruptionBudget/minAvailable'"},
		"Resources":      {"", `webhook.resources.limit={"memory":"1Gi"}`, "at '/webhook/resources': additional properties 'limit' not allowed"},
		"Toleration":     {"", `webhook.tolerations=[{"effects":"NoSchedule"}]`, "at '/webhook/tolerations/0'"},
		"Root":           {"never root", `runAsUser=0`, "at '/runAsUser'"},
		"Port":           {"", `networkPolicy.apiServerPorts=[70000]`, "at '/networkPolicy/apiServerPorts/0'"},
		"SelectorLabels": {"what selects the pods is not to be changed", `webhook.podLabels={"app.kubernetes.io/component":"x"}`, "invalid propertyName 'app.kubernetes.io/component'"},
		"PriorityName":   {"a class without a name", `priorityClass.name=""`, "at '/priorityClass/name'"},
		"RateAlone":      {"traces that go nowhere", `tracing.samplingRatePerMillion=10`, "at '/tracing/endpoint'"},
		"Endpoint":       {"the policy needs its port", `tracing.endpoint="collector"`, "at '/tracing/endpoint'"},
		"EndpointPath":   {"gRPC has no paths", `tracing.endpoint="http://collector:4317"`, "at '/tracing/endpoint'"},
		"EndpointScheme": {"nor has host:port a scheme", `tracing.endpoint="//collector:4317"`, "at '/tracing/endpoint'"},
		"Account":        {"no ServiceAccount can be called that", `webhook.serviceAccount.name="My Account"`, "at '/webhook/serviceAccount/name'"},
		"AccountUnnamed": {"there is none to run as", `keeper.serviceAccount.create=false`, "keeper.serviceAccount.name is empty, and must be the name of an existing ServiceAccount: keeper.serviceAccount.create is false"},
		"AccountTwice":   {"the webhook would have the keeper's rights", `webhook.serviceAccount.name="defaultplan-keeper"`, "webhook.serviceAccount.name and keeper.serviceAccount.name are both defaultplan-keeper: give each"},
		"AccountSame":    {"policies would refuse what the keeper writes", `controller.serviceAccount.name="defaultplan-keeper"`, "keeper.serviceAccount.name is defaultplan-keeper, and must not begin with"},
		"AccountPrefix":  {"policies for the controller are for those who are called after it, too", `webhook.serviceAccount.name="defaultplan-controller-hooks"`, "the name of the controller's ServiceAccount, defaultplan-controller: the policies"},
		"CommonSelector": {"what selects the pods is not to be changed", `commonLabels={"app.kubernetes.io/component":"x"}`, "commonLabels has app.kubernetes.io/component, a label that the chart sets itself: remove it"},
		"CommonRights":   {"it would add the controller's rights to a role of people", `commonLabels={"rbac.authorization.k8s.io/aggregate-to-view":"true"}`, "commonLabels has rbac.authorization.k8s.io/aggregate-to-view"},
		"CommonNumber":   {"a label is a text", `commonLabels={"a":1}`, "at '/commonLabels/a': got number, want string"},
		"AccountOfTest":  {"helm test deletes it", `keeper.serviceAccount.name="defaultplan-test"`, "keeper.serviceAccount.name is defaultplan-test, the ServiceAccount of helm test"},
		"TwoMonitors":    {"each pod would be scraped twice", `podMonitor.enabled=true,serviceMonitor.enabled=true`, "serviceMonitor.enabled and podMonitor.enabled are both true"},
		"MonitorsToken":  {"every scrape would be refused", `podMonitor.enabled=true`, "podMonitor.credentials.name is empty, and must be the name of a Secret with a token: metrics.secure is true"},
		"KubeletsPort":   {"on a node it is taken", `webhook={"hostNetwork":true,"port":10250}`, "webhook.port=10250 is the kubelet's"},
		"MetricsPort":    {"the pod has it already", `webhook.port=8080`, "at '/webhook/port'"},
		"LowPort":        {"the user of the process may not listen there", `webhook.port=443`, "at '/webhook/port'"},
		"OurVolume":      {"it would be there twice", `webhook.extraVolumes=[{"name":"serving"}]`, "at '/webhook/extraVolumes/0/name'"},
		"MountPath":      {"", `keeper.extraVolumeMounts=[{"name":"a","mountPath":"a"}]`, "at '/keeper/extraVolumeMounts/0/mountPath'"},
		"FamilyTwice":    {"", `webhook.service.ipFamilies=["IPv4","IPv4"]`, "at '/webhook/service/ipFamilies'"},
		"DNSPolicy":      {"it wants a configuration beside", `controller.dnsPolicy="None"`, "at '/controller/dnsPolicy'"},
		"RootOfPod":      {"never root", `webhook.podSecurityContext={"runAsNonRoot":false}`, "at '/webhook/podSecurityContext/runAsNonRoot'"},
		"Privileged":     {"a word that would undo all others", `keeper.securityContext={"privileged":true}`, "at '/keeper/securityContext': additional properties 'privileged' not allowed"},
		"ProbePath":      {"timings only", `webhook.livenessProbe={"httpGet":{}}`, "at '/webhook/livenessProbe': additional properties 'httpGet' not allowed"},
		"NoPeriod":       {"", `controller.readinessProbe={"periodSeconds":0}`, "at '/controller/readinessProbe/periodSeconds'"},
		"Strategy":       {"", `webhook.updateStrategy={"type":"BlueGreen"}`, "at '/webhook/updateStrategy/type'"},
		"ExtraObject":    {"it could not be applied", `extraObjects=[{"apiVersion":"v1","metadata":{"name":"a"}}]`, "at '/extraObjects/0': missing property 'kind'"},
		"NoPreStop":      {"older clusters take no sleep of 0", `webhook.preStopSeconds=0`, "at '/webhook/preStopSeconds'"},
		"OurNamespace":   {"arguments are made of it", `webhook.extraEnv=[{"name":"NAMESPACE","value":"a"}]`, "at '/webhook/extraEnv/0/name'"},
		"OurLimit":       {"it follows limits.memory", `controller.extraEnv=[{"name":"GOMEMLIMIT","value":"1GiB"}]`, "at '/controller/extraEnv/0/name'"},
		"IssuerUnnamed":  {"a certificate that is never issued", `certs.certManager.issuerRef={"kind":"ClusterIssuer"}`, "at '/certs/certManager/issuerRef': missing property 'name'"},
		"Issuer":         {"", `certs.certManager.issuerRef={"names":"x"}`, "at '/certs/certManager/issuerRef'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, helm := range []string{"helm", "helm3"} {
				_, said, err := template(t, helm, "defaultplan-system", tc.set)
				require.Error(t, err, "%s: %s", helm, tc.reason)
				assert.Contains(t, said, tc.says, tc.reason)
			}
		})
	}
}

// TestReleasedChart: a chart with the digests of its images in annotations, as tools/image makes it, pulls
// those; another tag, repository or digest is the user's.
func TestReleasedChart(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "defaultplan")
	require.NoError(t, os.CopyFS(folder, os.DirFS(chartFolder)))
	about := filepath.Join(folder, "Chart.yaml")
	content, err := os.ReadFile(about)
	require.NoError(t, err)
	lines := "annotations:\n  defaultplan/webhook-digest: " + digest + "\n  defaultplan/controller-digest: " + digest + "\n  defaultplan/svcat-digest: " + digest + "\n"
	require.NoError(t, os.WriteFile(about, []byte(strings.Replace(string(content), "annotations:\n", lines, 1)), 0o600))
	other := strings.ReplaceAll(digest, "0", "1")
	for name, tc := range map[string]struct {
		reason, set           string
		released, otherDigest int
	}{
		"Own":        {"what was built is what runs", "crds.keep=true", 4, 0},
		"Tag":        {"the way back to an older release", "images.tag=v0.1.9", 0, 0},
		"Repository": {"another image has another digest", "images.webhook.repository=a/b", 2, 0},
		"Digest":     {"it is pinned by its user", "images.webhook.digest=" + other, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, helm := range []string{"helm", "helm3"} {
				rendered, stderr, err := run(t, helm, "template", "any-name", folder, "--kube-version", "1.36.0", "--set", "crds.install=false", "--set", tc.set)
				require.NoError(t, err, stderr)
				assert.Equal(t, tc.released, strings.Count(string(rendered), "@"+digest), "%s: %s", helm, tc.reason)
				assert.Equal(t, tc.otherDigest, strings.Count(string(rendered), "@"+other), "%s: %s", helm, tc.reason)
			}
		})
	}
}

// TestHostNetwork: two pods of one node would want the same ports, so that an upgrade ends one first.
func TestHostNetwork(t *testing.T) {
	t.Parallel()
	rendered, stderr, err := template(t, "helm", "defaultplan-system", "crds.install=false", "webhook.hostNetwork=true")
	require.NoError(t, err, stderr)
	const surging, ending = "maxUnavailable: 0\n      maxSurge: 1\n", "maxUnavailable: 1\n      maxSurge: 0\n"
	assert.Equal(t, 2, strings.Count(string(rendered), surging), "keeper and controller")
	assert.Equal(t, 1, strings.Count(string(rendered), ending))
}

// TestChartsAreClean: Helm's own rules have nothing to say of any chart; what a user must set, they name as missing.
func TestChartsAreClean(t *testing.T) {
	t.Parallel()
	charts := filepath.Join(t.TempDir(), "charts")
	require.NoError(t, os.CopyFS(charts, os.DirFS("charts")))
	library := filepath.Join(charts, "servicecatalog-lib")
	// As helm dependency build does.
	require.NoError(t, os.CopyFS(filepath.Join(charts, "examples", "wordpress", "charts", "servicecatalog-lib"), os.DirFS(library)))
	for _, helm := range []string{"helm", "helm3"} {
		for _, chart := range []string{"defaultplan", "servicecatalog-lib", "examples/broker", "examples/wordpress"} {
			out, said, err := run(t, helm, "lint", "--strict", filepath.Join(charts, chart))
			require.NoError(t, err, "%s: %s: %s%s", helm, chart, out, said)
			assert.NotContains(t, string(out), "[", "%s: %s: neither an error nor a warning nor advice", helm, chart)
		}
		_, said, err := run(t, helm, "template", filepath.Join(charts, "examples", "broker"), "--generate-name")
		require.Error(t, err, helm)
		assert.Contains(t, said, "url is empty: set it to the address of the broker", helm)
	}
}

// TestNotes: what a user reads after helm install registers a broker for the cluster, and ends with the command
// that verifies the installation.
func TestNotes(t *testing.T) {
	t.Parallel()
	notes, err := os.ReadFile(filepath.Join(chartFolder, "templates", "NOTES.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(notes), "svcat register NAME --url URL --scope cluster")
	assert.True(t, strings.HasSuffix(string(notes), "\n  svcat check\n"), string(notes))
}
