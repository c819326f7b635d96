package observe_test

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// localCatalog is that of the namespace's broker; %[1]s makes it unique.
const localCatalog = `{"services":[{"id":"local-%[1]s","name":"local-%[1]s","description":"a database","bindable":true,"plans":[
  {"id":"tiny-%[1]s","name":"tiny","description":"tiny","schemas":{"service_instance":{"create":{"parameters":{"properties":{"shape":{"enum":["round"]}}}}}}}]}]}`

// plantSecrets plants canaries in Secrets that instances and bindings of the namespace's
// own broker use, in ways that go well and in ways that do not, and in bodies of that
// broker that cannot be read.
func (s *stage) plantSecrets(c canaries) {
	s.Helper()
	broker := osbtest.Start(s.T, osbtest.Options{
		Catalog: fmt.Appendf(nil, localCatalog, s.Suffix), Username: "stage", Password: c.of("local-password"),
		Credentials: func(osbtest.Binding) map[string]any {
			return map[string]any{"password": c.of("local-credentials"), "a b": c.of("local-credentials"), "deep": map[string]any{"port": 1}}
		},
	})
	registered := s.local("mine", broker.URL, "local-password")
	s.Create(registered)
	s.Ready(registered)
	broker.Next(osbtest.Provision, osbtest.Status(400, fmt.Sprintf(`{"error":%[1]q,"description":"no: %[1]s, %[2]s, %[3]s"}`,
		c.of("local-password"), c.of("local-secret"), c["header with local-password"])))
	s.parametersFrom("echoed", fmt.Sprintf(`{"b":%q}`, c.of("local-secret")), "ProvisionCallFailed")
	s.parametersFrom("not-json", `{"b":`+c.of("local-secret"), "ErrorWithParameters")
	s.parametersFrom("not-yaml", "b: [\n"+c.of("local-secret"), "ErrorWithParameters")
	s.parametersFrom("no-object", fmt.Sprintf("[%q]", c.of("local-secret")), "ErrorWithParameters")
	s.parametersFrom("shapeless", fmt.Sprintf(`{"shape":%q}`, c.of("local-secret")), "ErrorWithParameters")
	s.parametersFrom("clash", fmt.Sprintf(`{"own":%q}`, c.of("local-secret")), "ErrorWithParameters")
	s.parametersFrom("absent", "", "ErrorWithParameters")

	db := s.parametersFrom("mine", fmt.Sprintf(`{"b":%q}`, c.of("local-secret")), "")
	s.Ready(db)
	broker.Next(osbtest.Bind, osbtest.Status(201, fmt.Sprintf(`{"credentials":%q}`, c.of("bind-body"))), osbtest.Status(201, `{"credentials":{`+c.of("bind-body")))
	s.transformed(c)
}

// parametersFrom creates an instance with parameters of a Secret and waits until its
// condition Ready has a reason; an empty one is any. Empty content: the key is absent.
func (s *stage) parametersFrom(name, content, reason string) *api.ServiceInstance {
	s.Helper()
	secret := &corev1.Secret{ObjectMeta: s.Meta(name + "-from"), StringData: map[string]string{"all": content}}
	if content == "" {
		secret.StringData = map[string]string{"other": "x"}
	}
	instance := s.Instance(name, env.OfLocalPlan("local-"+s.Suffix, "tiny"), env.WithParameters(`{"own":1}`))
	instance.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: secret.Name, Key: "all"}}}
	s.Create(secret, instance)
	if reason != "" {
		s.Becomes(instance, func() bool { return env.ConditionOf(instance, api.ConditionReady).Reason == reason })
	}
	return instance
}

// transformed creates bindings that copy the keys of another Secret: one that is Ready,
// and others whose credentials cannot be stored.
func (s *stage) transformed(c canaries) {
	s.Helper()
	const megabyte = 1 << 20
	copied := map[string]string{"copied": c.of("copied-key")}
	s.Create(&corev1.Secret{ObjectMeta: s.Meta("copied"), StringData: copied},
		&corev1.Secret{ObjectMeta: s.Meta("collides"), StringData: map[string]string{"a_b": c.of("copied-key")}},
		&corev1.Secret{ObjectMeta: s.Meta("large"), StringData: map[string]string{"large": c.of("copied-key") + strings.Repeat("x", megabyte-100)}})
	from := func(name string) api.SecretTransform {
		return api.SecretTransform{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: s.Namespace, Name: name}}}
	}
	path := func(expression string) api.SecretTransform {
		return api.SecretTransform{AddKey: &api.AddKeyTransform{Key: "computed", JSONPathExpression: &expression}}
	}
	remove := api.SecretTransform{RemoveKey: &api.RemoveKeyTransform{Key: "a b"}}
	good := s.bindingTo("copying", "mine")
	good.Spec.SecretTransforms = []api.SecretTransform{from("copied"), remove, path("{.copied}@{.deep.port}"), {PublishKey: &api.PublishKeyTransform{Key: "copied"}}}
	s.Create(good)
	s.Ready(good)
	var secret corev1.Secret
	s.Eventually(func() (bool, error) {
		return true, s.Client().Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "copying"}, &secret)
	})
	assert.Equal(s, c.of("copied-key")+"@1", string(secret.Data["computed"]), "it is where it belongs")
	for name, transforms := range map[string][]api.SecretTransform{
		"absent":      {from("nothere")},
		"collision":   {from("collides")},
		"unevaluated": {from("copied"), remove, path("{.copied.missing}")},
		"index":       {from("copied"), remove, path("{.copied[0:x]}")},
		"too-large":   {from("large"), remove, path("{.large}")},
	} {
		b := s.bindingTo(name, "mine")
		b.Spec.SecretTransforms = transforms
		s.Create(b)
		s.Becomes(b, func() bool {
			return env.ConditionOf(b, api.ConditionReady).Reason == "ErrorInjectingBindResult" || env.ConditionOf(b, api.ConditionFailed).Reason == "ErrorInjectingBindResult"
		})
	}
}
