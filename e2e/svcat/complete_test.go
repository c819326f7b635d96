package svcat_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

// words are two classes in the cluster that both have a plan "small", one of a
// namespace, and what was ordered there.
const words = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: kv-SUFFIX}
spec: {clusterServiceBrokerName: b, externalName: kv-SUFFIX, externalID: kv-SUFFIX, description: Keys and values, bindable: true, planUpdatable: true, serviceType: kv-SUFFIX}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: kv-small-SUFFIX}
spec: {clusterServiceBrokerName: b, clusterServiceClassRef: {name: kv-SUFFIX}, externalName: small-SUFFIX, externalID: kvs-SUFFIX, description: A small one}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: kv-large-SUFFIX, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}
spec: {clusterServiceBrokerName: b, clusterServiceClassRef: {name: kv-SUFFIX}, externalName: large-SUFFIX, externalID: kvl-SUFFIX, description: A large one}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: local-SUFFIX}
spec: {serviceBrokerName: b, externalName: local-SUFFIX, externalID: local-SUFFIX, description: Of this namespace, bindable: true, planUpdatable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServicePlan
metadata: {name: local-small-SUFFIX}
spec: {serviceBrokerName: b, serviceClassRef: {name: local-SUFFIX}, externalName: small-SUFFIX, externalID: ls-SUFFIX, description: A small one of ours}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: shop-db}
spec: {clusterServiceClassExternalName: kv-SUFFIX, clusterServicePlanExternalName: large-SUFFIX}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata: {name: shop-key}
spec: {instanceRef: {name: shop-db}}
`

// TestShellCompletesWhatThereIs: a line is completed with what the cluster has, where
// the flags typed so far say to look.
func TestShellCompletesWhatThereIs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Apply(words)
	e.Eventually(func() (bool, error) { return len(e.proposed("provision", "x", "--type", "kv-")) == 1, nil })
	for name, tc := range map[string]struct {
		reason string
		line   []string
		want   []string
	}{
		"Types":         {"each with its default; wherever the instance goes", []string{"-n", e.Namespace, "provision", "x", "--type", "k"}, []string{"kv\tkv/large"}},
		"Classes":       {"both scopes, by what was typed", []string{"describe", "class", "k"}, []string{"kv\tKeys and values"}},
		"OwnClasses":    {"--scope narrows", []string{"describe", "class", "--scope", "namespace", ""}, []string{"local\tOf this namespace"}},
		"ClusterOnly":   {"--cluster narrows too", []string{"describe", "class", "--cluster", "local"}, nil},
		"NamespaceOnly": {"and so does a namespace", []string{"describe", "class", "-n", e.Namespace, ""}, []string{"local\tOf this namespace"}},
		"Plans":         {"a name of several classes needs its class", []string{"describe", "plan", ""}, []string{"kv/small\tA small one", "large\tA large one", "local/small\tA small one of ours"}},
		"PlansOfClass":  {"CLASS/ proposes its plans", []string{"describe", "plan", "kv-" + e.Suffix + "/l"}, []string{"kv/large\tA large one"}},
		"PlansByFlag":   {"--class narrows", []string{"get", "plans", "--class", "kv-" + e.Suffix, ""}, []string{"large\tA large one", "small\tA small one"}},
		"Instances":     {"of the namespace", []string{"describe", "instance", ""}, []string{"shop-db"}},
		"BindTo":        {"an instance, where nothing else is asked for", []string{"bind", "shop"}, []string{"shop-db"}},
		"BindOwn":       {"what gets an instance of its own has a new name", []string{"bind", "--type", "kv-" + e.Suffix, "shop"}, nil},
		"BindType":      {"of what its own is to be", []string{"-n", e.Namespace, "bind", "x", "--type", "k"}, []string{"kv\tkv/large"}},
		"Adopt":         {"the class of what is there", []string{"adopt", "x", "--external-id", "e-1", "--class", "k"}, []string{"kv\tKeys and values"}},
		"AdoptNew":      {"its name is new", []string{"adopt", ""}, nil},
		"Bindings":      {"of the namespace, with their instance", []string{"describe", "binding", ""}, []string{"shop-key\tshop-db"}},
		"Namespaces":    {"a global flag", []string{"get", "plans", "--namespace", e.Namespace}, []string{"NAMESPACE"}},
		"Contexts":      {"of the kubeconfig", []string{"get", "plans", "--context", ""}, []string{"controlplane\tcontrolplane"}},
		"NothingMore":   {"describe takes one name", []string{"describe", "instance", "shop-db", ""}, nil},
		"UnknownClass":  {"nothing, and no error", []string{"get", "plans", "--class", "absent", ""}, nil},
		"NoCluster":     {"nothing, and no error", []string{"get", "plans", "--server", "https://127.0.0.1:1", ""}, nil},
		"NoSuchContext": {"nothing, and no error", []string{"get", "plans", "--context", "absent", ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := e.proposed(tc.line...)
			if len(got) < len(tc.want) {
				// A shell does not wait for a slow API server: it is told nothing.
				e.Eventually(func() (bool, error) {
					got = e.proposed(tc.line...)
					return len(got) >= len(tc.want), nil
				})
			}
			assert.ElementsMatch(t, tc.want, got, tc.reason)
		})
	}
}

// proposed are the words that a shell would be told for a line, as far as they are of
// this test, with what is its own masked.
func (e *testEnv) proposed(line ...string) []string {
	e.Helper()
	got := e.runAs(e.here(), "", append([]string{"__complete"}, line...)...)
	var own []string
	for word := range strings.SplitSeq(got.out, "\n") {
		if strings.HasPrefix(word, ":") || word == "" {
			continue
		}
		name, _, _ := strings.Cut(word, "\t")
		if name == "shop-db" {
			word = name // whose description is its state, which changes
		}
		if ours := strings.Contains(name, e.Suffix) || name == e.Namespace || strings.HasPrefix(name, "shop") || name == "controlplane"; ours {
			own = append(own, strings.TrimSuffix(e.normal(word), "\t"))
		}
	}
	return own
}

// here is an environment whose kubeconfig is in the env's namespace.
func (e *testEnv) here() []string {
	e.Helper()
	content, err := os.ReadFile(e.Kubeconfig())
	require.NoError(e, err)
	config, err := clientcmd.Load(content)
	require.NoError(e, err)
	config.Contexts[config.CurrentContext].Namespace = e.Namespace
	file := filepath.Join(e.TempDir(), "kubeconfig")
	require.NoError(e, clientcmd.WriteToFile(*config, file))
	environment := slices.DeleteFunc(e.Environment(), func(variable string) bool { return strings.HasPrefix(variable, "KUBECONFIG=") })
	return append(environment, "KUBECONFIG="+file)
}
