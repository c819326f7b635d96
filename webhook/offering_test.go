package webhook

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Old clients find classes and plans by hashed labels.
func TestOfferingLabels(t *testing.T) {
	t.Parallel()
	label := func(field, value string) string {
		return `"servicecatalog.k8s.io/spec.` + field + `":"` + value + `"`
	}
	hashed := func(field, value string) string { return label(field, v1beta1.HashLabelValue(value)) }
	braces := func(labels ...string) string { return "{" + strings.Join(labels, ",") + "}" }
	own, id, name := `"a":"b"`, hashed("externalID", "c1"), hashed("externalName", "db")
	broker, copied := hashed("serviceBrokerName", "mine"), hashed("clusterServiceBrokerName", "azure")
	cases := map[string]struct{ reason, kind, spec, old, patch, want string }{
		"Class":           {"A class of the cluster.", "ClusterServiceClass", with(oneClass, `"clusterServiceBrokerName":"azure"`), "", "", braces(copied, id, name)},
		"ClassAnonymous":  {"A partial class has what it has.", "ClusterServiceClass", `{"externalID":"c1"}`, "", "", braces(id)},
		"ClassInside":     {"A class of a namespace.", "ServiceClass", with(oneClass, `"serviceBrokerName":"mine"`), "", "", braces(id, name, broker)},
		"ClassCopied":     {"A copy.", "ServiceClass", with(oneClass, `"clusterServiceBrokerName":"azure"`), "", "", braces(copied, id, name)},
		"Plan":            {"A plan also has its class.", "ClusterServicePlan", `{"externalID":"c1","clusterServiceClassRef":{"name":"x"}}`, "", "", braces(hashed("clusterServiceClassRef.name", "x"), id)},
		"PlanInside":      {"In a namespace, too.", "ServicePlan", `{"externalID":"c1","serviceClassRef":{"name":"x"}}`, "", "", braces(id, hashed("serviceClassRef.name", "x"))},
		"OwnLabels":       {"A user's labels stay.", "ClusterServiceClass", oneClass, "", `{"metadata":{"labels":{"a":"b"}}}`, braces(own, id, name)},
		"Forged":          {"What a user writes there is put right.", "ClusterServiceClass", oneClass, "", `{"metadata":{"labels":` + braces(label("externalID", "forged")) + `}}`, braces(id, name)},
		"Renamed":         {"An update follows the field.", "ClusterServiceClass", oneClass, `{"externalID":"c1","externalName":"was"}`, `{"metadata":{"labels":` + braces(hashed("externalName", "was")) + `}}`, braces(id, name)},
		"Emptied":         {"What became empty is emptied.", "ClusterServiceClass", `{"externalID":"c1"}`, oneClass, `{"metadata":{"labels":` + braces(name) + `}}`, braces(id, label("externalName", ""))},
		"EmptiedAlready":  {"Once.", "ClusterServiceClass", `{"externalID":"c1"}`, oneClass, `{"metadata":{"labels":` + braces(id, label("externalName", "")) + `}}`, braces(id, label("externalName", ""))},
		"LongID":          {"No value is too long.", "ClusterServiceClass", `{"externalID":"` + strings.Repeat("x", 300) + `"}`, "", "", braces(hashed("externalID", strings.Repeat("x", 300)))},
		"Unreadable":      {"The schema says what is wrong.", "ClusterServiceClass", `{"externalID":1}`, "", "", "absent"},
		"UnreadablePlan":  {"Of every kind.", "ServicePlan", `{"externalID":1}`, "", "", "absent"},
		"SpeclessIsEmpty": {"There is nothing to find it by.", "ServiceClass", `null`, "", "", "absent"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var old []byte
			if tc.old != "" {
				old = objectOf(tc.kind, tc.old)
			}
			c := stocked(t, "db:").catalogEnv()
			made := c.phase(review.Mutating, changed(t, objectOf(tc.kind, tc.spec), tc.patch), old)
			require.True(t, made.Allowed)
			assert.Equal(t, tc.want, at(t, made.patched, "/metadata/labels"), tc.reason)
			again := c.phase(review.Mutating, made.patched, nil)
			assert.Empty(t, again.Patch, "what is right is not written again")
		})
	}
}

// Of classes and plans, an absent field is absent: only labels are added.
func TestOfferingMutationIsOfLabels(t *testing.T) {
	t.Parallel()
	old := with(onePlan, `"serviceType":"mysql","defaultProvisionParameters":{"a":1},"weight":7`)
	made := stocked(t, "db:").catalogEnv().phase(review.Mutating, objectOf("ClusterServicePlan", onePlan), objectOf("ClusterServicePlan", old))
	assert.JSONEq(t, onePlan, at(t, made.patched, "/spec"))
}

// An object that cannot be read is refused without its content, the stored one too.
func TestOfferingUnreadable(t *testing.T) {
	t.Parallel()
	c := stocked(t, "db:").catalogEnv()
	wrong := objectOf("ServicePlan", `{"externalID":["`+canary+`"]}`)
	for _, answer := range []reply{c.phase(review.Validating, wrong, nil), c.phase(review.Validating, objectOf("ServicePlan", onePlan), wrong)} {
		assert.Equal(t, "Unreadable", answer.outcome)
		assert.Contains(t, answer.Result.Message, "kubectl explain serviceplans")
	}
}

