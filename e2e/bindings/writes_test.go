package bindings_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
)

// A bindingWrite is a row of the table of who may write what into a binding: one
// way to write it that changes nothing.
type bindingWrite struct {
	reason string
	write  func(*env.Env)
}

// kubectlWays are those of kubectl. None asks for anything else than what is
// stored, so none changes anything; all of them are bob's.
func kubectlWays() map[string]bindingWrite {
	manifest := (*env.Env).AdminBinding
	return map[string]bindingWrite{
		"Apply": {"what is applied again is unchanged", bindingKubectl(manifest, "apply")},
		"ApplyOverAll": {
			"a forced manager takes the fields that it writes, as they are",
			bindingKubectl(manifest, "apply", "--server-side", "--force-conflicts"),
		},
		"ApplySecond": {
			"a second manager may own a value without changing it",
			bindingKubectl(manifest, "apply", "--server-side", "--field-manager=team"),
		},
		"Replace":     {"a manifest knows no defaults: they are put back", bindingKubectl(manifest, "replace")},
		"ReplaceBare": {"nor does one that says only what must be said", bindingKubectl(bareBinding, "replace")},
	}
}

// clientWays are those of controllers and old clients, in the same way.
func clientWays() map[string]bindingWrite {
	return map[string]bindingWrite{
		"GetPut":           {"a controller that writes back what it read changes nothing", putBinding(func(map[string]any) {})},
		"OldClient":        {"an old typed client drops what it does not know, and writes nulls and zeros", putBinding(asOldBindingClient)},
		"OldClientEmptied": {"it may have emptied what it knows, too: that was reverted without a word", putBinding(emptiedByOldClient)},
		"NoSpec":           {"an empty spec asks for nothing else", putBinding(func(object map[string]any) { object["spec"] = map[string]any{} })},

		"MergePatchNothing": {"a touch", patchBinding(types.MergePatchType, `{}`)},
		"MergePatchLabel":   {"a label asks for nothing", patchBinding(types.MergePatchType, `{"metadata":{"labels":{"team":"a"}}}`)},
		"MergePatchAway": {"what is left out is put back", patchBinding(types.MergePatchType,
			`{"metadata":{"annotations":null},"spec":{"instanceRef":null,"parameters":null,"secretTransforms":null,"secretName":null,`+
				`"clusterServiceClassRef":null,"clusterServicePlanRef":null,"externalID":null,"userInfo":null}}`)},
		"MergePatchAwayADefault": {
			"a default alone is put back as well", patchBinding(types.MergePatchType, `{"spec":{"parameters":{"tls":null}}}`),
		},
		"JSONPatchAway": {"nor does a JSON patch take anything", patchBinding(types.JSONPatchType,
			`[{"op":"remove","path":"/spec/clusterServicePlanRef"},{"op":"remove","path":"/spec/secretTransforms"},{"op":"remove","path":"/spec/externalID"}]`)},
		"JSONPatchForged": {"the asker and the record are admission's", patchBinding(types.JSONPatchType,
			`[{"op":"replace","path":"/spec/userInfo/username","value":"root"},`+
				`{"op":"replace","path":"/metadata/annotations/servicecatalog.kubernetes.io~1applied-defaults","value":"{}"},`+
				`{"op":"replace","path":"/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id","value":"mine"}]`)},
	}
}

// TestBindingStaysAsItWasDecided is the write-path table of bindings: whatever way
// one is written, and although the plan's defaults changed meanwhile, it stays as
// it was decided.
func TestBindingStaysAsItWasDecided(t *testing.T) {
	t.Parallel()
	create := func(args ...string) func(*env.Env) {
		return bindingKubectlAs(env.Alice, (*env.Env).AdminBinding, args...)
	}
	for creation, how := range map[string]func(*env.Env){
		"Created":    create("create", "--save-config"),
		"Applied":    create("apply"),
		"ServerSide": create("apply", "--server-side", "--field-manager=chart"),
	} {
		ways := kubectlWays()
		if creation == "ServerSide" {
			maps.Copy(ways, clientWays())
		}
		for name, way := range ways {
			t.Run(creation+"/"+name, func(t *testing.T) {
				t.Parallel()
				staysAsDecided(env.New(t), how, way)
			})
		}
	}
}

