package observe_test

import (
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// standsInStatus are the places of canaries that the API has in status, where users
// who may read the object reads them: what is not from a Secret, and what brokers
// say of it.
var standsInStatus = map[string]bool{
	"parameter": true, "echoed-parameter": true, "catalog-default": true, "catalog-bind-default": true, "user-extra": true, "dashboard-token": true,
}

// outage is a time without webhook, so that the API server counts what it then does.
func (s *stage) outage() {
	s.Helper()
	require.NoError(s, s.StopWebhook(s.Context(), 0, syscall.SIGTERM))
	require.Error(s, s.Client().Create(s.Context(), s.Instance("early", env.OfType("none"))))
	require.NoError(s, s.StartWebhook(s.Context(), 0))
}

// plant puts a canary into all that is sent to the API server and by brokers, in ways
// that go well, that are refused, that wait, and that brokers refuse. It returns the
// instance whose creation is traced.
func (s *stage) plant(c canaries) *api.ServiceInstance {
	s.Helper()
	plans := &api.ClusterServicePlanList{}
	require.NoError(s, s.Client().List(s.Context(), plans))
	for i := range plans.Items {
		if plan := &plans.Items[i]; plan.Spec.ClusterServiceBrokerName == s.Name("broker") {
			plan.Annotations = map[string]string{api.AnnotationDefaultPlan: "true"}
			require.NoError(s, s.Client().Update(s.Context(), plan))
		}
	}
	good := s.planted("good", c, "parameter", "secret")
	s.createTraced(good)
	bound := s.bindingTo("good", "good")
	bound.Spec.Parameters = env.RawJSON(fmt.Sprintf(`{"a":%q}`, c.of("parameter")))
	s.ready(good)
	s.Create(bound)
	s.ready(bound)

	s.createAs(c)
	s.broker.Next(osbtest.Provision, osbtest.Status(503, fmt.Sprintf(`{"description":"busy with %s"}`, c.of("echoed-secret"))))
	retried := s.planted("retried", c, "echoed-parameter", "echoed-secret")
	s.Create(retried)
	s.ready(retried)
	s.broker.Next(osbtest.Provision, osbtest.Status(400, fmt.Sprintf(`{"error":"Bad","description":"no: {\"a\":\"%s\",\"b\":\"%s\"} from %s"}`,
		c.of("echoed-parameter"), c.of("echoed-secret"), c.of("broker-password"))))
	refused := s.planted("refused", c, "echoed-parameter", "echoed-secret")
	s.Create(refused)
	s.hasCondition(refused, func() []api.Condition { return refused.Status.Conditions }, api.ConditionFailed)
	s.broker.Next(osbtest.Provision, osbtest.Status(201, fmt.Sprintf(`{"dashboard_url":"https://dashboard.example/?token=%s"}`, c.of("dashboard-token"))))
	board := s.planted("board", c, "parameter", "secret")
	s.Create(board)
	s.ready(board)
	s.broker.Next(osbtest.Provision, osbtest.AsyncDone(-1))
	s.Create(s.planted("slow", c, "parameter", "secret"))
	s.Eventually(func() (bool, error) { return is(len(s.broker.Running()) > 0, "the broker works on nothing") })
	s.Create(s.Instance("waiting", env.OfType("none-"+s.Suffix), env.WithParameters(fmt.Sprintf(`{"a":%q}`, c.of("waiting-parameter")))))
	return good
}

// planted is an instance with canaries in its parameters and in those from a Secret, not
// yet created.
func (s *stage) planted(name string, c canaries, parameter, secret string) *api.ServiceInstance {
	s.Helper()
	s.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name + "-parameters"},
		StringData: map[string]string{"all": fmt.Sprintf(`{"b":%q}`, c.of(secret))}})
	instance := s.Instance(name, env.OfType("db-"+s.Suffix), env.WithParameters(fmt.Sprintf(`{"a":%q}`, c.of(parameter))))
	instance.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: name + "-parameters", Key: "all"}}}
	return instance
}

// createAs creates instances as a user with something of their own in what the API
// server knows of them: one that is admitted and one that is refused.
func (s *stage) createAs(c canaries) {
	s.Helper()
	s.GrantClusterRole("carol", "cluster-admin")
	config := s.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: "carol", Extra: map[string][]string{"token": {c.of("user-extra")}}}
	carol := s.WithConfig(config)
	instance := s.Instance("carols", env.OfType("db-"+s.Suffix), env.WithParameters(fmt.Sprintf(`{"a":%q}`, c.of("parameter"))))
	require.NoError(s, carol.Client().Create(s.Context(), instance))
	s.ready(instance)
	err := carol.Client().Create(s.Context(), s.Instance("bad", env.OfType("db-"+s.Suffix), env.WithParameters(fmt.Sprintf(`{"shape":%q}`, c.of("refused-parameter")))))
	env.RequireInvalid(s.T, err, "spec.parameters/shape")
	warnings := carol.Warnings.Take()
	require.NotEmpty(s, warnings, "it shows nothing if she was warned of nothing")
	for place, canary := range c {
		assert.NotContains(s, everythingIn(err), canary, place)
		for _, warning := range warnings {
			assert.NotContains(s, warning, canary, place)
		}
	}
}

