package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A policyKindCase is a write of a policy beside the plans small{tier=gold} of the cluster's class db and tiny of dev's class
// own, the instance dev/mydb and the namespaces dev and prod.
type policyKindCase struct {
	reason string
	// kind is ProvisioningPolicy if empty.
	kind string
	// old is the spec that stands, empty for a new policy.
	old, spec string
	going     bool
	// want is the label of the refusal, empty if there is none, and fields are those that it names.
	want     string
	fields   []string
	warnings []string
}

func policyKindCases() map[string]policyKindCase {
	deny := func(rest string) string { return `{"action":"Deny",` + rest + `}` }
	named := func(rest string) string { return deny(`"subjects":[{"className":"db"}],"namespaces":` + rest) }
	const badKey = `{"matchLabels":{"a b":"c"}}`
	const badOperator = `{"matchExpressions":[{"key":"tier","operator":"Near","values":["gold"]}]}`
	return map[string]policyKindCase{
		"Class":          {reason: "By its external name.", spec: deny(`"subjects":[{"className":"db"}]`)},
		"Namespaced":     {reason: "In a namespace's catalog, too.", spec: deny(`"subjects":[{"className":"own","planName":"own-tiny"}]`)},
		"Type":           {reason: "By its type.", spec: deny(`"subjects":[{"serviceType":"mysql"}]`)},
		"Selector":       {reason: "By labels.", spec: deny(`"subjects":[{"planSelector":{"matchLabels":{"tier":"gold"}}}]`)},
		"Everything":     {reason: "An empty selector is every plan.", spec: deny(`"subjects":[{"planSelector":{}}]`)},
		"Namespaces":     {reason: "Where it holds.", spec: named(`{"names":["dev"],"selector":{"matchLabels":{"env":"test"}}}`)},
		"Instance":       {reason: "One instance.", kind: "BindingPolicy", spec: deny(`"subjects":[{"instance":{"namespace":"dev","name":"mydb"}}]`)},
		"InstanceLabels": {reason: "Instances come and go.", kind: "BindingPolicy", spec: deny(`"subjects":[{"instanceSelector":{"matchLabels":{"a":"b"}}}]`)},

		"NoClass":     {reason: "It may come.", spec: deny(`"subjects":[{"className":"db"},{"className":"nowhere"}]`), warnings: []string{"spec.subjects[1] selects no plan now"}},
		"NoPlan":      {reason: "All that is set must be so.", spec: deny(`"subjects":[{"className":"db","planName":"tiny"}]`), warnings: []string{"spec.subjects[0] selects no plan now"}},
		"NoType":      {reason: "A typing error looks like that.", spec: deny(`"subjects":[{"serviceType":"mysqll"}]`), warnings: []string{"spec.subjects[0] selects no plan now"}},
		"NoLabels":    {reason: "So do labels.", spec: deny(`"subjects":[{"planSelector":{"matchLabels":{"tier":"lead"}}}]`), warnings: []string{"spec.subjects[0] selects no plan now"}},
		"ByID":        {reason: "An external ID is no name.", spec: deny(`"subjects":[{"planName":"id-small"}]`), warnings: []string{"spec.subjects[0] selects no plan now"}},
		"NoNamespace": {reason: "Nor need a namespace be there.", spec: named(`{"names":["dev","staging"]}`), warnings: []string{`spec.namespaces.names[1]: there is no namespace "staging" now`}},
		"NoInstance": {reason: "Nor an instance.", kind: "BindingPolicy", spec: deny(`"subjects":[{"className":"nowhere","instance":{"namespace":"prod","name":"mydb"}}]`),
			warnings: []string{"spec.subjects[0] selects no plan now", `spec.subjects[0].instance: there is no instance "mydb" in namespace "prod" now`}},
		"Costs":        {reason: "What is unknown counts.", spec: deny(`"subjects":[{"costs":{"currency":"usd","unit":"MONTHLY","above":"100"}}]`)},
		"CostsAllowed": {reason: "Unless it does not.", spec: deny(`"subjects":[{"costs":{"currency":"usd","unit":"MONTHLY","above":"100","unknown":"Allow"}}]`), warnings: []string{"spec.subjects[0] selects no plan now"}},
		"BadCosts":     {reason: "An amount is a decimal.", spec: deny(`"subjects":[{"costs":{"currency":"usd","unit":"MONTHLY","above":"1,000"}}]`), want: "UnreadablePolicy", fields: []string{`spec.subjects[0].costs.above`}},
		"Many": {reason: "A whole inventory is not looked up.", spec: deny(`"subjects":[{"className":"db"}` + strings.Repeat(`,{"className":"db"}`, 31) + `,{"className":"nowhere"}],"namespaces":{"names":["dev"` +
			strings.Repeat(`,"dev"`, 31) + `,"staging"]}`)},

		"BadKey":        {reason: "No label can be called that.", spec: deny(`"subjects":[{"className":"db"},{"planSelector":` + badKey + `}]`), want: "UnreadablePolicy", fields: []string{`spec.subjects[1].planSelector.matchLabels[a b]`}},
		"BadOperator":   {reason: "There is no such operator.", spec: deny(`"subjects":[{"planSelector":` + badOperator + `}]`), want: "UnreadablePolicy", fields: []string{`spec.subjects[0].planSelector.matchExpressions[0].operator`}},
		"BadNamespaces": {reason: "Every selector is read.", spec: named(`{"selector":` + badOperator + `}`), want: "UnreadablePolicy", fields: []string{`spec.namespaces.selector.matchExpressions[0].operator`}},
		"BadInstances":  {reason: "Of both kinds.", kind: "BindingPolicy", spec: deny(`"subjects":[{"instanceSelector":` + badOperator + `}]`), want: "UnreadablePolicy", fields: []string{`spec.subjects[0].instanceSelector.matchExpressions[0].operator`}},
		"BadTwice": {reason: "All is told at once.", spec: deny(`"subjects":[{"planSelector":` + badKey + `}],"namespaces":{"selector":` + badOperator + `}`), want: "UnreadablePolicy",
			fields: []string{`spec.namespaces.selector.matchExpressions[0].operator`, `spec.subjects[0].planSelector.matchLabels[a b]`}},
		"BadChange":  {reason: "What changes is judged.", old: deny(`"subjects":[{"className":"db"}]`), spec: deny(`"subjects":[{"planSelector":` + badKey + `}]`), want: "UnreadablePolicy", fields: []string{`spec.subjects[0].planSelector.matchLabels[a b]`}},
		"BadBefore":  {reason: "What was always wrong may stay.", old: deny(`"subjects":[{"planSelector":` + badKey + `}]`), spec: `{"action":"Allow","subjects":[{"planSelector":` + badKey + `}]}`},
		"Unchanged":  {reason: "Without a change nothing is told.", old: deny(`"subjects":[{"className":"nowhere"}]`), spec: deny(`"subjects":[{"className":"nowhere"}]`)},
		"Going":      {reason: "What is being deleted may be edited.", going: true, old: deny(`"subjects":[{"className":"db"}]`), spec: deny(`"subjects":[{"planSelector":` + badKey + `}]`)},
		"Unreadable": {reason: "What is no policy is told so.", spec: deny(`"subjects":"` + canary + `"`), want: "Unreadable", fields: []string{"spec.subjects"}},
	}
}

