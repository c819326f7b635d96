package charts_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// inSync asserts that what Git holds is what the cluster holds, as GitOps compares: by
// three ways with kubectl's annotation (Argo CD's own diff), and by what the API server
// would store (its server-side diff, and Flux).
func (e *testEnv) inSync(manifests, when string) {
	e.Helper()
	output, err := e.diff(manifests)
	assert.NoError(e, err, "%s: %s", when, output)
	output, err = e.diff(manifests, "--server-side", "--field-manager="+gitops, "--force-conflicts")
	assert.NoError(e, err, "%s, on the server: %s", when, output)
}

// diff is what kubectl diff says. It reads an object twice, live and as it would be stored:
// where the object was written in between, it is asked again.
func (e *testEnv) diff(manifests string, args ...string) (output string, err error) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		output, err = e.runs("kubectl", manifests, append(append([]string{"diff"}, args...), "-f", "-")...)
		return !strings.Contains(output, "\n-  resourceVersion: "), nil
	})
	return output, err
}

// gitops is the field manager of Argo CD.
const gitops = "argocd-controller"

// Nothing that admission fills in, the controller or the keeper writes is drift: not what
// is decided, not a plan that is changed, not the defaults of a type and their switch.
func TestNothingOfOursIsDrift(t *testing.T) {
	t.Parallel()
	for name, apply := range map[string][]string{
		"ClientSide": {}, "ServerSide": {"--server-side", "--field-manager=" + gitops, "--force-conflicts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			s := e.registered()
			git := s.manifest("mydb", "parameters: {zone: b}") + "\n---\n" + bindingManifest("admin", "mydb")
			e.applies(git, apply...)
			e.inSync(git, "as admitted")
			e.ready(e.an("ServiceBinding", "admin"))
			e.inSync(git, "when it is there")
			e.applies(git, apply...)
			assert.Empty(t, s.Calls(osbtest.Of(osbtest.Update)), "applied again, nothing changes")

			git = s.manifest("mydb", "clusterServicePlanExternalName: large, parameters: {zone: c}") + "\n---\n" + bindingManifest("admin", "mydb")
			e.applies(git, apply...)
			e.inSync(git, "with another plan")
			e.ready(e.an("ServiceInstance", "mydb"))
			e.inSync(git, "when it has the plan")
			e.switches(s, apply)
		})
	}
}

// switches has Git say which plan is the default of a type, and then another one.
func (e *testEnv) switches(s *market, apply []string) {
	e.Helper()
	for _, plan := range []string{s.small, s.large} {
		git := fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceType, metadata: {name: %s}, spec: {defaultPlanRef: {name: %s}}}`, s.serviceType, plan)
		e.applies(git, apply...)
		e.inSync(git, "when the default is said")
		e.Eventually(func() (bool, error) {
			o := e.read(e.an("ClusterServiceType", s.serviceType))
			confirmed, _, _ := unstructured.NestedBool(o.Object, "status", "confirmed")
			return confirmed && e.clusterPlan(plan).Annotations[api.AnnotationDefaultPlan] == "true", nil
		})
		e.inSync(git, "when the keeper annotated "+plan)
	}
	assert.NotContains(e, e.clusterPlan(s.small).Annotations, api.AnnotationDefaultPlan)
}

// A plan that Git holds is annotated by the keeper where Git records it as the default.
// Where Git annotates it too, a switch elsewhere is what Git is told to ignore.
func TestAnnotationsOfDefaultsAreIgnored(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	plan := func(name, annotations string) string {
		return fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServicePlan, metadata: {name: %[1]s, annotations: {%[2]s}},
			spec: {externalName: %[1]s, externalID: %[1]s, serviceType: %[3]s, description: mine, clusterServiceBrokerName: %[4]s, clusterServiceClassRef: {name: %[4]s}}}`,
			name, annotations, s.serviceType, s.class)
	}
	mine, other := e.Name("mine"), e.Name("other")
	e.applies(plan(mine, "") + "\n---\n" + plan(other, api.AnnotationDefaultPlan+`: "true"`))
	e.Eventually(func() (bool, error) {
		said, err := e.runs("svcat", "", "set", "plan", s.class+"/"+mine, "--default", "--cluster")
		if err != nil {
			return false, errors.New(said)
		}
		return true, nil
	})
	e.inSync(plan(mine, ""), "the annotation that is more than Git has")
	e.Eventually(func() (bool, error) {
		_, annotated := e.clusterPlan(other).Annotations[api.AnnotationDefaultPlan]
		return !annotated, nil
	})
	output, err := e.runs("kubectl", plan(other, api.AnnotationDefaultPlan+`: "true"`), "diff", "-f", "-")
	require.Error(t, err, "what Git has and the cluster has not is drift, and admission refuses it")
	assert.Contains(t, output, "is-default-plan")
	ignored := ignoredDifferences(t, "servicecatalog.k8s.io_ClusterServicePlan")
	assert.Contains(t, ignored, `.metadata.annotations["`+api.AnnotationDefaultPlan+`"]`)
	e.must("kubectl", "delete", "clusterserviceplan", mine, other)
}

// ignoredDifferences are the expressions of deploy/argocd for a kind.
func ignoredDifferences(t *testing.T, kind string) []string {
	t.Helper()
	cm := corev1.ConfigMap{}
	content, err := os.ReadFile(filepath.Join("..", "..", "deploy", "argocd", "argocd-cm.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(content, &cm))
	ignore := struct {
		JQ []string `json:"jqPathExpressions"`
	}{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(cm.Data["resource.customizations.ignoreDifferences."+kind]), &ignore))
	return ignore.JQ
}
