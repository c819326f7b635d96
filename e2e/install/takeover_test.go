package install_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

var (
	// aStep begins one of the steps of docs/migration.md.
	aStep = regexp.MustCompile(`(?m)^[1-9]\. `)
	// aCommand is a line of a block of commands, aWord one within a sentence.
	aCommand = regexp.MustCompile(`(?m)^       (.*\n)`)
	aWord    = regexp.MustCompile("`((?:kubectl apply|svcat) [^`]*)`")
)

// TestTakingOverFromTheRetiredCatalog plays the steps of docs/migration.md by its own commands,
// with objects as the retired catalog stored them: nothing is lost, made twice, changed or
// removed at a broker, and all that is done from then on works.
func TestTakingOverFromTheRetiredCatalog(t *testing.T) {
	t.Parallel()
	r := newRetired(newCluster(t))
	kept := r.credentials()
	atAzure, atInhouse := written(r.azure), written(r.inhouse)
	refused := r.client.Create(t.Context(), database("too-early"))
	require.ErrorContains(t, refused, "failed calling webhook", "its hooks are there, and nothing answers them")

	steps := r.steps()
	require.Len(t, steps, 7)
	assert.Equal(t, "ServiceInstance shop/doubtful Provision\nServiceInstance shop/growing Provision\n", r.plays(steps[1]), "what is in the middle of something")
	r.plays(steps[2])
	r.plays(steps[3])
	r.isStopped()
	r.plays(steps[4])
	r.allowsLoopback()
	for _, component := range []string{"webhook", "keeper", "controller"} {
		r.ready(component, 2)
	}
	r.eventually(func() error {
		_, err := r.shell(strings.Join(r.words(steps[5]), " && "))
		return err
	})

	r.tookOver(kept)
	again := r.instance("doubtful").Status.ExternalID
	assert.Equal(t, append(atAzure, "deprovision "+doubtfulID, "provision "+again), written(r.azure), "nothing but what goes on")
	assert.Equal(t, atInhouse, written(r.inhouse))
	r.goesOn()
	r.goesAway()
	r.wasNeverForbidden()
}

// allowsLoopback has the controller call a ServiceBroker where this test has it.
func (r *retired) allowsLoopback() {
	r.Helper()
	r.kubectl("-n", system, "patch", "deployment", "defaultplan-controller", "--type=json", "-p",
		`[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"--allow-broker-addresses=127.0.0.0/8"}]`)
	r.settled()
}

// steps are those of the document.
func (r *retired) steps() []string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "migration.md"))
	require.NoError(r, err)
	_, text2, found := strings.Cut(string(text), "\n## The steps\n")
	require.True(r, found)
	text2, _, _ = strings.Cut(text2, "\n## ")
	return aStep.Split(text2, -1)[1:]
}

// plays runs the commands of a step, of two that do the same the second, and returns what they
// printed.
func (r *retired) plays(step string) string {
	r.Helper()
	var script strings.Builder
	for _, line := range aCommand.FindAllStringSubmatch(step, -1) {
		script.WriteString(line[1])
	}
	commands, _, twoWays := strings.Cut(script.String(), "helm install")
	if twoWays {
		commands += strings.Join(r.words(step), "\n")
	}
	require.NotEmpty(r, commands, "no commands in %q", step)
	out, err := r.shell(commands)
	require.NoError(r, err)
	return out
}

// words are the commands within a step's sentences.
func (r *retired) words(step string) (commands []string) {
	r.Helper()
	for _, word := range aWord.FindAllStringSubmatch(step, -1) {
		commands = append(commands, word[1])
	}
	require.NotEmpty(r, commands, "no command in %q", step)
	return commands
}

// shell runs commands as an operator in a checkout does.
func (r *retired) shell(commands string) (string, error) {
	r.Helper()
	checkout := filepath.Join(r.dir, "checkout")
	deploy, err := filepath.Abs(filepath.Join(root, "deploy"))
	require.NoError(r, err)
	require.NoError(r, os.MkdirAll(checkout, 0o700))
	if err := os.Symlink(deploy, filepath.Join(checkout, "deploy")); !os.IsExist(err) {
		require.NoError(r, err)
	}
	var errs strings.Builder
	cmd := exec.CommandContext(r.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Env, cmd.Dir, cmd.Stderr = r.Environment(), checkout, &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%w: %s\n%s%s", err, commands, out, errs.String())
	}
	return string(out), nil
}

