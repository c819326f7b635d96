package deploy_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// accountCases are those of the ServiceAccounts: their names are in all that gives them rights,
// takes rights from them, or tells them apart.
var accountCases = map[string]valueCase{
	"webhook.serviceAccount.create":         notCreated("webhook", webhooks...),
	"webhook.serviceAccount.name":           called("webhook", webhooks...),
	"webhook.serviceAccount.annotations":    annotated("webhook"),
	"keeper.serviceAccount.create":          notCreated("keeper", keepers...),
	"keeper.serviceAccount.name":            called("keeper", keepers...),
	"keeper.serviceAccount.annotations":     annotated("keeper"),
	"controller.serviceAccount.create":      notCreated("controller", controllers...),
	"controller.serviceAccount.name":        called("controller", controllers...),
	"controller.serviceAccount.annotations": annotated("controller"),
}

const reviewers = "~ClusterRoleBinding defaultplan-metrics-auth"

// What names each of them.
var (
	webhooks = []string{
		webhook, reviewers, "~ClusterRoleBinding defaultplan-webhook", "~ClusterRoleBinding defaultplan-webhook-certs",
		"~RoleBinding defaultplan-system/defaultplan-webhook", "~RoleBinding defaultplan-system/defaultplan-webhook-certs",
		"~FlowSchema defaultplan-webhook", "~FlowSchema defaultplan-keeper",
	}
	keepers = append(policiesFor("hookconfigurations", "leases", "offerings", "requeues"),
		keeper, reviewers, "~ClusterRoleBinding defaultplan-keeper", "~ClusterRoleBinding defaultplan-keeper-certs",
		"~RoleBinding defaultplan-system/defaultplan-keeper", "~RoleBinding defaultplan-system/defaultplan-keeper-certs",
		"~FlowSchema defaultplan-keeper", "~FlowSchema defaultplan-leases")
	controllers = append(
		policiesFor("brokers", "configmaps", "deletion", "endpointslices", "finalizers", "instances", "kubesystem", "leases", "secrets", "services"),
		controller, webhook, mutating, reviewers, "~ClusterRoleBinding defaultplan-controller",
		"~RoleBinding defaultplan-system/defaultplan-controller", "~FlowSchema defaultplan-controller", "~FlowSchema defaultplan-leases")
)

// policiesFor are changes of policies.
func policiesFor(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, "~ValidatingAdmissionPolicy "+name+".servicecatalog.k8s.io")
	}
	return all
}

func notCreated(component string, changed ...string) valueCase {
	return valueCase{
		"one that is there", []string{component + `.serviceAccount.create=false`, component + `.serviceAccount.name="mine"`},
		with(changed, "-ServiceAccount defaultplan-system/defaultplan-"+component), `"serviceAccountName":"mine"`,
	}
}

func called(component string, changed ...string) valueCase {
	return valueCase{
		"a name that is a number is a text", []string{component + `.serviceAccount.name="42"`},
		with(changed, "-ServiceAccount defaultplan-system/defaultplan-"+component, "+ServiceAccount defaultplan-system/42"), `"serviceAccountName":"42"`,
	}
}

func annotated(component string) valueCase {
	return valueCase{
		"an identity of a cloud", []string{component + `.serviceAccount.annotations={"a":"b"}`},
		[]string{"~ServiceAccount defaultplan-system/defaultplan-" + component}, `"annotations":{"a":"b"}`,
	}
}