func staysAsDecided(e *env.Env, create func(*env.Env), way bindingWrite) {
	e.Helper()
	e.GrantResources("servicebindings")
	e.AddReader()
	create(e)
	decided := isWhole(e, "as created")
	require.Equal(e, env.Alice, decided.Spec.UserInfo.Username)
	e.PatchPlan(e.Name("p"), `{"spec":{"defaultBindParameters":{"tls":false,"late":1},"defaultSecretTransforms":[{"removeKey":{"key":"a"}}]}}`)

	for _, round := range []string{"once", "once more"} {
		way.write(e.As(env.Bob))
		assert.Empty(e, cmp.Diff(essence(decided), essence(e.StoredBinding("creds"))), "(-decided +stored) %s: %s", way.reason, round)
	}
}

func bareBinding(e *env.Env) string {
	return e.ManifestOf("ServiceBinding", "creds", "{instanceRef: {name: mydb}}")
}

// bindingKubectl is kubectl with a manifest, by bob.
func bindingKubectl(manifest func(*env.Env) string, args ...string) func(*env.Env) {
	return bindingKubectlAs(env.Bob, manifest, args...)
}

func bindingKubectlAs(user string, manifest func(*env.Env) string, args ...string) func(*env.Env) {
	return func(e *env.Env) {
		e.Helper()
		e.Kubectl(manifest(e), append(append([]string{"--as", user}, args...), "-f", "-")...)
	}
}

// putBinding reads the binding, changes it and PUTs it.
func putBinding(change func(map[string]any)) func(*env.Env) {
	return func(e *env.Env) {
		e.Helper()
		object := wireBinding(e)
		change(object.Object)
		require.NoError(e, e.Client().Update(e.Context(), object))
	}
}

func patchBinding(kind types.PatchType, patch string) func(*env.Env) {
	return func(e *env.Env) {
		e.Helper()
		require.NoError(e, sendBinding(e, kind, patch))
	}
}

// asOldBindingClient makes a binding what a typed client of the retired catalog
// sends after it read it.
func asOldBindingClient(object map[string]any) {
	for _, unknown := range []string{
		"serviceType", "planSelector", "provisionParameters", "serviceName", "secretTransformDefaults",
		"clusterServiceClassRef", "clusterServicePlanRef", "serviceClassRef", "servicePlanRef",
	} {
		unstructured.RemoveNestedField(object, "spec", unknown)
	}
	var status map[string]any
	// As encoding/json writes the zero value of its status.
	if json.Unmarshal([]byte(oldBindingStatus), &status) == nil {
		object["status"] = status
	}
	unstructured.RemoveNestedField(object, "metadata", "managedFields")
}

const oldBindingStatus = `{"conditions":null,"asyncOpInProgress":false,"lastOperation":null,"currentOperation":"","reconciledGeneration":0,` +
	`"operationStartTime":null,"inProgressProperties":null,"externalProperties":null,"orphanMitigationInProgress":false,"unbindStatus":"","lastConditionState":""}`

// emptiedByOldClient is what an old client sends that rebuilt the object from
// its own configuration.
func emptiedByOldClient(object map[string]any) {
	asOldBindingClient(object)
	object["spec"] = map[string]any{
		"instanceRef": map[string]any{"name": "mydb"}, "externalID": "", "secretName": "", "parameters": map[string]any{"user": "admin"},
	}
}

