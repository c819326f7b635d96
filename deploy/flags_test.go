package deploy_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deployment reads the Deployment of a component.
func deployment(t *testing.T, all objects, component string) *appsv1.Deployment {
	t.Helper()
	object := all["Deployment defaultplan-system/defaultplan-"+component]
	require.NotNil(t, object)
	found := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, found))
	return found
}

// program is the binary of a component: the keeper is the webhook's.
func program(component string) string {
	if component == "keeper" {
		return "webhook"
	}
	return component
}

// argumentsOf are those of a component's container, with the variables of its
// environment put in as the kubelet does.
func argumentsOf(t *testing.T, all objects, component string) []string {
	t.Helper()
	pod := deployment(t, all, component).Spec.Template.Spec
	require.Len(t, pod.Containers, 1)
	container := pod.Containers[0]
	assert.Equal(t, []string{"/" + program(component)}, container.Command)
	var namespaced []corev1.EnvVar
	for _, variable := range container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil && variable.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			namespaced = append(namespaced, variable)
		}
	}
	require.Len(t, namespaced, 1)
	var arguments []string
	for _, argument := range container.Args {
		arguments = append(arguments, strings.ReplaceAll(argument, "$("+namespaced[0].Name+")", "defaultplan-system"))
	}
	return arguments
}

// everything is every value that becomes a flag.
var everything = []string{
	`certs.certManager.issue=true`, `certs.clientCA.configMap="clients"`, `certs.clientCA.names=["a","b"]`,
	`metrics.secure=false`, `tracing.endpoint="127.0.0.1:4317"`, `tracing.samplingRatePerMillion=10`,
	`webhook.unresolved="wait"`, `webhook.schemaCheck="warn"`, `webhook.featureGates={"SuggestedPlans":false,"AllAlpha":true}`, `webhook.logLevel="warn"`,
	`controller.name="east"`, `controller.namespaces=["a","b"]`, `controller.ignoreQuotas=true`, `controller.workers=2`, `controller.brokerCalls=64`, `controller.namespaceCallShare=20`, `controller.namespacedCallShare=60`, `controller.clusterID="c1"`, `controller.allowBrokerAddresses=["10.0.0.0/8","192.0.2.1/32"]`, `controller.denyBrokerCIDRs=["10.244.0.0/16"]`,
	`controller.endpoints.enabled=true`, `controller.allowEndpoints=["10.96.0.0/12","prod.svc"]`, `controller.clusterCIDRs=["10.244.0.0/16"]`, `controller.clusterDomain="k8s.acme.example"`,
	`controller.contextAnnotations=["a.example/"]`, `controller.brokerRelistInterval="1h"`, `controller.requestTimeout="30s"`,
	`controller.maximumPollingDuration="2h"`, `controller.maximumRetryInterval="1m30s"`, `controller.secretInterval="5m"`, `controller.osbAPIVersion="2.16"`,
}

// TestBinariesTakeTheArguments runs the binaries with the arguments that are shipped,
// and with those that all values make: the only thing that they may miss is a
// cluster.
func TestBinariesTakeTheArguments(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]objects{
		"AsShipped":   kustomization(t, "overlays/self-managed"),
		"CertManager": kustomization(t, "overlays/cert-manager"),
		"EveryValue":  chart(t, "helm", "defaultplan-system", everything...),
	} {
		for _, component := range []string{"webhook", "keeper", "controller"} {
			t.Run(name+"/"+component, func(t *testing.T) {
				t.Parallel()
				arguments := argumentsOf(t, all, component)
				_, help, _ := run(t, program(component), "--help")
				for _, argument := range arguments {
					flag, _, _ := strings.Cut(argument, "=")
					assert.Regexp(t, `(?m)^ +`+regexp.QuoteMeta(flag)+` `, help, "the flag of %s", argument)
				}
				_, said, err := run(t, program(component), append(arguments, "--kubeconfig=/there/is/none")...)
				require.Error(t, err)
				assert.Contains(t, said, "--kubeconfig")
				for _, argument := range arguments {
					flag, _, _ := strings.Cut(argument, "=")
					assert.NotContains(t, said, flag+" ", "the value of %s", argument)
				}
			})
		}
	}
}