// TestAccountsOfOthers: whatever else is set, nothing names a ServiceAccount of ours that is not
// there.
func TestAccountsOfOthers(t *testing.T) {
	t.Parallel()
	var given []string
	for _, component := range []string{"webhook", "keeper", "controller"} {
		given = append(given, fmt.Sprintf("%s.serviceAccount={\"create\":false,\"name\":\"the-%s\"}", component, component))
	}
	for name, set := range map[string][]string{
		"Default":     nil,
		"Switch":      {`certs.certManager.issue=true`},
		"CertManager": {`certs.mode="cert-manager"`},
		"Endpoints":   {`controller.endpoints.enabled=true`, `controller.name="east"`},
		"Namespaces":  {`controller.endpoints.enabled=true`, `controller.name="east"`, `controller.namespaces=["a"]`, `controller.clusterID="c1"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := map[string]bool{}
			for key, object := range chart(t, "helm", "defaultplan-system", append(set, given...)...) {
				if isHook(object) {
					continue // helm test has an account of its own
				}
				assert.NotEqual(t, "ServiceAccount", object.GetKind(), key)
				for _, account := range accountsIn(object.Object) {
					assert.Contains(t, []string{"the-webhook", "the-keeper", "the-controller"}, account, key)
					found[account] = true
				}
			}
			assert.Len(t, found, 3)
		})
	}
}

// user finds the name of a ServiceAccount in the name of a user.
var user = regexp.MustCompile(`system:serviceaccount:[^:]+:([a-z][-a-z(]*)`)

// accountsIn are the names of all ServiceAccounts that a part of an object names.
func accountsIn(part any) []string {
	var all []string
	switch part := part.(type) {
	case string:
		for _, found := range user.FindAllStringSubmatch(part, -1) {
			all = append(all, strings.TrimSuffix(found[1], "-")) // a policy compares names that end with a hyphen
		}
	case []any:
		for _, item := range part {
			all = append(all, accountsIn(item)...)
		}
	case map[string]any:
		subject, isSubject := part["serviceAccount"].(map[string]any) // of a flow schema
		if !isSubject {
			subject = part // of a binding
		}
		if part["kind"] == "ServiceAccount" {
			all = append(all, fmt.Sprint(subject["name"]))
		}
		if name, is := part["serviceAccountName"]; is {
			all = append(all, fmt.Sprint(name))
		}
		for _, value := range part {
			all = append(all, accountsIn(value)...)
		}
	}
	return all
}

// TestLeasesKeepTheirNames: the policy for Leases knows which one each account holds, whatever the
// account is called.
func TestLeasesKeepTheirNames(t *testing.T) {
	t.Parallel()
	const replaced = " variables.account == 'the-keeper' ? 'defaultplan-keeper' : variables.account.replace('the-controller', 'defaultplan-controller', 1)"
	given := []string{`keeper.serviceAccount.name="the-keeper"`, `controller.serviceAccount.name="the-controller"`}
	for name, tc := range map[string]struct {
		set  []string
		want string
	}{
		"Default":    {nil, "variables.account"},
		"OfAName":    {[]string{`controller.name="east"`}, "variables.account == 'defaultplan-controller' ? 'defaultplan-controller-east' : variables.account"},
		"Given":      {given, replaced[1:]},
		"GivenNamed": {with(given, `controller.name="east"`), "variables.account == 'the-controller' ? 'defaultplan-controller-east' :" + replaced},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := chart(t, "helm", "defaultplan-system", tc.set...)["ValidatingAdmissionPolicy leases.servicecatalog.k8s.io"]
			require.NotNil(t, policy)
			variables, _, err := unstructured.NestedSlice(policy.Object, "spec", "variables")
			require.NoError(t, err)
			assert.Contains(t, variables, map[string]any{"name": "lease", "expression": tc.want})
		})
	}
}

// TestCommonLabels: they are on every object and on pods and nowhere else, selectors included; a
// label that one object has of its own stays.
func TestCommonLabels(t *testing.T) {
	t.Parallel()
	set := []string{
		`serviceMonitor={"enabled":true,"labels":{"team":"own"}}`, `prometheusRule={"enabled":true,"labels":{"team":"own"}}`,
		`dashboard={"enabled":true,"labels":{"team":"own"}}`, `keeper.podLabels={"team":"own"}`,
	}
	const without, label = `commonLabels={}`, `commonLabels={"team":"a","on":"true"}`
	rendered, said, err := template(t, "helm", "defaultplan-system", with(set, label)...)
	require.NoError(t, err, said)
	for document := range strings.SplitSeq(string(rendered), "\n---\n") {
		require.NoError(t, yaml.UnmarshalStrict([]byte(document), &map[string]any{}), "no label is there twice")
	}
	plain, labelled := chart(t, "helm", "defaultplan-system", with(set, without)...), parse(t, rendered)
	require.ElementsMatch(t, slices.Collect(maps.Keys(plain)), slices.Collect(maps.Keys(labelled)))
	for key, object := range labelled {
		places := [][]string{{"metadata", "labels"}}
		if object.GetKind() == "Deployment" {
			places = append(places, []string{"spec", "template", "metadata", "labels"})
		}
		for _, place := range places {
			own, _, err := unstructured.NestedStringMap(plain[key].Object, place...)
			require.NoError(t, err)
			want := map[string]string{"team": "a", "on": "true"}
			maps.Copy(want, own)
			labels, _, err := unstructured.NestedStringMap(object.Object, place...)
			require.NoError(t, err)
			assert.Equal(t, want, labels, "%s: %v", key, place)
			require.NoError(t, unstructured.SetNestedStringMap(object.Object, own, place...))
		}
		assert.Equal(t, plain[key].Object, object.Object, key)
	}
}
