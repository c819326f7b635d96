package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// TestKubectlShowsWhyItIsRefused: each refusal, as a person reads it behind
// kubectl apply, client-side and server-side. The golden files are the texts.
func TestKubectlShowsWhyItIsRefused(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addRefusing(e)
	old := env.On(t, suite.New(t, stack.Options{Webhooks: 1, WebhookArgs: []string{"--keeper=off"}, Releaser: true}))
	addLegacy(old)
	for name, spec := range refusedSpecs {
		in := e
		if legacySpecs[name] {
			in = old
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			showsRefusal(in.In(t), name, "apply", "-f", "-", spec)
		})
	}
}

// showsRefusal applies a manifest in both ways, and holds what kubectl prints
// against a golden file.
func showsRefusal(e *env.Env, name string, args ...string) {
	e.Helper()
	verb, spec := args[:len(args)-1], args[len(args)-1]
	var shown strings.Builder
	for _, way := range [][]string{nil, {"--server-side"}} {
		command := append(append([]string{}, verb...), way...)
		said := e.KubectlFails(e.Manifest("mydb", spec), command...)
		fmt.Fprintf(&shown, "$ kubectl %s\n%s", strings.Join(command, " "), e.Normal(said))
	}
	golden.Match(e, "refused/"+name, "# spec: "+spec+"\n"+shown.String())
}

// refusedSpecs are specs that the catalog of addRefusing does not allow, or where
// legacySpecs says so that of addLegacy.
var refusedSpecs = map[string]string{
	"AmbiguousDefault":     "{serviceType: NAME(two-defaults)}",
	"AmbiguousSuggested":   "{serviceType: NAME(two-tips)}",
	"AmbiguousInNamespace": "{serviceType: NAME(local)}",
	"AmbiguousID":          "{clusterServiceClassExternalID: NAME(copied), clusterServicePlanExternalName: NAME(copied)}",
	"BadOperator":          "{planSelector: {matchExpressions: [{key: tier, operator: Near, values: [gold]}]}}",
	"BothScopes":           "{clusterServiceClassExternalName: NAME(plain), serviceClassExternalName: NAME(local-class)}",
	"ClassNotFound":        "{clusterServiceClassExternalName: NAME(absent)}",
	"ClassNotFoundLocal":   "{serviceClassExternalName: NAME(absent)}",
	"ClassNoName":          "{clusterServiceClassName: a/b}",
	"ClassHasNoDefault":    "{clusterServiceClassExternalName: NAME(plain)}",
	"EmptySelector":        "{planSelector: {}}",
	"GonePlan":             "{clusterServiceClassExternalName: NAME(gone)}",
	"GoneDefault":          "{serviceType: NAME(gone)}",
	"ForgedReferences":     "{serviceType: NAME(typed), clusterServiceClassRef: {name: NAME(typed)}, clusterServicePlanRef: {name: NAME(typed)}}",
	"NoDefault":            "{serviceType: NAME(no-default)}",
	"NoMatch":              "{clusterServiceClassExternalName: NAME(plain), planSelector: {matchLabels: {tier: NAME(absent)}}}",
	"NoSuchType":           "{serviceType: NAME(absent)}",
	"NothingNamed":         "{parameters: {location: westus}}",
	"ParametersNoObject":   "{clusterServiceClassExternalName: NAME(typed), parameters: [1]}",
	"ParametersTooDeep":    "{clusterServiceClassExternalName: NAME(typed), parameters: " + strings.Repeat("{a: ", 70) + "1" + strings.Repeat("}", 70) + "}",
	"ParametersFrom":       "{clusterServiceClassExternalName: NAME(typed), parametersFrom: [{}, {secretKeyRef: {name: s, key: k}}, {secretKeyRef: {name: s, key: k}}, {secretKeyRef: {name: s}}]}",
	"PlanWithoutClass":     "{clusterServicePlanExternalName: NAME(plain-a)}",
	"ReferenceNoName":      "{externalID: NAME(id), clusterServiceClassRef: {name: a/b}, clusterServicePlanRef: {name: a/b}}",
	"SchemaViolation":      "{clusterServiceClassExternalName: NAME(strict), parameters: {size: big, secret: hush, extra: 1}}",
	"BrokenDefaults":       "{clusterServiceClassExternalName: NAME(broken)}",
	"SelectorTooLarge":     "{planSelector: {matchExpressions: [{key: tier, operator: In, values: [" + strings.Repeat("a, ", 256) + "a]}]}}",
	"SelectorBesidePlan":   "{clusterServiceClassExternalName: NAME(plain), clusterServicePlanExternalName: NAME(plain-a), planSelector: {matchLabels: {a: b}}}",
	"TwoNamesOfAClass":     "{clusterServiceClassExternalName: NAME(plain), clusterServiceClassName: NAME(plain)}",
	"TypeMismatch":         "{serviceType: NAME(other), clusterServiceClassExternalName: NAME(typed), clusterServicePlanExternalName: NAME(typed)}",
	"TypeNoLabel":          "{serviceType: My_SQL}",
	"TypeNoName":           "{serviceType: my/sql}",
	"WrongPlanOfClass":     "{clusterServiceClassName: NAME(plain), clusterServicePlanName: NAME(typed), serviceType: NAME(other)}",
}

