package svcat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// installation is a catalog in which check has something to say: redis has no
// default, two plans of queue are suggested, an instance waits for its plan.
const installation = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-mysql}
spec: {clusterServiceBrokerName: azure, externalName: azure-mysql, externalID: c1, description: MySQL, bindable: true, planUpdatable: true, serviceType: mysql}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: premium-p1, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}
spec: {clusterServiceBrokerName: azure, clusterServiceClassRef: {name: azure-mysql}, externalName: premium-p1, externalID: p1, description: Large}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-redis}
spec: {clusterServiceBrokerName: azure, externalName: azure-redis, externalID: c2, description: Redis, bindable: true, planUpdatable: true, serviceType: redis}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: basic-c0}
spec: {clusterServiceBrokerName: azure, clusterServiceClassRef: {name: azure-redis}, externalName: basic-c0, externalID: p2, description: Small}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-queue}
spec: {clusterServiceBrokerName: azure, externalName: azure-queue, externalID: c3, description: Queues, bindable: true, planUpdatable: true, serviceType: queue}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: fast, annotations: {servicecatalog.kubernetes.io/is-suggested-plan: "true"}}
spec: {clusterServiceBrokerName: azure, clusterServiceClassRef: {name: azure-queue}, externalName: fast, externalID: p3, description: Fast}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: slow, annotations: {servicecatalog.kubernetes.io/is-suggested-plan: "true"}}
spec: {clusterServiceBrokerName: azure, clusterServiceClassRef: {name: azure-queue}, externalName: slow, externalID: p4, description: Slow}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: early}
spec: {clusterServiceClassExternalName: yet, clusterServicePlanExternalName: to-come}
`

// TestCheckSaysWhatIsBroken breaks an installation of its own, one way after the
// other, and mends it.
func TestCheckSaysWhatIsBroken(t *testing.T) {
	t.Parallel()
	ctx := context.WithoutCancel(t.Context())
	own := suite.New(t, stack.Options{Webhooks: 1})
	e := newEnvOn(t, own)
	assert.Contains(t, e.checkFails(), "failed   controller    namespace \"defaultplan-system\" has no Lease defaultplan-controller: none seems to run, and while none does no broker is called")
	controller, err := own.StartController(ctx, stack.ControllerOptions{Args: []string{"--leader-elect=true"}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, controller.Stop(ctx, syscall.SIGTERM)) })
	e.checkWithoutGuards()
	e.checkWhole()
	e.checkWithoutRights()
	e.checkWithoutWebhook(ctx)
	e.checkWithoutHooks(ctx)
	e.checkWithBroker()
	e.checkWithoutDefinition()
}

// checkWithoutGuards: what an installation works without is a warning.
func (e *testEnv) checkWithoutGuards() {
	got := e.run("", "check", "-n", e.Namespace, "--wait", "--timeout", "-1", "--interval", "100ms")
	assert.Zero(e, got.code, "%s%s", got.out, got.err)
	assert.Contains(e, got.out, "ok       controller")
	assert.Contains(e, got.out, "ok       keeper")
	assert.Contains(e, got.out, "missing: ValidatingAdmissionPolicy brokers.servicecatalog.k8s.io")
	assert.Contains(e, got.out, "→ kubectl apply -f deploy/vap\n")
	assert.Contains(e, got.out, "→ kubectl apply -f deploy/flow\n")
	for _, folder := range []string{"vap", "flow"} {
		_, stderr, err := e.Stack.Kubectl(e.Context(), "", "apply", "-f", filepath.Join("..", "..", "deploy", folder))
		require.NoError(e, err, stderr)
	}
}

// checkWhole: a whole installation, with what needs a look.
func (e *testEnv) checkWhole() {
	e.Apply(installation)
	e.Eventually(func() (bool, error) {
		record := &v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "mysql"}}
		e.Get(record)
		return record.Spec.DefaultPlanRef != nil, nil
	})
	got := e.check()
	assert.Zero(e, got.code, got.err)
	assert.Empty(e, got.err, "a trial's warnings are not the reader's")
	e.golden("check-whole", machines(e.normal(got.out)))

	var report struct {
		Whole    bool
		Findings []struct{ Check, Level, Message, Do string }
	}
	got = e.run("", "check", "-n", e.Namespace, "-o", "json")
	require.Zero(e, got.code)
	require.NoError(e, json.Unmarshal([]byte(got.out), &report))
	assert.True(e, report.Whole)
	assert.Len(e, report.Findings, 16)
	var left v1beta1.ServiceInstanceList
	require.NoError(e, e.Client().List(e.Context(), &left))
	assert.Len(e, left.Items, 1, "a trial stores nothing")
}

// machines is what check says without what differs from machine to machine.
func machines(text string) string {
	for words, stand := range map[string]string{
		`Kubernetes v\S+`: "Kubernetes VERSION", `127\.0\.0\.1:\d+`: "HOST", `\d+ days`: "N days",
		`(keeper|controller)( +)\S+ is at work`: "${1}${2}POD is at work",
	} {
		text = regexp.MustCompile(words).ReplaceAllString(text, stand)
	}
	return text
}

// checkWithoutRights: who may not look is told what was not looked at.
func (e *testEnv) checkWithoutRights() {
	got := e.run("", "check", "-n", e.Namespace, "--as", "jane")
	assert.Equal(e, 1, got.code, "%s%s", got.out, got.err)
	assert.Equal(e, "error: it is not known whether the installation is whole: not looked at: definitions, admission\n", got.err)
	assert.Contains(e, got.out, "unknown  definitions   not looked at: you may not read customresourcedefinitions\n")
	assert.Contains(e, got.out, "unknown  admission     not tried in namespace")
	assert.Contains(e, got.out, "→ name a namespace in which you may create instances: svcat check --namespace\n")
	assert.Contains(e, got.out, "unknown  instances     not looked at: you may not read serviceinstances\n")
}

// checkWithoutWebhook: while the webhook is down nothing can be ordered; --wait says
// what for, and ends when it is back.
func (e *testEnv) checkWithoutWebhook(ctx context.Context) {
	require.NoError(e, e.StopWebhook(ctx, 0, syscall.SIGTERM))
	got := e.check()
	assert.Equal(e, 1, got.code)
	assert.Contains(e, got.out, "failed   admission     the API server cannot call the webhook, so nothing can be ordered: ")
	assert.Contains(e, got.out, "connection refused")
	assert.Contains(e, got.err, "error: the installation is not whole: ")

	got = e.run("", "check", "-n", e.Namespace, "--wait", "--timeout", "1s", "--interval", "100ms")
	assert.Equal(e, 4, got.code, got.err)
	assert.Equal(e, 1, strings.Count(got.err, "waiting for admission"), "said once: %s", got.err)

	var out, errs bytes.Buffer
	cmd := exec.CommandContext(e.Context(), e.Binary("svcat"), "check", "-n", e.Namespace, "--wait", "--timeout", "1m", "--interval", "100ms")
	cmd.Env, cmd.Stdout, cmd.Stderr = e.Environment(), &out, &errs
	require.NoError(e, cmd.Start())
	require.NoError(e, e.StartWebhook(ctx, 0))
	require.NoError(e, cmd.Wait(), "%s%s", &out, &errs)
	assert.Contains(e, out.String(), "the installation is whole, ")
}

// checkWithoutHooks: without the hooks' configurations nothing is decided.
func (e *testEnv) checkWithoutHooks(ctx context.Context) {
	// The policies would refuse what tells whether the hooks are called.
	_, stderr, err := e.Stack.Kubectl(e.Context(), "", "delete", "-f", filepath.Join("..", "..", "deploy", "vap"))
	require.NoError(e, err, stderr)
	require.NoError(e, e.UninstallHooks(ctx))
	got := e.check()
	assert.Equal(e, 1, got.code)
	assert.Contains(e, got.out, "failed   hooks         MutatingWebhookConfiguration defaultplan-webhook is missing\n")
	assert.Contains(e, got.out, "failed   hooks         ValidatingWebhookConfiguration defaultplan-webhook is missing\n")
	assert.Contains(e, got.out, "failed   admission     the hooks are not called: an instance was admitted without an external ID and its finalizer (dry run)\n")
	e.withoutInstance()
	require.NoError(e, e.InstallHooks(ctx))
}

// withoutInstance: a binding that names no instance, as admission never lets pass, is
// proposed as any other.
func (e *testEnv) withoutInstance() {
	e.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: of-nothing}, spec: {}}`)
	got := e.run("", "__complete", "-n", e.Namespace, "describe", "binding", "")
	assert.Equal(e, "of-nothing\n:4\n", got.out)
	assert.Zero(e, got.code, got.err)
}

