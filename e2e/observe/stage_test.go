package observe_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A stage is a stack on which everything is told: the logs at level debug, the audit
// log, the metrics, and the spans of all three processes; with a broker.
type stage struct {
	*env.Env

	collector  *collector
	controller *stack.Controller
	broker     *osbtest.Broker
}

// The parts of a catalog that the stage's broker has; %[1]s makes what it says unique.
const stageCatalog = `{"services":[{"id":"db-%[1]s","name":"db-%[1]s","description":"a database","bindable":true,"tags":["ServiceType=db-%[1]s"],
  "metadata":{"defaultProvisionParameters":{"fromCatalog":%[2]q}},
  "plans":[{"id":"small-%[1]s","name":"small-%[1]s","description":"small","metadata":{
    "defaultBindParameters":{"fromPlan":%[3]q},
    "defaultSecretTransforms":[{"addKey":{"key":"given","stringValue":%[4]q}}]},
    "schemas":{"service_instance":{"create":{"parameters":{"properties":{"shape":{"enum":["round"]}}}}}}}]}]}`

func newStage(t *testing.T) *stage {
	t.Helper()
	c := startCollector(t)
	dir := suite.TempDir(t)
	config := filepath.Join(dir, "tracing.yaml")
	// Only what comes with a sampled parent is traced.
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil,
		"apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: %q\nsamplingRatePerMillion: 0\n", c.address), 0o600))
	tracing := "--tracing-endpoint=" + c.address
	e := env.On(t, suite.New(t, stack.Options{
		Dir: filepath.Join(dir, "stack"), Webhooks: 1, ManagedCerts: true, Releaser: true,
		WebhookArgs:      []string{tracing, "--log-level=debug", "--unresolved=wait"},
		ControlPlaneArgs: []string{"-audit", "--", "--tracing-config-file=" + config},
	}))
	controller, err := e.StartController(t.Context(), stack.ControllerOptions{Args: []string{
		tracing, "--tracing-sampling-rate-per-million=1000000", "--log-level=debug", "--secret-interval=1s", stack.CallTimeout(5 * time.Second),
		"--allow-broker-addresses=127.0.0.0/8",
	}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, controller.Stop(context.WithoutCancel(t.Context()), syscall.SIGTERM)) })
	return &stage{Env: e, collector: c, controller: controller}
}

// open has the broker registered, and its catalog taken over.
func (s *stage) open(canaries canaries) {
	s.Helper()
	s.broker = osbtest.Start(s.T, osbtest.Options{
		Catalog:  fmt.Appendf(nil, stageCatalog, s.Suffix, canaries.of("catalog-default"), canaries.of("catalog-bind-default"), canaries.of("catalog-transform")),
		Username: "stage", Password: canaries.of("broker-password"),
		Credentials: func(osbtest.Binding) map[string]any { return map[string]any{"password": canaries.of("credentials")} },
		// They expire, for the metric of that.
		Lifetime: 24 * time.Hour,
	})
	s.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "broker"},
		StringData: map[string]string{"username": "stage", "password": canaries.of("broker-password")}})
	registered := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: s.Name("broker")}}
	registered.Spec.URL = s.broker.URL
	registered.Spec.AuthInfo = &api.ClusterServiceBrokerAuthInfo{Basic: &api.ClusterBasicAuthConfig{SecretRef: &api.ObjectReference{Namespace: s.Namespace, Name: "broker"}}}
	s.createTraced(registered)
	s.hasCondition(registered, func() []api.Condition { return registered.Status.Conditions }, api.ConditionReady)
}

// hasCondition waits until an object has a condition.
func (s *stage) hasCondition(object client.Object, conditions func() []api.Condition, typ string) {
	s.Helper()
	s.Eventually(func() (bool, error) {
		s.Get(object)
		found, _ := api.FindCondition(conditions(), typ)
		return is(found.Status == api.ConditionTrue, "%s is not %s: %v", object.GetName(), typ, conditions())
	})
}

// is says whether a condition holds, and why not yet.
func is(holds bool, format string, args ...any) (bool, error) {
	if holds {
		return true, nil
	}
	return false, fmt.Errorf(format, args...)
}

// metrics are those of both processes, as they are served.
func (s *stage) metrics() (webhook, controller string) {
	s.Helper()
	webhook, err := s.Scrape(s.Context(), s.WebhookMetrics(0))
	require.NoError(s, err)
	controller, err = s.Scrape(s.Context(), s.controller.Metrics())
	require.NoError(s, err)
	return webhook, controller
}

// canaries are values that are planted, by what they are planted in.
type canaries map[string]string

// of is the canary of a place.
func (c canaries) of(place string) string {
	if c[place] == "" {
		c[place] = "canary-" + place + "-" + strings.Repeat("x", 4) + fmt.Sprint(len(c))
	}
	return c[place]
}
