package ui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// patience is how long something may take that takes no time.
const patience = 30 * time.Second

// forbidden is a refusal of what is done with a resource.
func forbidden(resource, words string) error {
	return apierrors.NewForbidden(schema.ParseGroupResource(resource), "", errors.New(words))
}

// admission is a refusal in the words of a plugin: what it quotes anybody may have written.
func admission(message string) error {
	status := apierrors.NewForbidden(schema.ParseGroupResource(ofInstances), "x", nil)
	status.ErrStatus.Message = message
	return status
}

// The resources of refusals.
const (
	ofPlans     = "clusterserviceplans.servicecatalog.k8s.io"
	ofInstances = "serviceinstances.servicecatalog.k8s.io"
)

func TestLacksOf(t *testing.T) {
	t.Parallel()
	const cannotList = `User "eve" cannot list resource "clusterserviceplans" in API group "servicecatalog.k8s.io" at the cluster scope`
	list := lack{"list", "clusterserviceplans", "in the cluster", "kubectl create clusterrolebinding servicecatalog-catalog-view-eve --clusterrole=servicecatalog-catalog-view --user=eve"}
	create := lack{"create", "serviceinstances", "in namespace dev", "kubectl create rolebinding servicecatalog-edit-system:serviceaccount:dev:ci --namespace=dev --clusterrole=servicecatalog-edit --user=system:serviceaccount:dev:ci"}
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   []lack
		all    bool
	}{
		"None":      {"no error lacks nothing", nil, nil, false},
		"One":       {"wrapped as it comes", fmt.Errorf("cannot list plans: %w", forbidden(ofPlans, cannotList)), []lack{list}, true},
		"Twice":     {"told once", errors.Join(forbidden(ofPlans, cannotList), fmt.Errorf("again: %w", forbidden(ofPlans, cannotList))), []lack{list}, true},
		"Create":    {"another role", forbidden(ofInstances, `User "system:serviceaccount:dev:ci" cannot create resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "dev"`), []lack{create}, true},
		"OtherKind": {"none of our roles gives it", forbidden("namespaces", `User "eve" cannot get resource "namespaces" in API group "" in the namespace "dev"`), []lack{{"get", "namespaces", "in namespace dev", ""}}, true},
		"OddUser":   {"nothing that a shell would run", forbidden("serviceplans.servicecatalog.k8s.io", `User "$(rm -rf x)" cannot list resource "serviceplans" in API group "servicecatalog.k8s.io" in the namespace "dev"`), []lack{{"list", "serviceplans", "in namespace dev", "kubectl create rolebinding servicecatalog-view-USER --namespace=dev --clusterrole=servicecatalog-view --user=USER"}}, true},
		"Admission": {"a denial is no lack of rights", forbidden(ofInstances, "policy no-mysql denies it"), nil, false},
		"OddName":   {"a user with a quotation mark", forbidden(ofPlans, `User "a\"b" cannot list resource "clusterserviceplans" in API group "servicecatalog.k8s.io" at the cluster scope`), []lack{{"list", "clusterserviceplans", "in the cluster", "kubectl create clusterrolebinding servicecatalog-catalog-view-USER --clusterrole=servicecatalog-catalog-view --user=USER"}}, true},
		"WithCause": {"the authorizer may say why", forbidden(ofPlans, cannotList+": RBAC: no role"), []lack{list}, true},
		"Forged":    {"a class called so, quoted by our webhook", admission(`admission webhook "x" denied the request: class ` + cannotList + ` is denied`), nil, false},
		"ForgedVAP": {"or by a policy of the cluster's", admission(ofInstances + ` "x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: ` + cannotList), nil, false},
		"Whole":     {"quoted with its beginning", admission(`admission webhook "x" denied the request: ` + ofPlans + ` is forbidden: ` + cannotList), nil, false},
		"Another":   {"not what was asked for", forbidden(ofInstances, cannotList), nil, false},
		"CutOff":    {"it ends where the authorizer ends", forbidden(ofPlans, cannotList+", plan x"), nil, false},
		"Verb":      {"no page needs it", forbidden(ofPlans, `User "eve" cannot delete resource "clusterserviceplans" in API group "servicecatalog.k8s.io" at the cluster scope`), nil, false},
		"NoRole":    {"instances of all namespaces: for that there is no command", forbidden(ofInstances, `User "eve" cannot list resource "serviceinstances" in API group "servicecatalog.k8s.io" at the cluster scope`), []lack{{"list", "serviceinstances", "in the cluster", ""}}, true},
		"Mixed":     {"there is more to tell", errors.Join(forbidden(ofPlans, cannotList), errors.New("connection refused")), []lack{list}, false},
		"Plain":     {"any other", errors.New("connection refused"), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lacks, all := lacksOf(tc.err)
			assert.Equal(t, tc.want, lacks, tc.reason)
			assert.Equal(t, tc.all, all, tc.reason)
		})
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, raw string
		costs       []string
		bullets     []string
	}{
		"Costs":      {"amounts by currency", `{"costs": [{"amount": {"usd": 99.0, "eur": 49}, "unit": "MONTHLY"}, {"amount": {"usd": 0.10}, "unit": "1GB"}]}`, []string{"49 eur or 99.0 usd, monthly", "0.10 usd, 1gb"}, nil},
		"NoUnit":     {"an amount alone", `{"costs": [{"amount": {"usd": 1}}]}`, []string{"1 usd"}, nil},
		"Bullets":    {"texts", `{"bullets": ["a", " ", 5, "b "]}`, nil, []string{"a", "b"}},
		"OtherShape": {"is left out", `{"costs": "free", "bullets": {"a": 1}}`, nil, nil},
		"OddAmounts": {"are left out", `{"costs": [5, {"amount": {"usd": "1"}}, {"amount": []}]}`, nil, nil},
		"Nothing":    {"no metadata", ``, nil, nil},
		"Broken":     {"no JSON", `{`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			about := metadataOf(&runtime.RawExtension{Raw: []byte(tc.raw)})
			assert.Equal(t, tc.costs, about.costs(), tc.reason)
			assert.Equal(t, tc.bullets, about.bullets(), tc.reason)
		})
	}
}