// TestBindingIsEditedInVain: a broker is asked once, so an edit that asks for
// something else is refused, by the name of each field.
func TestBindingIsEditedInVain(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.GrantResources("servicebindings")
	e.AddReader()
	e.Kubectl(e.AdminBinding(), "apply", "-f", "-")
	decided := isWhole(e, "as created")
	refusals := map[string]string{}
	for name, tc := range map[string]struct{ patch, field string }{
		"Parameter":      {`{"spec":{"parameters":{"user":"hush"}}}`, "spec.parameters"},
		"MoreParameters": {`{"spec":{"parameters":{"role":"x"}}}`, "spec.parameters"},
		"Transforms":     {`{"spec":{"secretTransforms":[{"removeKey":{"key":"password"}}]}}`, "spec.secretTransforms"},
		"Secret":         {`{"spec":{"secretName":"other"}}`, "spec.secretName"},
		"Sources":        {`{"spec":{"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]}}`, "spec.parametersFrom"},
		"Defaults":       {`{"spec":{"secretTransformDefaults":"None"}}`, "spec.secretTransformDefaults"},
		"Instance":       {`{"spec":{"instanceRef":{"name":"other"}}}`, "spec.instanceRef"},
		"ExternalID":     {`{"spec":{"externalID":"mine"}}`, "spec.externalID"},
		"Plan":           {`{"spec":{"clusterServicePlanRef":{"name":"other"}}}`, "spec.clusterServicePlanRef"},
		"PlanName":       {`{"spec":{"clusterServicePlanExternalName":"other"}}`, "spec.clusterServicePlanExternalName"},
		"Selector":       {`{"spec":{"planSelector":{"matchLabels":{"a":"b"}}}}`, "spec.planSelector"},
		"Service":        {`{"spec":{"serviceName":"other"}}`, "spec.serviceName"},
		"Two":            {`{"spec":{"secretName":"other","parameters":{"user":"hush"}}}`, "spec.parameters"},
	} {
		err := sendBinding(e.As(env.Bob), types.MergePatchType, tc.patch)
		e.RefusedAt(err, tc.field, name)
		refusals[name] = tc.patch + "\n" + e.Normal(env.Said(err))
		assert.NotContains(t, env.Said(err), "hush", "no value is told")
		assert.Empty(t, cmp.Diff(decided, e.StoredBinding("creds")), "(-decided +stored) a refused write changes nothing: %s", name)
	}
	golden.MatchAll(e, "binding-edits", refusals)
}

// TestUndecidedBindingIsItsUsersToChange: nothing in it is settled, and a user
// who changes it asks.
func TestUndecidedBindingIsItsUsersToChange(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.GrantResources("servicebindings")
	e.Kubectl(e.AdminBinding(), "--as", env.Alice, "apply", "-f", "-")
	before := e.StoredBinding("creds")
	require.False(t, before.Spec.Decided())

	theirs := e.As(env.Bob)
	require.NoError(t, sendBinding(theirs, types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`))
	assert.Empty(t, cmp.Diff(essence(before), essence(e.StoredBinding("creds"))), "a label asks for nothing")

	require.NoError(t, sendBinding(theirs, types.MergePatchType, `{"spec":{"parameters":{"role":"x"},"userInfo":{"username":"root"}}}`))
	edited := e.StoredBinding("creds")
	assert.Equal(t, env.Bob, edited.Spec.UserInfo.Username, "who edits asks, whatever name it comes with")
	assert.Equal(t, before.Spec.ExternalID, edited.Spec.ExternalID)

	e.AddReader()
	bound := e.BindingDecided("creds")
	assert.JSONEq(t, `{"tls":true,"user":"admin","role":"x"}`, string(bound.Spec.Parameters.Raw))
	assert.Equal(t, edited.Spec.UserInfo, bound.Spec.UserInfo, "the keeper's touch asks for nothing")
	applied := e.AppliedOn(bound.Annotations)
	assert.Equal(t, map[string]string{"/tls": "plan"}, applied.From)
	assert.Equal(t, bound.Spec.ExternalID, bound.Annotations[api.AnnotationMintedExternalID])
}

// sendBinding sends a patch to binding "creds".
func sendBinding(e *env.Env, kind types.PatchType, patch string) error {
	e.Helper()
	return e.Client().Patch(e.Context(), e.Binding("creds", "mydb"), env.RawPatch(kind, patch))
}
