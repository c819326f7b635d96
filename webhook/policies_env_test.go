package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// ruled adds policies, each in a text such as
//
//	deny budget plan=large in=dev,qa says=ask-ann
//
// "deny" or "allow", for bindings with "bind-" before it; its name; what it is about: type, class, plan, label (of plans),
// instance (namespace/name) and ilabel (of instances); where it holds: in (names) and where (a label of namespaces); and its
// message. A label is written key:value. "broken" makes a selector of it that cannot be read.
func ruled(texts ...string) func(*stock) {
	return func(s *stock) {
		for _, text := range texts {
			s.objects = append(s.objects, policyObject(s.tb, text))
		}
	}
}

func policyObject(tb testing.TB, text string) client.Object {
	tb.Helper()
	words := strings.Fields(text)
	meta := metav1.ObjectMeta{Name: words[1], UID: types.UID("uid-policy-" + words[1])}
	action, binds := strings.CutPrefix(words[0], "bind-")
	rule := v1beta1.PolicyRule{Action: map[string]v1beta1.PolicyAction{"deny": v1beta1.PolicyDeny, "allow": v1beta1.PolicyAllow}[action]}
	var subject v1beta1.BindingPolicySubject
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "type":
			subject.ServiceType = value
		case "class":
			subject.ClassName = value
		case "plan":
			subject.PlanName = value
		case "label":
			subject.PlanSelector = selecting(value)
		case "instance":
			namespace, name, _ := strings.Cut(value, "/")
			subject.Instance = &v1beta1.PolicyInstance{Namespace: namespace, Name: name}
		case "ilabel":
			subject.InstanceSelector = selecting(value)
		case "in":
			rule.Namespaces = placesOf(rule.Namespaces)
			rule.Namespaces.Names = strings.Split(value, ",")
		case "where":
			rule.Namespaces = placesOf(rule.Namespaces)
			rule.Namespaces.Selector = selecting(value)
		case "says":
			rule.Message = strings.ReplaceAll(value, "-", " ")
		case "broken":
			subject.PlanSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}
		default:
			require.FailNow(tb, "no such word", word)
		}
	}
	if binds {
		return &v1beta1.BindingPolicy{ObjectMeta: meta, Spec: v1beta1.BindingPolicySpec{PolicyRule: rule, Subjects: []v1beta1.BindingPolicySubject{subject}}}
	}
	return &v1beta1.ProvisioningPolicy{ObjectMeta: meta, Spec: v1beta1.ProvisioningPolicySpec{
		PolicyRule: rule, Subjects: []v1beta1.PolicySubject{{PlanSubject: subject.PlanSubject}},
	}}
}

func placesOf(places *v1beta1.PolicyNamespaces) *v1beta1.PolicyNamespaces {
	if places == nil {
		return &v1beta1.PolicyNamespaces{}
	}
	return places
}

func selecting(text string) *metav1.LabelSelector {
	key, value, _ := strings.Cut(text, ":")
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// hasNamespace adds a namespace with a label.
func hasNamespace(name, label, value string) func(*stock) {
	return func(s *stock) {
		s.objects = append(s.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: value}}})
	}
}

// A policedCase is a write of an instance under policies.
type policedCase struct {
	reason  string
	catalog string
	edits   []func(*stock)
	// policies are those that the API server has; known are those that the cache has, if they are others.
	policies []string
	known    []string
	behind   bool
	adjust   func(*env)
	// spec is that of a new instance; where write is set, that is stored first, before there were policies.
	spec, write string
	// denied is the label of the refusal, and then says is part of its text.
	denied, says string
	plan         string
	warnings     string
}

func (tc policedCase) run(t *testing.T) *outcome {
	t.Helper()
	known := tc.policies
	if tc.known != nil || tc.behind {
		known = tc.known
	}
	live := append([]func(*stock){ruled(tc.policies...)}, tc.edits...)
	cached := append([]func(*stock){ruled(known...)}, tc.edits...)
	w := envOf(t, stocked(t, tc.catalog, tc.edits...), stocked(t, tc.catalog, tc.edits...))
	if tc.write == "" {
		w = envOf(t, stocked(t, tc.catalog, cached...), stocked(t, tc.catalog, live...))
		if tc.adjust != nil {
			tc.adjust(w)
		}
		return w.create(tc.spec)
	}
	stored := w.created(tc.spec)
	w.cached.show(stocked(t, tc.catalog, cached...))
	w.live.show(stocked(t, tc.catalog, live...))
	if tc.adjust != nil {
		tc.adjust(w)
	}
	return w.write(changed(t, stored, tc.write), stored)
}
