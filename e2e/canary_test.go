package e2e_test

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
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// TestNoValueOfAParameterIsEverTold: values are planted everywhere that a user,
// an operator or a Secret can put them, in forms that go through and in all that
// do not. None shows in a denial, a warning, an event, the log or the audit log.
func TestNoValueOfAParameterIsEverTold(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, startStack(t, func(o *stack.Options) { o.Webhooks, o.ControlPlaneArgs = 2, []string{"-audit"} }))
	canary := "canary-" + w.suffix
	w.addCanaries(canary)
	told := w.addUnread(canary)
	for name, tc := range plantings(canary) {
		instance := w.instance(name, ofPlan(w.name(tc.class), ""), withParameters(tc.parameters))
		if tc.class == "free" {
			instance.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: "credentials", Key: "password"}}}
		}
		err := w.client.Create(t.Context(), instance)
		if tc.refused == "" {
			require.NoError(t, err, name)
			continue
		}
		requireInvalid(t, err, tc.refused)
		told = append(told, everythingIn(err))
	}
	told = append(told, w.rewriteCanaries(canary)...)
	told = append(told, w.warnings.take()...)
	told = append(told, w.events()...)
	written := ""
	for _, file := range []string{w.WebhookLog(0), w.WebhookLog(1), w.AuditLog()} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(content), canary, file)
		if file == w.AuditLog() {
			require.Contains(t, string(content), w.namespace, "the audit log tells of these instances")
			continue
		}
		written += string(content)
	}
	require.Contains(t, written, w.namespace, "a webhook tells of these instances")
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
func (w *world) addCanaries(canary string) {
	w.Helper()
	w.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "credentials"}, StringData: map[string]string{"password": canary},
	})
	w.addPlans(class{name: w.name("free"), defaults: fmt.Sprintf(`{"off":%q,"on":%q}`, canary, canary)},
		plan{name: w.name("free"), schema: `{"type":"object"}`})
	w.addPlans(class{name: w.name("strict")}, plan{name: w.name("strict"), schema: `{"properties":{
		"enum":{"enum":["a"]},"const":{"const":"a"},"type":{"type":"integer"},"pattern":{"pattern":"^a$"},"format":{"type":"string","format":"ipv4"},
		"length":{"maxLength":3},"items":{"uniqueItems":true},"any":{"anyOf":[{"type":"integer"},{"enum":["a"]}]}},"$schema":"http://json-schema.org/draft-07/schema#"}`})
	w.addPlans(class{name: w.name("broken"), defaults: fmt.Sprintf(`{"a":%q}`, canary)},
		plan{name: w.name("broken"), schema: `{"properties":{"a":{"type":"integer"}}}`})
}

// addUnread adds a class with defaults that cannot be merged. It is older than the
// hooks, which refuse it: the refusal is returned.
func (w *world) addUnread(canary string) []string {
	w.Helper()
	unread := class{name: w.name("unread"), defaults: strings.Repeat(`{"a":`, 70) + fmt.Sprintf("%q", canary) + strings.Repeat("}", 70)}
	err := w.client.Create(w.Context(), unread.object())
	requireInvalid(w.T, err, "nested too deeply")
	require.NoError(w, w.UninstallHooks(w.Context()))
	w.addPlans(unread, plan{name: w.name("unread")})
	require.NoError(w, w.InstallHooks(w.Context()))
	return []string{everythingIn(err)}
}

// rewriteCanaries writes the admitted instance in ways that are refused, and
// returns the refusals.
func (w *world) rewriteCanaries(canary string) []string {
	w.Helper()
	w.create(plan{name: w.name("closed"), class: w.name("free"), schema: `{"properties":{"on":{"type":"integer"}}}`}.object())
	var told []string
	for _, tc := range []struct{ patch, want string }{
		{fmt.Sprintf(`{"spec":{"clusterServicePlanExternalName":%q}}`, w.name("closed")), "kubectl patch"},
		{fmt.Sprintf(`{"spec":{"parameters":{"password":%q},"externalID":"other"}}`, canary+"2"), "externalID"},
	} {
		instance := w.stored("admitted")
		err := w.client.Patch(w.Context(), instance, client.RawPatch("application/merge-patch+json", []byte(tc.patch)))
		requireInvalid(w.T, err, tc.want)
		told = append(told, everythingIn(err))
	}
	require.NoError(w, w.client.Patch(w.Context(), w.stored("admitted"), client.RawPatch("application/merge-patch+json",
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

// events are the texts of the events in the world's namespace.
func (w *world) events() []string {
	w.Helper()
	list := &eventsv1.EventList{}
	require.NoError(w, w.client.List(w.Context(), list, client.InNamespace(w.namespace)))
	var texts []string
	for _, event := range list.Items {
		texts = append(texts, event.Note)
	}
	return texts
}