// What an operator applies together is not in the cache yet: the class is then read live.
func TestPlanBesideItsNewClass(t *testing.T) {
	t.Parallel()
	live := stocked(t, "db:", classDefaults("db", `{"size":"`+canary+`"}`))
	c := catalogEnvOf(envOf(t, stocked(t, "other:"), live))
	plan := objectOf("ClusterServicePlan", with(onePlan, `"instanceCreateParameterSchema":`+sizes))
	o := c.write(plan, nil)
	o.admitted()
	assert.Empty(t, o.validate.Warnings)
	assert.Empty(t, c.live.taken(), "a relist writes 10,000 plans before their classes: none waits, only to warn")
	c = catalogEnvOf(envOf(t, live, live))
	o = c.write(plan, nil)
	o.admitted()
	assert.Len(t, o.validate.Warnings, 1)
	assert.Empty(t, c.live.taken(), "the cache is enough where it has the class")
}

// The schemas of plans, of which the cache has digests, are read once.
func TestSchemasOfPlansAreReadOnce(t *testing.T) {
	t.Parallel()
	c := stocked(t, "db: a b", createSchemaOf("db-a", sizes), createSchemaOf("db-b", sizes)).catalogEnv()
	class := changed(t, objectOf("ClusterServiceClass", with(oneClass, `"defaultProvisionParameters":{"size":1}`)), `{"metadata":{"name":"db"}}`)
	for _, reads := range []int{1, 0} {
		o := c.write(class, nil)
		o.admitted()
		assert.Len(t, o.validate.Warnings, 1)
		assert.Len(t, c.live.taken(), reads, "two plans have one schema")
	}
}

// A default of its type is judged where defaults are.
func TestOfferingDefaultIsJudged(t *testing.T) {
	t.Parallel()
	const annotated = `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":"true"}},"spec":{"serviceType":"mysql"}}`
	for kind, right := range map[string]string{"ClusterServicePlan": "alice update clusterservicetypes mysql", "ServicePlan": "alice update servicetypes dev/mysql"} {
		c := stocked(t, "db:").catalogEnv()
		plan := changed(t, objectOf(kind, onePlan), annotated)
		require.NotNil(t, c.write(plan, nil).denied(), kind)
		assert.Equal(t, []string{right}, c.reviews.taken())
		c.reviews.granted = []string{right}
		c.write(plan, nil).admitted()
		assert.Equal(t, []string{right}, c.reviews.taken())
		c.write(changed(t, plan, `{"spec":{"description":"x"}}`), plan).admitted()
		assert.Empty(t, c.reviews.taken(), "what does not change is not asked")
	}
	retyped := `{"spec":{"serviceType":"mysql"}}`
	c := stocked(t, "azure: small*").catalogEnv()
	class := objectOf("ClusterServiceClass", oneClass)
	require.NotNil(t, c.write(changed(t, class, retyped), class).denied(), "a class brings its annotated plans along")
	assert.Equal(t, []string{"alice update clusterservicetypes mysql"}, c.reviews.taken())
}

// A review that fails is a failure of ours, never a refusal; a read that only warns
// may fail.
func TestOfferingReadsFail(t *testing.T) {
	t.Parallel()
	down := func(string) error { return errors.New("down") }
	sized := with(onePlan, `"instanceCreateParameterSchema":`+sizes+`,"defaultProvisionParameters":{"size":"S"}`)
	copied := with(strings.ReplaceAll(onePlan, "clusterService", "service"), `"clusterServiceBrokerName":"azure"`)
	transformed := with(oneClass, `"defaultSecretTransforms":[{"addKeysFrom":{"secretRef":{"namespace":"a","name":"b"}}}]`)
	class := changed(t, objectOf("ClusterServiceClass", with(oneClass, `"defaultProvisionParameters":{"size":1}`)), `{"metadata":{"name":"db"}}`)
	cases := map[string]struct {
		reason string
		object []byte
		breaks func(*catalogEnv)
		want   int
	}{
		"ReviewOfBroker": {"The right to use a broker.", objectOf("ServicePlan", copied), func(c *catalogEnv) { c.reviews.down = errors.New("down") }, http.StatusInternalServerError},
		"ReviewOfSecret": {"The right to a Secret.", objectOf("ClusterServiceClass", transformed), func(c *catalogEnv) { c.reviews.down = errors.New("down") }, http.StatusInternalServerError},
		"CachedClass":    {"No write fails for a warning: the class of a plan.", objectOf("ClusterServicePlan", sized), func(c *catalogEnv) { c.cached.fail(down) }, http.StatusOK},
		"PlansOfClass":   {"Nor for the plans of a class.", class, func(c *catalogEnv) { c.cached.fail(down) }, http.StatusOK},
		"SchemasOfPlans": {"Nor for their schemas.", class, func(c *catalogEnv) { c.live.fail(down) }, http.StatusOK},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := stocked(t, "db: a", createSchemaOf("db-a", sizes)).catalogEnv()
			require.Equal(t, http.StatusOK, c.status(review.Validating, tc.object, nil))
			tc.breaks(c)
			// What was read before is not asked of an env that is broken since.
			assert.Equal(t, tc.want, catalogEnvOf(c.env).status(review.Validating, tc.object, nil), tc.reason)
		})
	}
}
