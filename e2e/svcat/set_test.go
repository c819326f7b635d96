package svcat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// class is the class of a stall, to read into.
func (s *stall) class() client.Object {
	if s.at == "" {
		return &api.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: s.Name("azure-mysql")}}
	}
	return &api.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: s.at, Name: s.Name("azure-mysql")}}
}

// spec is a field of an object as it is stored, as JSON; empty if it is absent.
func (s *stall) spec(object client.Object, field string) string {
	s.Helper()
	s.Get(object)
	text, err := json.Marshal(object)
	require.NoError(s, err)
	var whole struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	require.NoError(s, json.Unmarshal(text, &whole))
	return s.normal(string(whole.Spec[field]))
}

// Each flag, on a class and a plan, in both scopes: it replaces its field whole, and
// null clears it. What is printed is what was changed.
func TestSetEveryField(t *testing.T) {
	t.Parallel()
	for name, namespaced := range bothScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).newStall(namespaced, "basic50")
			within := strings.TrimPrefix(s.mysql(), "mysql")
			s.setsFields("class azure-mysql"+within, s.class, "class", s.Name("azure-mysql"))
			s.setsFields("plan azure-mysql/basic50"+within, func() client.Object { return s.plan("basic50") }, "plan", "basic50", "--class", s.Name("azure-mysql"))
		})
	}
}

func (s *stall) setsFields(title string, object func() client.Object, target ...string) {
	s.Helper()
	steps := []struct{ flag, value, field, want, said string }{
		{"--provision-params", `{"a": {"b": 9007199254740993, "c": "<&>"}, "z": [1, null]}`, "defaultProvisionParameters", `{"a":{"b":9007199254740993,"c":"<&>"},"z":[1,null]}`, "default provision parameters set"},
		{"--provision-params", "a: {d: true}\nbig: -9223372036854775808", "defaultProvisionParameters", `{"a":{"d":true},"big":-9223372036854775808}`, "default provision parameters set"},
		{"--provision-params", "{}", "defaultProvisionParameters", "{}", "default provision parameters set"},
		{"--provision-params", "null", "defaultProvisionParameters", "", "default provision parameters cleared"},
		{"--provision-params", "null", "defaultProvisionParameters", "", "default provision parameters cleared (as before)"},
		{"--bind-params", "user: reader", "defaultBindParameters", `{"user":"reader"}`, "default bind parameters set"},
		{"--bind-params", "null", "defaultBindParameters", "", "default bind parameters cleared"},
		{"--secret-transform", "- renameKey: {from: a, to: b}\n- removeKey: {key: c}", "defaultSecretTransforms", `[{"renameKey":{"from":"a","to":"b"}},{"removeKey":{"key":"c"}}]`, "default secret transforms set"},
		{"--secret-transform", `[{"addKey": {"key": "k", "stringValue": "v"}}]`, "defaultSecretTransforms", `[{"addKey":{"key":"k","stringValue":"v"}}]`, "default secret transforms set"},
		{"--secret-transform", "null", "defaultSecretTransforms", "", "default secret transforms cleared"},
		{"--type", "redis", "serviceType", `"redis"`, "type redis"},
		{"--type", "null", "serviceType", "", "type cleared"},
	}
	if target[0] == "plan" {
		steps = append(steps, []struct{ flag, value, field, want, said string }{
			{"--weight", "-5", "weight", "-5", "weight -5"},
			{"--weight", "null", "weight", "", "weight cleared"},
		}...)
	}
	for _, step := range steps {
		said := s.set(append(target, step.flag, step.value)...)
		assert.Equal(s, title+": "+step.said+"\n", said.out, "%s %s", step.flag, step.value)
		got := s.spec(object(), step.field)
		if step.want == "" {
			assert.Empty(s, got, "%s %s", step.flag, step.value)
			continue
		}
		// Compared as text: a float would have lost the last digit.
		assert.Equal(s, step.want, unescaped(got), "%s %s", step.flag, step.value)
	}
}

// unescaped is JSON as it is read, not as Go's encoder writes it into web pages.
func unescaped(text string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(text)
}

// Values from files and standard input, several in one write.
func TestSetFromFiles(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50")
	file := filepath.Join(t.TempDir(), "bind.yaml")
	require.NoError(t, os.WriteFile(file, []byte("# who binds\nuser: reader\n"), 0o600))
	plan := s.plan("basic50")
	s.Get(plan)
	generation := plan.GetGeneration()
	got := s.run("---\nsize: 3\n", "set", "plan", s.Name("basic50"), "--cluster", "--provision-params", "-", "--bind-params", "@"+file, "--weight", "7", "--type", s.kind)
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "plan azure-mysql/basic50: type mysql, default provision parameters set, default bind parameters set, weight 7\n", s.normal(got.out))
	assert.JSONEq(t, `{"size": 3}`, s.spec(plan, "defaultProvisionParameters"))
	assert.JSONEq(t, `{"user": "reader"}`, s.spec(plan, "defaultBindParameters"))
	assert.Equal(t, generation+1, plan.GetGeneration(), "one write")
	written := false
	for _, entry := range plan.GetManagedFields() {
		written = written || entry.Manager == "svcat" && api.Manages(entry, "f:spec", "f:defaultProvisionParameters")
	}
	assert.True(t, written, "svcat owns what it set")
}