var legacySpecs = map[string]bool{"AmbiguousDefault": true, "AmbiguousInNamespace": true, "BrokenDefaults": true}

// addLegacy adds a catalog that was stored before the hooks were installed, which
// refuse it now. Where no keeper ever ran, none has repaired it.
func addLegacy(e *env.Env) {
	e.Helper()
	require.NoError(e, e.UninstallHooks(e.Context()))
	e.AddPlans(env.Class{Name: e.Name("two-defaults"), ServiceType: e.Name("two-defaults")},
		env.Plan{Name: e.Name("default-a"), Default: true}, env.Plan{Name: e.Name("default-b"), Default: true}, env.Plan{Name: e.Name("default-c")})
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("local-class"), ServiceType: e.Name("local")},
		env.Plan{Name: e.Name("local-a"), Default: true}, env.Plan{Name: e.Name("local-b"), Default: true})
	e.AddPlans(env.Class{Name: e.Name("broken")}, env.Plan{Name: e.Name("broken"), Defaults: `{"a":` + strings.Repeat(`{"b":`, 70) + `1` + strings.Repeat(`}`, 71)})
	require.NoError(e, e.InstallHooks(e.Context()))
}

// addRefusing adds a catalog in which much goes wrong.
func addRefusing(e *env.Env) {
	e.Helper()
	e.AddPlans(env.Class{Name: e.Name("two-tips"), ServiceType: e.Name("two-tips")},
		env.Plan{Name: e.Name("tip-a"), Suggested: true}, env.Plan{Name: e.Name("tip-b"), Suggested: true})
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("local-class"), ServiceType: e.Name("local")},
		env.Plan{Name: e.Name("local-a"), Default: true}, env.Plan{Name: e.Name("local-b")})
	e.AddPlans(env.Class{Name: e.Name("gone"), ServiceType: e.Name("gone")}, env.Plan{Name: e.Name("gone"), Default: true})
	e.Kubectl("", "patch", "clusterserviceplan", e.Name("gone"), "--subresource=status", "--type=merge", "-p", `{"status":{"removedFromBrokerCatalog":true}}`)
	e.AddPlans(env.Class{Name: e.Name("plain")}, env.Plan{Name: e.Name("plain-a")}, env.Plan{Name: e.Name("plain-b")})
	e.AddPlans(env.Class{Name: e.Name("no-default"), ServiceType: e.Name("no-default")}, env.Plan{Name: e.Name("none-a")}, env.Plan{Name: e.Name("none-b")})
	e.AddPlans(env.Class{Name: e.Name("typed"), ServiceType: e.Name("typed")}, env.Plan{Name: e.Name("typed")})
	e.AddPlans(env.Class{Name: e.Name("copied")}, env.Plan{Name: e.Name("copied")})
	e.AddPlans(env.Class{Name: e.Name("copy"), ExternalID: e.Name("copied")}, env.Plan{Name: e.Name("copy"), ExternalName: e.Name("copied")})
	e.AddPlans(env.Class{Name: e.Name("strict"), Defaults: `{"zone":1}`}, env.Plan{Name: e.Name("strict"), Defaults: `{"tier":"gold"}`, Schema: `{
		"additionalProperties":false,"required":["name"],"properties":{
		"size":{"type":"integer"},"secret":{"enum":["a","b"]},"zone":{"type":"string"},"tier":{"enum":["silver"]},"name":{"type":"string"}}}`})
}

// TestKubectlShowsWhyAnUpdateIsRefused is the same for writes of an instance that
// is decided.
func TestKubectlShowsWhyAnUpdateIsRefused(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("fixed"), FixedPlan: true}, env.Plan{Name: e.Name("small")}, env.Plan{Name: e.Name("large")})
	e.AddPlans(env.Class{Name: e.Name("other"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("other"), Default: true})
	e.AddPlans(env.Class{Name: e.Name("free"), ServiceType: e.Name("free")},
		env.Plan{Name: e.Name("open"), Defaults: `{"tls":"off","zone":"a"}`},
		env.Plan{Name: e.Name("closed"), Schema: `{"properties":{"tls":{"enum":["on"]}}}`})
	start := map[string]string{
		"fixed": "{clusterServiceClassExternalName: NAME(fixed), clusterServicePlanExternalName: NAME(small)}",
		"free":  "{clusterServiceClassExternalName: NAME(free), clusterServicePlanExternalName: NAME(open)}",
		"typed": "{serviceType: NAME(db)}",
		"asked": "{serviceType: NAME(db), updateRequests: 5}",
	}
	for name, tc := range map[string]struct{ from, to string }{
		"PlanNotUpdatable":     {"fixed", "{clusterServiceClassExternalName: NAME(fixed), clusterServicePlanExternalName: NAME(large)}"},
		"ClassChange":          {"fixed", "{clusterServiceClassExternalName: NAME(other), clusterServicePlanExternalName: NAME(other)}"},
		"PlanNotFound":         {"free", "{clusterServiceClassExternalName: NAME(free), clusterServicePlanExternalName: NAME(absent)}"},
		"DefaultsOfOldPlan":    {"free", "{clusterServiceClassExternalName: NAME(free), clusterServicePlanExternalName: NAME(closed)}"},
		"TypeChange":           {"typed", "{serviceType: NAME(free)}"},
		"ReferenceChange":      {"typed", "{serviceType: NAME(db), clusterServicePlanRef: {name: NAME(small)}}"},
		"SelectorOnceDecided":  {"typed", "{serviceType: NAME(db), planSelector: {matchLabels: {a: b}}}"},
		"ExternalIDChange":     {"typed", "{serviceType: NAME(db), externalID: mine}"},
		"UpdateRequestsGoDown": {"asked", "{serviceType: NAME(db), updateRequests: 3}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			e = e.InNamespace(e.AddNamespace())
			e.Kubectl(e.Manifest("mydb", start[tc.from]), "apply", "-f", "-")
			showsRefusal(e, name, "apply", "-f", "-", tc.to)
		})
	}
}

