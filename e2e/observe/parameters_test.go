package observe_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestNoValueOfAParameterIsEverTold: values are planted everywhere that a user,
// an operator or a Secret can put them, in forms that go through and in all that
// do not. None shows in a denial, a warning, an event, the log or the audit log.
// It is not parallel, as it uninstalls the shared webhooks for a while.
func TestNoValueOfAParameterIsEverTold(t *testing.T) {
	e := env.New(t)
	canary := "canary-" + e.Suffix
	addCanaries(e, canary)
	told := addUnread(e, canary)
	for name, tc := range plantings(canary) {
		instance := e.Instance(name, env.OfPlan(e.Name(tc.class), ""), env.WithParameters(tc.parameters))
		if tc.class == "free" {
			instance.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: "credentials", Key: "password"}}}
		}
		err := e.Client().Create(t.Context(), instance)
		if tc.refused == "" {
			require.NoError(t, err, name)
			continue
		}
		env.RequireInvalid(t, err, tc.refused)
		told = append(told, everythingIn(err))
	}
	told = append(told, rewriteCanaries(e, canary)...)
	told = append(told, e.Warnings.Take()...)
	told = append(told, eventNotes(e)...)
	written := ""
	for _, file := range []string{e.WebhookLog(0), e.WebhookLog(1), e.AuditLog()} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(content), canary, file)
		if file == e.AuditLog() {
			require.Contains(t, string(content), e.Namespace, "the audit log tells of these instances")
			continue
		}
		written += string(content)
	}
	require.Contains(t, written, e.Namespace, "a webhook tells of these instances")
	assert.NotEmpty(t, told)
	for _, text := range told {
		assert.NotContains(t, text, canary)
	}
}

// A planting is a creation with a canary in it.
type planting struct {
	// class is what the instance is of; its only plan is chosen.
	class, parameters string
	// refused is a part of the refusal, empty where it is admitted.
	refused string
}

func plantings(canary string) map[string]planting {
	return map[string]planting{
		"admitted":   {"free", fmt.Sprintf(`{"password":%q,"deep":{"list":[%q]},"off":null}`, canary, canary), ""},
		"enum":       {"strict", fmt.Sprintf(`{"enum":%q}`, canary), "spec.parameters/enum"},
		"const":      {"strict", fmt.Sprintf(`{"const":%q}`, canary), "spec.parameters/const"},
		"type":       {"strict", fmt.Sprintf(`{"type":%q}`, canary), "spec.parameters/type"},
		"pattern":    {"strict", fmt.Sprintf(`{"pattern":%q}`, canary), "spec.parameters/pattern"},
		"format":     {"strict", fmt.Sprintf(`{"format":%q}`, canary), "spec.parameters/format"},
		"length":     {"strict", fmt.Sprintf(`{"length":%q}`, canary), "spec.parameters/length"},
		"items":      {"strict", fmt.Sprintf(`{"items":[%q,%q]}`, canary, canary), "spec.parameters/items"},
		"any":        {"strict", fmt.Sprintf(`{"any":%q}`, canary), "spec.parameters/any"},
		"deep":       {"free", strings.Repeat(`{"a":`, 70) + fmt.Sprintf("%q", canary) + strings.Repeat("}", 70), "nested too deeply"},
		"large":      {"free", fmt.Sprintf(`{"a":%q}`, strings.Repeat(canary, 300<<10/len(canary))), "too large"},
		"byclass":    {"broken", `{}`, "the default of the class"},
		"byoperator": {"unread", `{}`, "cannot be applied"},
	}
}

// addCanaries adds a Secret with the canary, and classes that take it, refuse it,
// and have it in their defaults.
func addCanaries(e *env.Env, canary string) {
	e.Helper()
	e.Create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "credentials"}, StringData: map[string]string{"password": canary},
	})
	e.AddPlans(env.Class{Name: e.Name("free"), Defaults: fmt.Sprintf(`{"off":%q,"on":%q}`, canary, canary)},
		env.Plan{Name: e.Name("free"), Schema: `{"type":"object"}`})
	e.AddPlans(env.Class{Name: e.Name("strict")}, env.Plan{Name: e.Name("strict"), Schema: `{"properties":{
		"enum":{"enum":["a"]},"const":{"const":"a"},"type":{"type":"integer"},"pattern":{"pattern":"^a$"},"format":{"type":"string","format":"ipv4"},
		"length":{"maxLength":3},"items":{"uniqueItems":true},"any":{"anyOf":[{"type":"integer"},{"enum":["a"]}]}},"$schema":"http://json-schema.org/draft-07/schema#"}`})
	e.AddPlans(env.Class{Name: e.Name("broken"), Defaults: fmt.Sprintf(`{"a":%q}`, canary)},
		env.Plan{Name: e.Name("broken"), Schema: `{"properties":{"a":{"type":"integer"}}}`})
}

// addUnread adds a class with defaults that cannot be merged. It is older than the
// hooks, which refuse it: the refusal is returned.
func addUnread(e *env.Env, canary string) []string {
	e.Helper()
	unread := env.Class{Name: e.Name("unread"), Defaults: strings.Repeat(`{"a":`, 70) + fmt.Sprintf("%q", canary) + strings.Repeat("}", 70)}
	err := e.Client().Create(e.Context(), unread.Object())
	env.RequireInvalid(e.T, err, "nested too deeply")
	require.NoError(e, e.UninstallHooks(e.Context()))
	e.AddPlans(unread, env.Plan{Name: e.Name("unread")})
	require.NoError(e, e.InstallHooks(e.Context()))
	return []string{everythingIn(err)}
}

// rewriteCanaries writes the admitted instance in ways that are refused, and
// returns the refusals.
func rewriteCanaries(e *env.Env, canary string) []string {
	e.Helper()
	e.Create(env.Plan{Name: e.Name("closed"), Class: e.Name("free"), Schema: `{"properties":{"on":{"type":"integer"}}}`}.Object())
	var told []string
	for _, tc := range []struct{ patch, want string }{
		{fmt.Sprintf(`{"spec":{"clusterServicePlanExternalName":%q}}`, e.Name("closed")), "kubectl patch"},
		{fmt.Sprintf(`{"spec":{"parameters":{"password":%q},"externalID":"other"}}`, canary+"2"), "externalID"},
	} {
		instance := e.Stored("admitted")
		err := e.Client().Patch(e.Context(), instance, client.RawPatch("application/merge-patch+json", []byte(tc.patch)))
		env.RequireInvalid(e.T, err, tc.want)
		told = append(told, everythingIn(err))
	}
	require.NoError(e, e.Client().Patch(e.Context(), e.Stored("admitted"), client.RawPatch("application/merge-patch+json",
		fmt.Appendf(nil, `{"spec":{"parameters":{"password":%q}}}`, canary+"3"))))
	return told
}

// everythingIn is all text of an answer of the API server.
func everythingIn(err error) string {
	text := err.Error()
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		for _, cause := range status.Status().Details.Causes {
			text += "\n" + cause.Field + ": " + cause.Message
		}
	}
	return text
}

// eventNotes are the texts of the events in the namespace.
func eventNotes(e *env.Env) []string {
	e.Helper()
	list := &eventsv1.EventList{}
	require.NoError(e, e.Client().List(e.Context(), list, client.InNamespace(e.Namespace)))
	var texts []string
	for _, event := range list.Items {
		texts = append(texts, event.Note)
	}
	return texts
}
