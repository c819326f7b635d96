package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// manifest is an instance as a person writes it; spec is YAML in which the names
// of the world stand as NAME(base).
func (w *world) manifest(name, spec string) string {
	for {
		before, rest, ok := strings.Cut(spec, "NAME(")
		if !ok {
			break
		}
		base, after, _ := strings.Cut(rest, ")")
		spec = before + w.name(base) + after
	}
	return fmt.Sprintf("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: %s}\nspec: %s\n", name, spec)
}

// TestKubectlShowsWhyItIsRefused: each refusal, as a person reads it behind
// kubectl apply, client-side and server-side. The golden files are the texts.
func TestKubectlShowsWhyItIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addRefusing()
	old := newWorldOn(t, startStack(t, func(o *stack.Options) { o.WebhookArgs = []string{"--keeper=off"} }))
	old.addLegacy()
	for name, spec := range refusedSpecs {
		in := w
		if legacySpecs[name] {
			in = old
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in.in(t).showsRefusal(name, "apply", "-f", "-", spec)
		})
	}
}

// showsRefusal applies a manifest in both ways, and holds what kubectl prints
// against a golden file.
func (w *world) showsRefusal(name string, args ...string) {
	w.Helper()
	verb, spec := args[:len(args)-1], args[len(args)-1]
	var shown strings.Builder
	for _, way := range [][]string{nil, {"--server-side"}} {
		command := append(append([]string{}, verb...), way...)
		said := w.kubectlFails(w.manifest("mydb", spec), command...)
		fmt.Fprintf(&shown, "$ kubectl %s\n%s", strings.Join(command, " "), w.normal(said))
	}
	w.golden("refused/"+name, "# spec: "+spec+"\n"+shown.String())
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
	"SchemaViolation":      "{clusterServiceClassExternalName: NAME(strict), parameters: {size: big, secret: hush, extra: 1}}",
	"BrokenDefaults":       "{clusterServiceClassExternalName: NAME(broken)}",
	"SelectorBesidePlan":   "{clusterServiceClassExternalName: NAME(plain), clusterServicePlanExternalName: NAME(plain-a), planSelector: {matchLabels: {a: b}}}",
	"TwoNamesOfAClass":     "{clusterServiceClassExternalName: NAME(plain), clusterServiceClassName: NAME(plain)}",
	"TypeMismatch":         "{serviceType: NAME(other), clusterServiceClassExternalName: NAME(typed), clusterServicePlanExternalName: NAME(typed)}",
	"TypeNoLabel":          "{serviceType: My_SQL}",
	"WrongPlanOfClass":     "{clusterServiceClassName: NAME(plain), clusterServicePlanName: NAME(typed), serviceType: NAME(other)}",
}

var legacySpecs = map[string]bool{"AmbiguousDefault": true, "AmbiguousInNamespace": true, "BrokenDefaults": true}

// addLegacy adds a catalog that was stored before the hooks were installed, which
// refuse it now. Where no keeper ever ran, none has repaired it.
func (w *world) addLegacy() {
	w.Helper()
	require.NoError(w, w.UninstallHooks(w.Context()))
	w.addPlans(class{name: w.name("two-defaults"), serviceType: w.name("two-defaults")},
		plan{name: w.name("default-a"), isDefault: true}, plan{name: w.name("default-b"), isDefault: true}, plan{name: w.name("default-c")})
	w.addPlans(class{namespace: w.namespace, name: w.name("local-class"), serviceType: w.name("local")},
		plan{name: w.name("local-a"), isDefault: true}, plan{name: w.name("local-b"), isDefault: true})
	w.addPlans(class{name: w.name("broken")}, plan{name: w.name("broken"), defaults: `{"a":` + strings.Repeat(`{"b":`, 70) + `1` + strings.Repeat(`}`, 71)})
	require.NoError(w, w.InstallHooks(w.Context()))
}

// addRefusing adds a catalog in which much goes wrong.
func (w *world) addRefusing() {
	w.Helper()
	w.addPlans(class{name: w.name("two-tips"), serviceType: w.name("two-tips")},
		plan{name: w.name("tip-a"), isSuggested: true}, plan{name: w.name("tip-b"), isSuggested: true})
	w.addPlans(class{namespace: w.namespace, name: w.name("local-class"), serviceType: w.name("local")},
		plan{name: w.name("local-a"), isDefault: true}, plan{name: w.name("local-b")})
	w.addPlans(class{name: w.name("gone"), serviceType: w.name("gone")}, plan{name: w.name("gone"), isDefault: true})
	w.kubectl("", "patch", "clusterserviceplan", w.name("gone"), "--subresource=status", "--type=merge", "-p", `{"status":{"removedFromBrokerCatalog":true}}`)
	w.addPlans(class{name: w.name("plain")}, plan{name: w.name("plain-a")}, plan{name: w.name("plain-b")})
	w.addPlans(class{name: w.name("no-default"), serviceType: w.name("no-default")}, plan{name: w.name("none-a")}, plan{name: w.name("none-b")})
	w.addPlans(class{name: w.name("typed"), serviceType: w.name("typed")}, plan{name: w.name("typed")})
	w.addPlans(class{name: w.name("copied")}, plan{name: w.name("copied")})
	w.addPlans(class{name: w.name("copy"), externalID: w.name("copied")}, plan{name: w.name("copy"), externalName: w.name("copied")})
	w.addPlans(class{name: w.name("strict"), defaults: `{"zone":1}`}, plan{name: w.name("strict"), defaults: `{"tier":"gold"}`, schema: `{
		"additionalProperties":false,"required":["name"],"properties":{
		"size":{"type":"integer"},"secret":{"enum":["a","b"]},"zone":{"type":"string"},"tier":{"enum":["silver"]},"name":{"type":"string"}}}`})
}

