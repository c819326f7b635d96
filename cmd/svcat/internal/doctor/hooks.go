package doctor

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	hooksCheck = "hooks"
	applyHooks = "install them again: helm upgrade, or kubectl apply -f deploy/hooks; where certificates are managed, the keeper fills in the caBundle"
)

// A hook is what counts of a webhook of either half.
type hook struct {
	name   string
	client admissionv1.WebhookClientConfig
	rules  []admissionv1.RuleWithOperations
	policy *admissionv1.FailurePolicyType
}

// hooks looks at both configurations. It returns the hooks that it found.
func (s *installation) hooks(ctx context.Context) ([]hook, []finding) {
	var all []hook
	var findings []finding
	for _, half := range []func(context.Context) ([]hook, finding){s.mutating, s.validating} {
		found, f := half(ctx)
		all, findings = append(all, found...), append(findings, f)
	}
	return all, findings
}

func (s *installation) mutating(ctx context.Context) ([]hook, finding) {
	const kind = "MutatingWebhookConfiguration"
	wanted, err := shippedAs[admissionv1.MutatingWebhookConfiguration]("hooks", kind)
	if err != nil || len(wanted) != 1 {
		return nil, failedf(hooksCheck, "", "svcat has no manifest of a %s: %v", kind, err)
	}
	installed := &admissionv1.MutatingWebhookConfiguration{}
	err = s.client.Get(ctx, client.ObjectKey{Name: wanted[0].Name}, installed)
	found := mutatingHooks(installed)
	return found, judgeHooks(kind+" "+wanted[0].Name, err, found, mutatingHooks(&wanted[0]))
}

func (s *installation) validating(ctx context.Context) ([]hook, finding) {
	const kind = "ValidatingWebhookConfiguration"
	wanted, err := shippedAs[admissionv1.ValidatingWebhookConfiguration]("hooks", kind)
	if err != nil || len(wanted) != 1 {
		return nil, failedf(hooksCheck, "", "svcat has no manifest of a %s: %v", kind, err)
	}
	installed := &admissionv1.ValidatingWebhookConfiguration{}
	err = s.client.Get(ctx, client.ObjectKey{Name: wanted[0].Name}, installed)
	found := validatingHooks(installed)
	return found, judgeHooks(kind+" "+wanted[0].Name, err, found, validatingHooks(&wanted[0]))
}

func mutatingHooks(configuration *admissionv1.MutatingWebhookConfiguration) []hook {
	hooks := make([]hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		hooks[i] = hook{w.Name, w.ClientConfig, w.Rules, w.FailurePolicy}
	}
	return hooks
}

func validatingHooks(configuration *admissionv1.ValidatingWebhookConfiguration) []hook {
	hooks := make([]hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		hooks[i] = hook{w.Name, w.ClientConfig, w.Rules, w.FailurePolicy}
	}
	return hooks
}

// judgeHooks holds a configuration against the shipped one.
func judgeHooks(name string, err error, found, wanted []hook) finding {
	if apierrors.IsNotFound(err) {
		return failedf(hooksCheck, applyHooks, "%s is missing", name)
	}
	if err != nil {
		return unread(hooksCheck, "webhook configurations", err)
	}
	var absent, bare, open []string
	for i := range wanted {
		at := slices.IndexFunc(found, func(h hook) bool { return h.covers(&wanted[i]) })
		resource := wanted[i].rules[0].Resources[0]
		if at < 0 {
			absent = append(absent, resource)
			continue
		}
		if len(found[at].client.CABundle) == 0 {
			bare = append(bare, resource)
		}
		if policy := found[at].policy; policy != nil && *policy != admissionv1.Fail {
			open = append(open, resource)
		}
	}
	switch {
	case len(absent) > 0:
		return failedf(hooksCheck, applyHooks, "%s lacks a hook for creates and updates of %s", name, strings.Join(absent, ", "))
	case len(bare) > 0:
		return failedf(hooksCheck, applyHooks, "%s has no caBundle for %s: the API server trusts only the system's authorities there", name, strings.Join(bare, ", "))
	case len(open) > 0:
		return warningf(hooksCheck, "set failurePolicy: Fail", "%s lets %s pass unjudged while the webhook is down", name, strings.Join(open, ", "))
	}
	return okf(hooksCheck, "%s has all %d", name, len(wanted))
}

// covers says whether the hook is called for all that another is called for. Only
// shipped hooks are asked about: one rule, one of each.
func (h *hook) covers(wanted *hook) bool {
	rule := wanted.rules[0]
	return slices.ContainsFunc(h.rules, func(r admissionv1.RuleWithOperations) bool {
		return has(r.APIGroups, rule.APIGroups[0]) && has(r.APIVersions, rule.APIVersions[0]) && has(r.Resources, rule.Resources[0]) &&
			!slices.ContainsFunc(rule.Operations, func(o admissionv1.OperationType) bool { return !has(r.Operations, o) })
	})
}

// has says whether a list of a rule takes in a value.
func has[S ~string](list []S, value S) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}