func policyKindEnv(t *testing.T) *defaultsEnv {
	t.Helper()
	return stocked(t, "mysql/db: small{tier=gold};dev|mysql/own: tiny", func(s *stock) {
		instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb"}}
		s.objects = append(s.objects, instance, namespaceObject("dev"), namespaceObject("prod"))
	}).defaultsEnv()
}

func namespaceObject(name string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (tc policyKindCase) run(t *testing.T) *outcome {
	t.Helper()
	w := policyKindEnv(t)
	return w.validated(tc.review(w))
}

func (tc policyKindCase) review(w *defaultsEnv) (string, *admissionv1.AdmissionReview) {
	kind, meta := tc.kind, `{"name":"budget"}`
	if kind == "" {
		kind = "ProvisioningPolicy"
	}
	if tc.going {
		meta = `{"name":"budget","deletionTimestamp":"2026-05-01T12:00:00Z"}`
	}
	object := func(spec string) []byte {
		if spec == "" {
			return nil
		}
		return fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":%q,"metadata":%s,"spec":%s}`, kind, meta, spec)
	}
	return w.reviewIn(kind, object(tc.spec), object(tc.old))
}

func TestPolicyKinds(t *testing.T) {
	t.Parallel()
	for name, tc := range policyKindCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tc.run(t)
			var fields []string
			label := ""
			if denied := o.denied(); denied != nil {
				label = o.validate.outcome
				assert.Equal(t, int32(http.StatusUnprocessableEntity), denied.Code)
				for _, cause := range denied.Details.Causes {
					fields = append(fields, cause.Field)
				}
			}
			assert.Equal(t, tc.want, label, tc.reason)
			assert.Equal(t, tc.fields, fields)
			assert.Equal(t, tc.warnings, o.validate.Warnings, tc.reason)
		})
	}
}

// What cannot be read is not warned of: no policy fails for it.
func TestPolicyKindsNeedNoReads(t *testing.T) {
	t.Parallel()
	cases := policyKindCases()
	for name, on := range map[string]string{"Class": "list ClusterServicePlan", "Type": "list ServicePlan", "Namespaces": "get Namespace", "Instance": "get ServiceInstance"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := policyKindEnv(t)
			for _, reader := range []*reader{w.cached, w.live} {
				reader.fail(func(read string) error {
					if strings.HasPrefix(read, on) {
						return errors.New("broken")
					}
					return nil
				})
			}
			path, review := cases[name].review(w)
			body, err := json.Marshal(review)
			require.NoError(t, err)
			recorder := w.post(path, body)
			assert.Equal(t, http.StatusOK, recorder.Code)
			assert.Contains(t, recorder.Body.String(), `"allowed":true`)
		})
	}
}