// TestKubectlShowsWhyAnUpdateIsRefused is the same for writes of an instance that
// is decided.
func TestKubectlShowsWhyAnUpdateIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPlans(class{name: w.name("fixed"), fixedPlan: true}, plan{name: w.name("small")}, plan{name: w.name("large")})
	w.addPlans(class{name: w.name("other"), serviceType: w.name("db")}, plan{name: w.name("other"), isDefault: true})
	w.addPlans(class{name: w.name("free"), serviceType: w.name("free")},
		plan{name: w.name("open"), defaults: `{"tls":"off","zone":"a"}`},
		plan{name: w.name("closed"), schema: `{"properties":{"tls":{"enum":["on"]}}}`})
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
			w := w.in(t)
			w.namespace = w.addNamespace()
			w.kubectl(w.manifest("mydb", start[tc.from]), "apply", "-f", "-")
			w.showsRefusal(name, "apply", "-f", "-", tc.to)
		})
	}
}

// TestADryRunSaysWhatWouldBe: nothing is stored, and what it shows is what the
// real creation then gives; also where equal plans are tied, which are chosen by
// the instance's name.
func TestADryRunSaysWhatWouldBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addTied()
	chosen := map[string]bool{}
	for i := range 8 {
		name := fmt.Sprintf("db%d", i)
		manifest := w.manifest(name, "{planSelector: {matchLabels: {tied: NAME(yes)}}, parameters: {mine: 1}}")
		way := [][]string{{"create", "-f", "-"}, {"apply", "-f", "-"}, {"apply", "--server-side", "-f", "-"}}[i%3]
		stdout, stderr, err := w.Kubectl(t.Context(), manifest, append([]string{"-n", w.namespace, "--dry-run=server", "-o", "yaml"}, way...)...)
		require.NoError(t, err, stderr)
		tried := &api.ServiceInstance{}
		require.NoError(t, yaml.Unmarshal([]byte(stdout), tried))
		w.kubectlFails("", "get", "serviceinstance", name)

		said := w.kubectl(manifest, way...)
		made := w.stored(name)
		assert.Equal(t, made.Spec.DecidedReference, tried.Spec.DecidedReference)
		assert.JSONEq(t, parametersOf(made), parametersOf(tried))
		assert.JSONEq(t, `{"from":"class","mine":1}`, parametersOf(made))
		assert.Equal(t, made.Annotations[api.AnnotationAppliedDefaults], tried.Annotations[api.AnnotationAppliedDefaults])
		assert.Equal(t, made.Labels, tried.Labels)
		assert.Equal(t, warningsIn(said), warningsIn(stderr), "the same is told")
		assert.NotEmpty(t, warningsIn(said))
		chosen[planOf(made)] = true
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
	w := newWorld(t)
	w.addRefusing()
	manifest := w.manifest("mydb", refusedSpecs["AmbiguousSuggested"])
	assert.Equal(t, w.kubectlFails(manifest, "create", "-f", "-"), w.kubectlFails(manifest, "create", "--dry-run=server", "-f", "-"))
}

// addTied adds four plans of the same weight with the label tied: name("yes").
func (w *world) addTied() {
	w.Helper()
	of := class{name: w.name("c"), defaults: `{"from":"class"}`, labels: map[string]string{"tied": w.name("yes")}}
	w.addPlans(of, plan{name: w.name("a")}, plan{name: w.name("b")}, plan{name: w.name("d")}, plan{name: w.name("e")},
		plan{name: w.name("light"), weight: -1})
}

// TestGenerateNameWithTiedPlans: before it has a name an instance is tied by its
// request, so many instances of one manifest are spread.
func TestGenerateNameWithTiedPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addTied()
	chosen := map[string]int{}
	for range 24 {
		instance := w.instance("", withSelector(map[string]string{"tied": w.name("yes")}))
		instance.GenerateName = "mydb-"
		w.create(instance)
		assert.True(t, strings.HasPrefix(instance.Name, "mydb-"))
		require.NotEmpty(t, planOf(instance))
		chosen[planOf(instance)]++
		assert.Equal(t, planOf(instance), planOf(w.stored(instance.Name)))
	}
	assert.NotContains(t, chosen, w.name("light"))
	assert.Greater(t, len(chosen), 1, "%v", chosen)

	manifest := strings.Replace(w.manifest("mydb-", refusedSpecs["NoSuchType"]), "name:", "generateName:", 1)
	w.golden("refused/GenerateName", w.normal(w.kubectlFails(manifest, "create", "-f", "-")))
}
