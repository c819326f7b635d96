package plans

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// fieldOf is a field by its flag.
func fieldOf(t *testing.T, flag string) field {
	t.Helper()
	for _, one := range fields {
		if one.flag == flag {
			return one
		}
	}
	t.Fatalf("there is no --%s", flag)
	return field{}
}

func readEdit(t *testing.T, flag, value string) (*edit, error) {
	t.Helper()
	one := fieldOf(t, flag)
	return one.read(&reader{}, one, value)
}

// What an edit sends and what it does to an object are the same.
func TestEdits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		flag, value string
		patch       string
		spec        string
		said        string
	}{
		"Type":        {"A type is a word that may be shown.", "type", "redis", `[{"op":"add","path":"/spec/serviceType","value":"redis"}]`, `{"serviceType":"redis"}`, "type redis"},
		"NoType":      {"Cleared.", "type", "null", `[{"op":"add","path":"/spec/serviceType","value":""},{"op":"remove","path":"/spec/serviceType"}]`, `{}`, "type cleared"},
		"EmptyType":   {"As an empty word.", "type", "", `[{"op":"add","path":"/spec/serviceType","value":""},{"op":"remove","path":"/spec/serviceType"}]`, `{}`, "type cleared"},
		"Parameters":  {"The text of numbers stays.", "provision-params", `{"n": 1.10}`, `[{"op":"add","path":"/spec/defaultProvisionParameters","value":{"n":1.10}}]`, `{"defaultProvisionParameters":{"n":1.10}}`, "default provision parameters set"},
		"Bind":        {"The other field.", "bind-params", `{}`, `[{"op":"add","path":"/spec/defaultBindParameters","value":{}}]`, `{"defaultBindParameters":{}}`, "default bind parameters set"},
		"NoBind":      {"Cleared.", "bind-params", "null", `[{"op":"add","path":"/spec/defaultBindParameters","value":""},{"op":"remove","path":"/spec/defaultBindParameters"}]`, `{}`, "default bind parameters cleared"},
		"Transforms":  {"A list.", "secret-transform", "- removeKey: {key: a}", `[{"op":"add","path":"/spec/defaultSecretTransforms","value":[{"removeKey":{"key":"a"}}]}]`, `{"defaultSecretTransforms":[{"removeKey":{"key":"a"}}]}`, "default secret transforms set"},
		"Weight":      {"A number.", "weight", "-100000", `[{"op":"add","path":"/spec/weight","value":-100000}]`, `{"weight":-100000}`, "weight -100000"},
		"NoTransform": {"Cleared.", "secret-transform", "null", `[{"op":"add","path":"/spec/defaultSecretTransforms","value":""},{"op":"remove","path":"/spec/defaultSecretTransforms"}]`, `{}`, "default secret transforms cleared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := readEdit(t, tc.flag, tc.value)
			require.NoError(t, err, tc.reason)
			patch, err := patchOf([]*edit{e})
			require.NoError(t, err)
			data, err := patch.Data(nil)
			require.NoError(t, err)
			assert.Equal(t, tc.patch, string(data), tc.reason)
			assert.Equal(t, tc.said, e.String(), tc.reason)

			object := &v1beta1.ClusterServicePlan{}
			plan, _ := catalog.PlanOf(object)
			e.put(editablePlan(plan))
			text, err := json.Marshal(object.Spec)
			require.NoError(t, err)
			var spec map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(text, &spec))
			for _, always := range []string{"free", "externalID", "clusterServiceClassRef"} {
				delete(spec, always)
			}
			text, err = json.Marshal(spec)
			require.NoError(t, err)
			assert.Equal(t, tc.spec, string(text), tc.reason)
		})
	}
}

func TestEditsThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, flag, value, want string }{
		"Scalar":      {"Parameters are an object.", "provision-params", "5", "--provision-params: expected an object such as {size: small}, or null"},
		"Deep":        {"As deep as admission allows.", "bind-params", deep(70), "--bind-params: expected an object: "},
		"NoKind":      {"A transform that is none.", "secret-transform", "[{}]", "[0]: it must be exactly one of"},
		"NoKey":       {"A transform of nothing.", "secret-transform", "[{removeKey: {}}]", "[0]: removeKey.key is required"},
		"CaseMatters": {"The API knows no other spelling.", "secret-transform", "[{removekey: {key: a}}]", `unknown field "[0].removekey"`},
		"WrongKind":   {"Where the wrong kind of value is.", "secret-transform", "[{addKey: {key: 5}}]", "some value in it is not of the right kind, at byte 19 (addKey.key)"},
		"LongType":    {"63 characters.", "type", "a123456789012345678901234567890123456789012345678901234567890123", "is no service type"},
		"Float":       {"Whole.", "weight", "1e3", `"1e3" is no weight`},
		"Heavy":       {"In bounds.", "weight", "100001", `"100001" is no weight`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readEdit(t, tc.flag, tc.value)
			require.ErrorContains(t, err, tc.want, tc.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err), tc.reason)
		})
	}
}

// deep is an object that holds others, so many.
func deep(n int) string {
	text := "1"
	for range n {
		text = `{"a":` + text + `}`
	}
	return text
}

func TestOwners(t *testing.T) {
	t.Parallel()
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const ours, apply, update = `{"f:spec":{"f:weight":{}}}`, metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	for name, tc := range map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		want    owners
	}{
		"NoOwner":    {"No owner.", nil, owners{}},
		"Other":      {"Another field.", []metav1.ManagedFieldsEntry{entry("helm", apply, `{"f:spec":{"f:serviceType":{}}}`)}, owners{}},
		"Broker":     {"Its broker suggests it.", []metav1.ManagedFieldsEntry{entry(v1beta1.FieldOwnerSuggestions, apply, ours)}, owners{broker: true}},
		"Helm":       {"Helm writes without server-side apply, too.", []metav1.ManagedFieldsEntry{entry("helm", update, ours)}, owners{tools: []string{"helm"}}},
		"AnyApplier": {"A manager that applies will apply it again.", []metav1.ManagedFieldsEntry{entry("terraform", apply, ours), entry("acme", apply, ours)}, owners{tools: []string{"acme", "terraform"}}},
		"Updater":    {"A manager that updates may have done it once.", []metav1.ManagedFieldsEntry{entry("other", update, ours)}, owners{}},
		"Persons":    {"People are not warned of themselves.", []metav1.ManagedFieldsEntry{entry("kubectl", apply, ours), entry("kubectl-edit", update, ours), entry("svcat", update, ours)}, owners{}},
		"Keeper":     {"Nor of the keeper.", []metav1.ManagedFieldsEntry{entry(v1beta1.FieldOwnerKeeper, apply, ours)}, owners{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, ownersOf(tc.entries, "f:spec", "f:weight"), tc.reason)
		})
	}
}