// Wrong values are told with the flag, what was expected and where, never with the
// value; nothing is sent.
//
//nolint:tparallel // what is stored is compared after all of them.
func TestSetRefusesWrongValues(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50")
	file := filepath.Join(t.TempDir(), "params.json")
	require.NoError(t, os.WriteFile(file, []byte("{\n \"password\": \"hunter2\",\n \"x\": hunter2}}"), 0o600))
	before := s.plan("basic50")
	s.Get(before)
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"NoObject":       {"Parameters are an object.", []string{"--provision-params", `["hunter2"]`}, "--provision-params: expected an object such as {size: small}, or null"},
		"BrokenFile":     {"Where the file goes wrong.", []string{"--bind-params", "@" + file}, "--bind-params: it is neither JSON nor YAML; as JSON it goes wrong at line 3, byte 33"},
		"Twice":          {"A key twice is a mistake, not a choice.", []string{"--provision-params", `{"a": "hunter2", "a": 1}`}, `--provision-params: expected an object: cannot decode parameters: key "/a" appears twice; keep one of the two`},
		"TwiceInYAML":    {"In YAML, too.", []string{"--provision-params", "a: hunter2\na: 1"}, "--provision-params: line 2: a key appears twice in one object"},
		"TwoDocuments":   {"The second would be lost.", []string{"--provision-params", "a: 1\n---\nb: hunter2"}, "--provision-params: it holds several YAML documents; give one"},
		"Empty":          {"Nothing is not null.", []string{"--bind-params", ""}, "--bind-params: it is empty; null clears the field"},
		"NoFile":         {"A file that is not there.", []string{"--bind-params", "@/no/such/file"}, "--bind-params: cannot read the file: open /no/such/file: no such file or directory"},
		"StdinTwice":     {"Standard input is read once.", []string{"--provision-params", "-", "--bind-params", "-"}, "--provision-params and --bind-params cannot all be read from standard input; give all but one as @FILE"},
		"NoTransform":    {"A transform is exactly one thing.", []string{"--secret-transform", `[{"addKey": {"key": "a", "stringValue": "hunter2"}, "removeKey": {"key": "b"}}]`}, "--secret-transform: expected a list of transforms such as [{renameKey: {from: a, to: b}}]: [0]: it must be exactly one of renameKey, addKey, addKeysFrom, removeKey, publishKey and preset"},
		"UnknownKey":     {"An unknown key would be dropped by the API server.", []string{"--secret-transform", `[{"renamekey": {"from": "hunter2"}}]`}, `--secret-transform: expected a list of transforms such as [{renameKey: {from: a, to: b}}]: unknown field "[0].renamekey"`},
		"TransformKind":  {"A value of the wrong kind.", []string{"--secret-transform", `[{"removeKey": "hunter2"}]`}, "--secret-transform: expected a list of transforms such as [{renameKey: {from: a, to: b}}]: some value in it is not of the right kind, at byte 24 (removeKey)"},
		"NoList":         {"Transforms are a list.", []string{"--secret-transform", "removeKey: {key: hunter2}"}, "--secret-transform: expected a list of transforms such as [{renameKey: {from: a, to: b}}]: it is no list"},
		"NoType":         {"A type is a DNS label.", []string{"--type", "MySQL"}, `--type: "MySQL" is no service type, which is a DNS label such as mysql`},
		"NoWeight":       {"A weight is a whole number.", []string{"--weight", "1.5"}, `--weight: "1.5" is no weight, which is a whole number from -100000 to 100000`},
		"TooHeavy":       {"Within bounds.", []string{"--weight", "100001"}, `--weight: "100001" is no weight, which is a whole number from -100000 to 100000`},
		"Nothing":        {"Nothing to set.", nil, "nothing to set; give one or more of --type, --provision-params, --bind-params, --secret-transform, --weight, --default"},
		"NoSuchDryRun":   {"Fixed words.", []string{"--default", "--dry-run=maybe"}, `--dry-run is "maybe"; allowed are none, client and server`},
		"OneWrongOfMany": {"All or nothing.", []string{"--weight", "3", "--type", "a.b"}, `--type: "a.b" is no service type`},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.trySet(append([]string{"plan", s.Name("basic50")}, tc.args...)...)
			assert.Equal(t, 2, got.code, tc.reason)
			assert.Contains(t, got.err, "error: "+tc.want, tc.reason)
			assert.NotContains(t, got.err+got.out, "hunter2", "no value in an error")
			assert.Empty(t, got.out)
		})
	}
	after := s.plan("basic50")
	s.Get(after)
	assert.Equal(t, before.GetResourceVersion(), after.GetResourceVersion(), "nothing was sent")
	for _, args := range [][]string{{"set"}, {"set", "broker", "x"}, {"set", "plan"}, {"set", "class", "a", "b"}, {"create", "class", "x"}, {"create", "instance"}} {
		got := s.run("", args...)
		assert.Equal(t, 2, got.code, "%v: %s", args, got.err)
	}
	missing := s.trySet("plan", s.Name("azure-mysql")+"/basic51", "--weight", "1")
	assert.Equal(t, 1, missing.code)
	assert.Contains(t, missing.err, "did you mean basic50?")
}

// A dry run on the client's side shows the object and sends nothing; admission's is
// asked by the server's.
func TestSetInADryRun(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50")
	got := s.set("plan", s.Name("basic50"), "--provision-params", "size: 1", "--dry-run", "-o", "yaml")
	assert.Contains(t, got.out, "defaultProvisionParameters:\n    size: 1\n")
	got = s.set("class", s.Name("azure-mysql"), "--bind-params", "a: 1", "--dry-run=server")
	assert.Equal(t, "class azure-mysql: default bind parameters set (server dry run)\n", got.out)
	assert.Empty(t, s.spec(s.plan("basic50"), "defaultProvisionParameters"))
	assert.Empty(t, s.spec(s.class(), "defaultBindParameters"))
	refused := s.trySet("class", s.Name("azure-mysql"), "--dry-run=server", "--secret-transform", "[{addKeysFrom: {secretRef: {name: x}}}]")
	assert.Equal(t, 1, refused.code)
	assert.Contains(t, refused.err, "it must name the namespace of Secret")
}
