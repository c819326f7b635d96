package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// A catalogEnv is an env in which brokers, classes and plans are admitted.
type catalogEnv struct{ *env }

// catalogEnv is one whose cache is up to date.
func (s *stock) catalogEnv() *catalogEnv { return catalogEnvOf(s.env()) }

// catalogEnvOf is one whose admission remembers nothing yet.
func catalogEnvOf(w *env) *catalogEnv {
	readers := Readers{Cached: w.cached, Live: w.live, Policies: w.cached.rules(), Access: w.reviews}
	w.shared = share(readers, w.options, w.clock)
	w.mux = http.NewServeMux()
	serveOfferings(w, w.shared)
	return &catalogEnv{w}
}

// resources are the kinds of a catalog, and what the API server calls them in paths.
var resources = map[string]string{
	"ClusterServiceBroker": "clusterservicebrokers", "ServiceBroker": "servicebrokers",
	"ClusterServiceClass": "clusterserviceclasses", "ServiceClass": "serviceclasses",
	"ClusterServicePlan": "clusterserviceplans", "ServicePlan": "serviceplans",
}

// phase sends a write of an object to one phase.
func (c *catalogEnv) phase(phase review.Phase, object, old []byte) reply {
	c.tb.Helper()
	return c.ask(c.reviewOf(phase, object, old))
}

// status is the HTTP status that one phase answers with.
func (c *catalogEnv) status(phase review.Phase, object, old []byte) int {
	c.tb.Helper()
	path, review := c.reviewOf(phase, object, old)
	body, err := json.Marshal(review)
	require.NoError(c.tb, err)
	return c.post(path, body).Code
}

// reviewOf is a review, and where it is sent.
func (c *catalogEnv) reviewOf(phase review.Phase, object, old []byte) (string, *admissionv1.AdmissionReview) {
	c.tb.Helper()
	var meta metav1.PartialObjectMetadata
	require.NoError(c.tb, json.Unmarshal(object, &meta))
	review := c.review(object, old)
	review.Request.Kind.Kind, review.Request.Namespace = meta.Kind, meta.Namespace
	review.Request.Resource.Resource = resources[meta.Kind]
	return fmt.Sprintf("/%s/%s", phase, resources[meta.Kind]), review
}

// write sends a write through both phases; old is nil for a new object.
func (c *catalogEnv) write(object, old []byte) *outcome {
	c.tb.Helper()
	o := &outcome{tb: c.tb}
	if o.mutate = c.phase(review.Mutating, object, old); !o.mutate.Allowed {
		o.validate = o.mutate // the validating phase is not asked
		return o
	}
	if o.validate = c.phase(review.Validating, o.mutate.patched, old); !o.validate.Allowed {
		return o
	}
	assert.Empty(c.tb, o.validate.Patch)
	o.stored = o.mutate.patched
	return o
}

// objectOf is an object called azure.
func objectOf(kind, spec string) []byte {
	meta := `{"name":"azure"}`
	if !strings.HasPrefix(kind, "Cluster") {
		meta = `{"name":"azure","namespace":"dev"}`
	}
	return fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":%q,"metadata":%s,"spec":%s}`, kind, meta, spec)
}

// A ruleCase is a write that a rule is about. It is written for the cluster's scope.
type ruleCase struct {
	reason string
	kind   string
	// catalog is what there is beside the object.
	catalog string
	// edits change the catalog; at is what stands before the names of its scope.
	edits func(at string) []func(*stock)
	// old is the spec that stands, "" for a new object, and spec the one to be.
	old, spec string
	// patch is a merge patch on the whole object, applied to a write in which old stays.
	patch   string
	granted []string
	adjust  func(*catalogEnv)
	// asked are the rights that are to be asked for.
	asked []string
	// denied is the label of the refusal, "" for none, and warnings are what is told.
	denied   string
	warnings []string
	// scope is the one scope that it is about, both if empty.
	scope string
	at    string
}

const (
	onlyCluster   = "cluster"
	onlyNamespace = "namespace"
)

// scoped is the case in a namespace.
func (tc ruleCase) scoped() ruleCase {
	rename := strings.NewReplacer("clusterServiceClass", "serviceClass", "infra/", "dev/", `"namespace":"infra",`, "", `"namespace":"own"`, `"namespace":"dev"`, "own/", "dev/").Replace
	tc.kind, tc.at = strings.TrimPrefix(tc.kind, "Cluster"), "dev/"
	tc.old, tc.spec, tc.patch = rename(tc.old), rename(tc.spec), rename(tc.patch)
	if tc.catalog != "" {
		tc.catalog = "dev|" + strings.ReplaceAll(tc.catalog, ";", ";dev|")
	}
	for _, rights := range []*[]string{&tc.granted, &tc.asked} {
		var renamed []string
		for _, right := range *rights {
			renamed = append(renamed, rename(right))
		}
		*rights = renamed
	}
	return tc
}

// scopes are the case as it is in each scope that it is about, by title.
func (tc ruleCase) scopes(name string) map[string]ruleCase {
	switch tc.scope {
	case onlyCluster:
		return map[string]ruleCase{name: tc}
	case onlyNamespace:
		return map[string]ruleCase{name + "InNamespace": tc.scoped()}
	}
	return map[string]ruleCase{name: tc, name + "InNamespace": tc.scoped()}
}

// run writes, and says what became of it.
func (tc ruleCase) run(t *testing.T) (*catalogEnv, *outcome) {
	t.Helper()
	var edits []func(*stock)
	if tc.edits != nil {
		edits = tc.edits(tc.at)
	}
	c := stocked(t, tc.catalog, edits...).catalogEnv()
	c.reviews.granted = tc.granted
	if tc.adjust != nil {
		tc.adjust(c)
	}
	var old []byte
	if tc.old != "" {
		old = objectOf(tc.kind, tc.old)
	}
	if tc.spec == "" {
		return c, c.write(changed(t, old, tc.patch), old)
	}
	return c, c.write(changed(t, objectOf(tc.kind, tc.spec), tc.patch), old)
}

// check holds what became of each case against what is wanted.
func check(t *testing.T, cases map[string]ruleCase) {
	t.Helper()
	for name, both := range cases {
		for title, tc := range both.scopes(name) {
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				c, o := tc.run(t)
				label := ""
				if o.denied() != nil {
					label = o.validate.outcome
				}
				assert.Equal(t, tc.denied, label, tc.reason)
				assert.Equal(t, tc.warnings, o.validate.Warnings, tc.reason)
				assert.Equal(t, tc.asked, c.reviews.taken(), tc.reason)
			})
		}
	}
}

const goldenCatalogDenials = "testdata/denials_catalog.golden"

// Every refusal of a broker, class or plan, as people read it.
func TestCatalogDenials(t *testing.T) {
	t.Parallel()
	all := map[string]ruleCase{}
	for _, cases := range []map[string]ruleCase{brokerRules(), offeringRules(), offeringAccessRules()} {
		for name, both := range cases {
			for title, tc := range both.scopes(kindWord(both.kind) + name) {
				if tc.denied != "" {
					all[title] = tc
				}
			}
		}
	}
	var text strings.Builder
	for _, title := range slices.Sorted(maps.Keys(all)) {
		_, o := all[title].run(t)
		require.NotNil(t, o.denied(), title)
		text.WriteString(o.render(title))
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenCatalogDenials, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(goldenCatalogDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "run the test with -update and read the difference")
}

// kindWord is the last word of a kind.
func kindWord(kind string) string { return strings.TrimPrefix(kind, "ClusterService") }