// TestPortsAreWhereTheBinariesListen: by the defaults of the flags, because no
// argument says them; and Services and probes name ports that there are.
func TestPortsAreWhereTheBinariesListen(t *testing.T) {
	t.Parallel()
	for component, ports := range map[string]map[string]string{
		"webhook":    {"hooks": `--port int .*\(default 9443\)`, "health": `--health-address .*\(default ":8081"\)`, "metrics": `--metrics-address .*\(default ":8080"\)`},
		"controller": {"health": `--health-address .*\(default ":8081"\)`, "metrics": `--metrics-address .*\(default ":8080"\)`},
	} {
		_, help, _ := run(t, component, "--help")
		container := deployment(t, defaults(t), component).Spec.Template.Spec.Containers[0]
		assert.Len(t, container.Ports, len(ports))
		for _, port := range container.Ports {
			assert.Regexp(t, ports[port.Name], help, port.Name)
			assert.Regexp(t, `[^0-9]`+strconv.Itoa(int(port.ContainerPort))+`[^0-9]`, ports[port.Name], port.Name)
		}
		for _, probe := range []*corev1.Probe{container.StartupProbe, container.ReadinessProbe, container.LivenessProbe} {
			assert.Equal(t, "health", probe.HTTPGet.Port.StrVal)
		}
	}
}

// TestMetricsAreServedAsTheyAreRead: by the default of the flag, because no argument says
// it, metrics are served by HTTPS: so Services and monitors say, in every form.
func TestMetricsAreServedAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, protocol string
		all              objects
		argument         bool
	}{
		"AsShipped": {reason: "a token is never sent in the clear", protocol: "https", all: kustomization(t, "overlays/self-managed")},
		"Helm":      {reason: "the same", protocol: "https", all: chart(t, "helm", "defaultplan-system", `serviceMonitor.enabled=true`)},
		"TurnedOff": {
			reason: "no client sends one", protocol: "http", argument: true,
			all: chart(t, "helm", "defaultplan-system", `serviceMonitor.enabled=true`, `metrics.secure=false`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, component := range []string{"webhook", "controller"} {
				_, help, _ := run(t, component, "--help")
				assert.Regexp(t, `--metrics-secure .*\(default true\)`, help)
				assert.Equal(t, tc.argument, slices.Contains(argumentsOf(t, tc.all, component), "--metrics-secure=false"), component)
				service := &corev1.Service{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(
					tc.all["Service defaultplan-system/defaultplan-"+component+"-metrics"].Object, service))
				assert.Equal(t, tc.protocol, *service.Spec.Ports[0].AppProtocol, tc.reason)
				if monitor, there := tc.all["ServiceMonitor defaultplan-system/defaultplan-"+component]; there {
					content, err := monitor.MarshalJSON()
					require.NoError(t, err)
					assert.Equal(t, tc.protocol == "https", strings.Contains(string(content), `"scheme":"https"`), tc.reason)
					assert.Equal(t, tc.protocol == "https", strings.Contains(string(content), "bearerTokenFile"), tc.reason)
				}
			}
		})
	}
}

// TestGatesAreTheBinarys: the chart refuses a feature gate that the webhook does not
// have, so it must know those that it has.
func TestGatesAreTheBinarys(t *testing.T) {
	t.Parallel()
	_, help, _ := run(t, "webhook", "--help")
	var gates []string
	for _, found := range regexp.MustCompile(`(?m)^ +(\w+)=true\|false`).FindAllStringSubmatch(help, -1) {
		gates = append(gates, found[1])
	}
	require.NotEmpty(t, gates)
	slices.Sort(gates)
	_, said, err := template(t, "helm", "defaultplan-system", `webhook.featureGates={"Nope":true}`)
	require.Error(t, err)
	assert.Contains(t, said, "'"+strings.Join(gates, "', '")+"'")
}