// checkWithBroker: a broker that cannot be reached is the installation's affair if it
// is the cluster's, and its owner's if it is a namespace's.
func (e *testEnv) checkWithBroker() {
	e.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBroker, metadata: {name: down}, spec: {url: "https://broker.invalid"}}`)
	e.Eventually(func() (bool, error) {
		got := e.check()
		return strings.Contains(got.out, "warning  brokers       "+e.Namespace+"/down is not ready: "), nil
	})
	assert.Zero(e, e.check().code)
	e.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceBroker, metadata: {name: asleep}, spec: {url: "https://broker.invalid"}}`)
	e.Eventually(func() (bool, error) { return strings.Contains(e.check().out, "; it is tried again at "), nil })
	got := e.check()
	assert.Equal(e, 1, got.code)
	assert.Contains(e, got.out, "failed   brokers       asleep is not ready: ")
	assert.Contains(e, got.out, "→ svcat describe broker asleep --scope cluster; then svcat sync broker asleep --scope cluster\n")
}

// checkWithoutDefinition: a kind that is not served.
func (e *testEnv) checkWithoutDefinition() {
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "clusterservicetypes.servicecatalog.k8s.io"}}
	require.NoError(e, e.Client().Delete(e.Context(), definition))
	e.Eventually(func() (bool, error) { return strings.Contains(e.check().out, "missing: clusterservicetypes\n"), nil })
	got := e.check()
	assert.Equal(e, 1, got.code)
	assert.Contains(e, got.out, "→ kubectl apply --server-side -f deploy/crds\n")
	assert.Contains(e, got.out, "unknown  types         not looked at: classes, plans and types are not served\n")
}

// checkFails is what check prints of an installation that is not whole.
func (e *testEnv) checkFails() string {
	e.Helper()
	got := e.check()
	assert.Equal(e, 1, got.code, got.err)
	return got.out
}

func (e *testEnv) check() outcome {
	e.Helper()
	return e.run("", "check", "-n", e.Namespace)
}

// TestCheckWithoutCluster: the first thing to know.
func TestCheckWithoutCluster(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	got := e.run("", "check", "--server", "https://127.0.0.1:1")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.out, "failed   cluster       the API server https://127.0.0.1:1 of context ")
	assert.Equal(t, 1, strings.Count(got.out, "failed"), got.out)
}