// keys adds the private keys that there are, and the tokens of all components.
func (s *stage) keys(c canaries) {
	s.Helper()
	for _, secret := range []string{"defaultplan-webhook-certs", "defaultplan-keeper-ca"} {
		var kept corev1.Secret
		require.NoError(s, s.Client().Get(s.Context(), client.ObjectKey{Namespace: "defaultplan-system", Name: secret}, &kept))
		for name, content := range kept.Data {
			for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
				if strings.HasSuffix(block.Type, "PRIVATE KEY") {
					// Its second line is all its own.
					c["key "+name] = strings.Split(string(content), "\n")[1]
				}
			}
		}
		require.NotEmpty(s, kept.Data, secret)
	}
	for _, user := range []string{"webhook", "keeper", "controller"} {
		path, err := s.KubeconfigFor(s.Context(), "system:serviceaccount:defaultplan-system:defaultplan-"+user)
		require.NoError(s, err)
		config, err := clientcmd.LoadFromFile(path)
		require.NoError(s, err)
		for _, info := range config.AuthInfos {
			require.NotEmpty(s, info.Token)
			// Tokens of one account differ in what is signed, not in their beginning.
			c["token of "+user] = info.Token[strings.LastIndexByte(info.Token, '.')+1:]
		}
	}
}

// told is all that the processes say, by where they say it.
func (s *stage) told() map[string]string {
	s.Helper()
	const kinds = "serviceinstances,servicebindings,clusterservicebrokers,servicebrokers,clusterserviceclasses,clusterserviceplans,clusterservicetypes,servicetypes"
	webhook, controller := s.metrics()
	told := map[string]string{
		"metrics of the webhook": webhook, "metrics of the controller": controller,
		"events":   s.Kubectl("", "get", "events.events.k8s.io", "-A", "-o", "json"),
		"status":   s.Kubectl("", "get", kinds, "-A", "-o", "jsonpath={.items[*].status}"),
		"metadata": s.Kubectl("", "get", kinds, "-A", "-o", "jsonpath={.items[*].metadata}"),
	}
	for name, path := range map[string]string{"log of the webhook": s.WebhookLog(0), "log of the controller": s.controller.Log(), "audit log": s.AuditLog()} {
		content, err := os.ReadFile(path)
		require.NoError(s, err)
		told[name] = string(content)
	}
	var spans strings.Builder
	for _, one := range s.collector.all() {
		spans.WriteString(one.String() + "\n")
	}
	told["spans"] = spans.String()
	told["svcat"] = s.svcat("describe", "instance", "refused") + s.svcat("describe", "instance", "good") + s.svcat("describe", "binding", "good") +
		s.svcat("get", "instances") + s.svcat("get", "brokers") + s.svcat("explain", "instance", "waiting")
	told["svcat"] += s.svcat("describe", "broker", "echoes-a-name", "--scope", "namespace") + s.svcat("describe", "broker", s.Name("userinfo"), "--scope", "cluster") +
		s.svcat("describe", "binding", "unevaluated") + s.svcat("describe", "instance", "echoed")
	return told
}

// svcat runs svcat in the namespace, and returns all that it prints.
func (s *stage) svcat(args ...string) string {
	s.Helper()
	command := exec.CommandContext(s.Context(), s.Binary("svcat"), append(args, "-n", s.Namespace)...)
	command.Env = s.Environment()
	out, _ := command.CombinedOutput() // what it fails with is told as well
	require.NotEmpty(s, out)
	return string(out)
}

// nothingIsTold: what was planted is told nowhere but in the fields of status that are
// for it, while all of them tell of the objects that it was planted in.
func (s *stage) nothingIsTold(c canaries) {
	s.Helper()
	s.keys(c)
	s.Eventually(func() (bool, error) { // good, carols, retried twice, refused, board, slow, echoed, mine
		calls := len(s.collector.find("defaultplan-controller", "provision"))
		return is(calls >= 9, "%d provisions were traced", calls)
	})
	for where, text := range s.told() {
		assert.Contains(s, text, s.Suffix, "%s tell nothing at all", where)
		for place, canary := range c {
			switch {
			case (where == "status" || where == "svcat") && standsInStatus[place]:
				continue
			case where == "audit log" && place == "user-extra":
				continue // who made a request, the API server writes down by itself
			}
			if at := strings.Index(text, canary); at >= 0 {
				assert.Fail(s, "a secret is told", "%s: %s: ...%s...", where, place, text[max(0, at-300):min(len(text), at+100)])
			}
		}
	}
	var secret corev1.Secret
	require.NoError(s, s.Client().Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "good"}, &secret))
	assert.Equal(s, c.of("credentials"), string(secret.Data["password"]), "the credentials are where they belong")
	assert.Equal(s, c.of("catalog-transform"), string(secret.Data["given"]))
}
