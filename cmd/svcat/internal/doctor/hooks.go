package doctor

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	hooksCheck = "hooks"
	applyHooks = "install them again: helm upgrade, or kubectl apply -f deploy/hooks; where certificates are managed, the keeper fills in the caBundle"
)

// A hook is what counts of a webhook of either half.
type hook struct {
	ClientConfig  admissionv1.WebhookClientConfig  `json:"clientConfig"`
	Rules         []admissionv1.RuleWithOperations `json:"rules"`
	FailurePolicy *admissionv1.FailurePolicyType   `json:"failurePolicy"`
}

// A configuration is a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration.
type configuration struct {
	metav1.ObjectMeta `json:"metadata"`

	Webhooks []hook `json:"webhooks"`
}

// checkHooks looks at both configurations. It returns the hooks that it found.
func checkHooks(ctx context.Context, reader client.Reader) ([]hook, []finding) {
	var all []hook
	var findings []finding
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		found, f := configured(ctx, reader, kind)
		all, findings = append(all, found...), append(findings, f)
	}
	return all, findings
}

// configured are the hooks of a configuration of a kind, and what is to be said of them.
func configured(ctx context.Context, reader client.Reader, kind string) ([]hook, finding) {
	wanted, err := shippedAs[configuration]("hooks", kind)
	if err != nil || len(wanted) != 1 {
		return nil, failedf(hooksCheck, "", "svcat has no manifest of a %s: %v", kind, err)
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind(kind))
	var installed configuration
	if err = reader.Get(ctx, client.ObjectKey{Name: wanted[0].Name}, there); err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(there.Object, &installed)
	}
	return installed.Webhooks, judgeHooks(kind+" "+wanted[0].Name, err, installed.Webhooks, wanted[0].Webhooks)
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
		resource := wanted[i].Rules[0].Resources[0]
		if at < 0 {
			absent = append(absent, resource)
			continue
		}
		if len(found[at].ClientConfig.CABundle) == 0 {
			bare = append(bare, resource)
		}
		if policy := found[at].FailurePolicy; policy != nil && *policy != admissionv1.Fail {
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
	rule := wanted.Rules[0]
	return slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool {
		return has(r.APIGroups, rule.APIGroups[0]) && has(r.APIVersions, rule.APIVersions[0]) && has(r.Resources, rule.Resources[0]) &&
			!slices.ContainsFunc(rule.Operations, func(o admissionv1.OperationType) bool { return !has(r.Operations, o) })
	})
}

// has says whether a list of a rule takes in a value.
func has[S ~string](list []S, value S) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}