// isStopped asserts what step 4 is for.
func (r *retired) isStopped() {
	r.Helper()
	deployments := &appsv1.DeploymentList{}
	require.NoError(r, r.client.List(r.Context(), deployments, client.InNamespace("catalog")))
	require.Len(r, deployments.Items, 2)
	for _, deployment := range deployments.Items {
		assert.Zero(r, *deployment.Spec.Replicas, deployment.Name)
	}
	assert.Empty(r, r.kubectl("get", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "-o", "name"))
	saved, err := filepath.Glob(filepath.Join(r.dir, "checkout", "*.yaml"))
	require.NoError(r, err)
	assert.Len(r, saved, 8, "step 3 saved each kind")
}

func (r *retired) credentials() *corev1.Secret {
	r.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "orders-reader"}}
	r.get(secret)
	return secret
}

func (r *retired) instance(name string) *api.ServiceInstance {
	r.Helper()
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	r.get(i)
	return i
}

// written are the calls by which a broker was to make, change or remove something.
func written(broker *osbtest.Broker) (calls []string) {
	for _, call := range broker.Calls(osbtest.Writes()) {
		calls = append(calls, strings.TrimSpace(string(call.Verb)+" "+call.InstanceID+" "+call.BindingID))
	}
	return calls
}

// readyOf is what the condition Ready says.
func (r *retired) readyOf(object client.Object) string {
	ready, _ := api.FindCondition(conditionsOf(object), api.ConditionReady)
	return string(ready.Status) + " " + ready.Reason
}

// tookOver asserts what became of each object by itself.
func (r *retired) tookOver(kept *corev1.Secret) {
	r.Helper()
	growing := r.instance("growing")
	r.isTrue(growing, api.ConditionReady)
	assert.Equal(r, growingID, growing.Status.ExternalID, "polled to its end")
	for _, name := range []string{"orders", "local"} {
		assert.Equal(r, "True ProvisionedSuccessfully", r.readyOf(r.instance(name)))
	}
	broken, _ := api.FindCondition(r.instance("broken").Status.Conditions, api.ConditionFailed)
	assert.Equal(r, api.ConditionTrue, broken.Status)
	assert.Contains(r, broken.Message, "quota exceeded", "why stays")
	doubtful := r.instance("doubtful")
	r.isTrue(doubtful, api.ConditionReady)
	assert.NotContains(r, []string{"", doubtfulID}, doubtful.Status.ExternalID, "removed, and made again")
	binding := access("orders-reader", "orders")
	r.get(binding)
	assert.Equal(r, "True InjectedBindResult", r.readyOf(binding))
	secret := r.credentials()
	assert.Equal(r, kept.UID, secret.UID)
	assert.Equal(r, kept.Data, secret.Data)
	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: archive}}
	r.eventually(func() error {
		r.get(plan)
		if plan.Labels[api.LabelExternalID] == "" {
			return fmt.Errorf("plan %q has no label yet: %v", plan.Name, plan.Labels)
		}
		return nil
	})
}

// goesOn edits what was taken over, and orders by type.
func (r *retired) goesOn() {
	r.Helper()
	orders := r.instance("orders")
	r.kubectl("-n", team, "patch", "serviceinstance", "orders", "--type=merge", "-p", `{"spec":{"parameters":{"note":"another"}}}`)
	r.eventually(func() error {
		r.get(orders)
		if orders.Status.ReconciledGeneration != orders.Generation {
			return fmt.Errorf("the edit was not sent yet: %+v", orders.Status.Conditions)
		}
		return nil
	})
	assert.Equal(r, "another", r.azure.Instances()[ordersID].Parameters["note"])
	later := database("later")
	r.create(later)
	r.isTrue(later, api.ConditionReady)
	r.remove(r.bind("later-reader", "orders"), later)
}

// goesAway deletes everything, and nothing is left at a broker.
func (r *retired) goesAway() {
	r.Helper()
	r.remove(access("orders-reader", "orders"))
	for _, name := range []string{"orders", "growing", "broken", "doubtful", "local"} {
		r.remove(r.instance(name))
	}
	for name, broker := range map[string]*osbtest.Broker{"azure": r.azure, "inhouse": r.inhouse} {
		assert.Empty(r, broker.Instances(), name)
		assert.Empty(r, broker.Bindings(), name)
		assert.Empty(r, broker.Violations(), name)
	}
	r.withdraw()
	r.remove(&api.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "inhouse"}})
}