// TestADryRunSaysWhatWouldBe: nothing is stored, and what it shows is what the
// real creation then gives; also where equal plans are tied, which are chosen by
// the instance's name.
func TestADryRunSaysWhatWouldBe(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addTied(e)
	chosen := map[string]bool{}
	for i := range 8 {
		name := fmt.Sprintf("db%d", i)
		manifest := e.Manifest(name, "{planSelector: {matchLabels: {tied: NAME(yes)}}, parameters: {mine: 1}}")
		way := [][]string{{"create", "-f", "-"}, {"apply", "-f", "-"}, {"apply", "--server-side", "-f", "-"}}[i%3]
		stdout, stderr, err := e.Stack.Kubectl(t.Context(), manifest, append([]string{"-n", e.Namespace, "--dry-run=server", "-o", "yaml"}, way...)...)
		require.NoError(t, err, stderr)
		tried := &api.ServiceInstance{}
		require.NoError(t, yaml.Unmarshal([]byte(stdout), tried))
		e.KubectlFails("", "get", "serviceinstance", name)

		said := e.Kubectl(manifest, way...)
		made := e.Stored(name)
		assert.Equal(t, made.Spec.DecidedReference, tried.Spec.DecidedReference)
		assert.JSONEq(t, env.ParametersOf(made), env.ParametersOf(tried))
		assert.JSONEq(t, `{"from":"class","mine":1}`, env.ParametersOf(made))
		assert.Equal(t, made.Annotations[api.AnnotationAppliedDefaults], tried.Annotations[api.AnnotationAppliedDefaults])
		assert.Equal(t, made.Labels, tried.Labels)
		assert.Equal(t, warningsIn(said), warningsIn(stderr), "the same is told")
		assert.NotEmpty(t, warningsIn(said))
		chosen[env.PlanOf(made)] = true
	}
	assert.Greater(t, len(chosen), 1, "ties are spread")
}

// warningsIn are the warnings among what kubectl printed.
func warningsIn(said string) []string {
	var found []string
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "Warning: ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// TestADryRunIsRefusedAsTheRealOneIs in kubectl.
func TestADryRunIsRefusedAsTheRealOneIs(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addRefusing(e)
	manifest := e.Manifest("mydb", refusedSpecs["AmbiguousSuggested"])
	assert.Equal(t, e.KubectlFails(manifest, "create", "-f", "-"), e.KubectlFails(manifest, "create", "--dry-run=server", "-f", "-"))
}

// addTied adds four plans of the same weight with the label tied: name("yes").
func addTied(e *env.Env) {
	e.Helper()
	of := env.Class{Name: e.Name("c"), Defaults: `{"from":"class"}`, Labels: map[string]string{"tied": e.Name("yes")}}
	e.AddPlans(of, env.Plan{Name: e.Name("a")}, env.Plan{Name: e.Name("b")}, env.Plan{Name: e.Name("d")}, env.Plan{Name: e.Name("e")},
		env.Plan{Name: e.Name("light"), Weight: -1})
}

// TestGenerateNameWithTiedPlans: before it has a name an instance is tied by its
// request, so many instances of one manifest are spread.
func TestGenerateNameWithTiedPlans(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addTied(e)
	chosen := map[string]int{}
	for range 24 {
		instance := e.Instance("", env.WithSelector(map[string]string{"tied": e.Name("yes")}))
		instance.GenerateName = "mydb-"
		e.Create(instance)
		assert.True(t, strings.HasPrefix(instance.Name, "mydb-"))
		require.NotEmpty(t, env.PlanOf(instance))
		chosen[env.PlanOf(instance)]++
		assert.Equal(t, env.PlanOf(instance), env.PlanOf(e.Stored(instance.Name)))
	}
	assert.NotContains(t, chosen, e.Name("light"))
	assert.Greater(t, len(chosen), 1, "%v", chosen)

	manifest := strings.Replace(e.Manifest("mydb-", refusedSpecs["NoSuchType"]), "name:", "generateName:", 1)
	golden.Match(e, "refused/GenerateName", e.Normal(e.KubectlFails(manifest, "create", "-f", "-")))
}