// TestParametersOf: where each came from, as svcat describe says it.
func TestParametersOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, record, stored, sent, want string }{
		"Layers":    {"by the record", `{"rule":"named","from":{"/a":"class","/b/c":"plan"}}`, `{"a":1,"b":{"c":2,"d":3},"e":4}`, ``, "/a=1 class, /b/c=2 plan, /b/d=3 user, /e=4 user"},
		"Secret":    {"only a Secret has it", `{"rule":"named"}`, `{"a":1}`, `{"a":1,"z":"<redacted>"}`, "/a=1 user, /z=<redacted> Secret"},
		"OverPlan":  {"a Secret beats a default", `{"rule":"named","from":{"/a":"plan"}}`, `{"a":1}`, `{"a":"<redacted>"}`, "/a=<redacted> Secret"},
		"UnderUser": {"the user beats a Secret", `{"rule":"named"}`, `{"a":1}`, `{"a":"<redacted>"}`, "/a=1 user"},
		"Mixed":     {"an object of several", `{"rule":"named","from":{"/a/b":"plan"}}`, `{"a":{"b":1,"c":2}}`, `{"a":"<redacted>"}`, "/a/b=1 plan, /a/c=2 user"},
		"Restored":  {"it is unknown", `{"rule":"restored"}`, `{"a":1}`, ``, "/a=1 user?"},
		"NoRecord":  {"it is unknown", ``, `{"a":1}`, ``, "/a=1 user?"},
		"Nothing":   {"nothing to know", ``, ``, ``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := &metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationAppliedDefaults: tc.record}}
			list := parametersOf(meta, &runtime.RawExtension{Raw: []byte(tc.stored)}, nil, &runtime.RawExtension{Raw: []byte(tc.sent)})
			var text string
			for i, row := range list.Rows {
				if i > 0 {
					text += ", "
				}
				text += fmt.Sprintf("%s=%v %s", row.Pointer, row.Value, row.From)
				if list.Unknown {
					text += "?"
				}
			}
			assert.Equal(t, tc.want, text, tc.reason)
		})
	}
}
