package svcat_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// offered are the commands of svcat in a denial, in its order.
var offered = regexp.MustCompile(`→ (?:[^\n:]*: )?(svcat [^\n]+)`)

// remedyCatalog is a class with two plans, of one type, in a scope; PREFIX is
// Cluster or nothing. Its extras are those of the plans, as YAML of one line.
const remedyCatalog = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: PREFIXServiceClass
metadata: {name: NAME}
spec: {externalName: NAME, externalID: NAME, description: a class}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: PREFIXServicePlan
metadata: {name: NAME-a, ANNOTATIONS}
spec: {externalName: large, externalID: NAME-a, description: a plan, TYPE REFERENCE: {name: NAME}, SCHEMA}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: PREFIXServicePlan
metadata: {name: NAME-b, ANNOTATIONS}
spec: {externalName: EXTERNAL, externalID: NAME-b, description: a plan, TYPE REFERENCE: {name: NAME}}
---
`

// A remedyOffer is a class with two plans.
type remedyOffer struct {
	name, typed, annotations, schema string
	// twins gives both plans the same external name.
	twins bool
}

// offer makes classes and their plans.
func (r *remedies) offer(offers ...remedyOffer) {
	r.Helper()
	var all strings.Builder
	for _, o := range offers {
		external := "small"
		if o.twins {
			external = "large"
		}
		typed := ""
		if o.typed != "" {
			typed = "serviceType: " + o.typed + "-SUFFIX,"
		}
		all.WriteString(strings.NewReplacer("PREFIX", r.prefix, "REFERENCE", r.reference, "NAME", o.name+"-SUFFIX", "TYPE", typed,
			"ANNOTATIONS", "annotations: {"+o.annotations+"}", "SCHEMA", o.schema, "EXTERNAL", external).Replace(remedyCatalog))
	}
	r.Apply(all.String())
}

// remedies are an env whose catalog is in one scope.
type remedies struct {
	*testEnv

	// prefix is what kinds of the scope begin with, and reference a plan's field.
	prefix, reference string
	// scope are kubectl's flags for it.
	scope []string
}

// instance is a manifest that names what spec says, of one line.
func (r *remedies) instance(spec string) []string {
	manifest := "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: mydb}\nspec: {" + r.own(spec) + "}\n"
	return []string{manifest, "-n", r.Namespace, "apply", "-f", "-"}
}

// patchPlan is a patch of a plan of the scope.
func (r *remedies) patchPlan(plan, patch string) []string {
	return append([]string{"", "patch", r.kind("plan"), r.own(plan), "--type=merge", "-p", r.own(patch)}, r.scope...)
}

// patchType is a patch of the type's record.
func (r *remedies) patchType(patch string) []string {
	return append([]string{"", "patch", r.kind("type"), r.own("db-SUFFIX"), "--type=merge", "-p", r.own(patch)}, r.scope...)
}

func (r *remedies) kind(kind string) string { return strings.ToLower(r.prefix) + "service" + kind }

func (r *remedies) own(text string) string { return strings.ReplaceAll(text, "SUFFIX", r.Suffix) }

// attempt runs kubectl with standard input and arguments.
func (r *remedies) attempt(call []string) (said string, err error) {
	r.Helper()
	stdout, stderr, err := r.Stack.Kubectl(r.Context(), call[0], call[1:]...)
	return stdout + stderr, err
}

// paste runs a command line as a person pastes it.
func (r *remedies) paste(line string) string {
	r.Helper()
	var said bytes.Buffer
	command := exec.CommandContext(r.Context(), "/bin/sh", "-c", line)
	command.Env = append(r.Environment(), "PATH="+filepath.Dir(r.Binary("kubectl"))+":/usr/bin:/bin")
	command.Stdout, command.Stderr = &said, &said
	require.NoError(r, command.Run(), "%s\n%s", line, &said)
	return said.String()
}

// spelled is a field of an instance for the scope.
func (r *remedies) spelled(rest string) string {
	if r.prefix != "" {
		return "clusterService" + rest
	}
	return "service" + rest
}

// TestARefusalsSvcatCommandHelps tells of requests that are refused, with commands
// of svcat in the refusal: pasted as they are, they work, and the request is then
// admitted.
func TestARefusalsSvcatCommandHelps(t *testing.T) {
	t.Parallel()
	for name, tc := range remedyCases {
		for scope, cluster := range map[string]bool{"Cluster": true, "Namespace": false} {
			t.Run(name+"/"+scope, func(t *testing.T) {
				t.Parallel()
				e := newEnv(t)
				r := &remedies{testEnv: e, reference: "serviceClassRef", scope: []string{"-n", e.Namespace}}
				place := "-n NAMESPACE"
				if cluster {
					r.prefix, r.reference, r.scope, place = "Cluster", "clusterServiceClassRef", nil, "--cluster"
				}
				r.tell(tc, place)
			})
		}
	}
}

func (r *remedies) tell(tc remedyCase, place string) {
	r.offer(tc.offers...)
	if tc.before != nil {
		for _, call := range tc.before(r) {
			said, err := r.attempt(call)
			require.NoError(r, err, said)
		}
		if !tc.unrecorded {
			r.recorded(tc.offers)
		}
	}
	request := tc.refused(r)
	refusal, err := r.attempt(request)
	require.Error(r, err, refusal)
	var commands, plain []string
	for _, match := range offered.FindAllStringSubmatch(refusal, -1) {
		commands = append(commands, match[1])
		plain = append(plain, r.normal(match[1]))
	}
	want := make([]string, len(tc.want))
	for i, line := range tc.want {
		want[i] = strings.ReplaceAll(strings.ReplaceAll(line, "-SUFFIX", ""), "PLACE", place)
	}
	require.Equal(r, want, plain, "%s:\n%s", tc.reason, refusal)
	assert.Contains(r, refusal, "or with kubectl: kubectl ", "kubectl's way is there too")

	for _, line := range commands[:tc.paste] {
		said := r.paste(line)
		assert.NotEmpty(r, said, line)
	}
	said, err := r.attempt(request)
	if tc.later {
		r.Eventually(func() (bool, error) {
			said, err = r.attempt(request)
			return err == nil, err
		})
	}
	if tc.looks {
		require.Error(r, err, "to look changes nothing: %s", said)
		return
	}
	require.NoError(r, err, "%s: %s", tc.reason, said)
}

// recorded waits until the keeper recorded what was annotated: one default in each
// type.
func (r *remedies) recorded(offers []remedyOffer) {
	r.Helper()
	r.Eventually(func() (bool, error) {
		for _, o := range offers {
			if o.typed == "" {
				continue
			}
			said, err := r.attempt(append([]string{"", "get", r.kind("type"), r.own(o.typed + "-SUFFIX"), "-o", "jsonpath={.status.confirmed}"}, r.scope...))
			if err != nil || said != "true" {
				return false, err
			}
		}
		return true, nil
	})
}
