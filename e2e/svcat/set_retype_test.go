package svcat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A default that gets another type is its old type's no longer, and that is told, by
// whichever command.
func TestSetTypeOfTheDefault(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("premium-p1"), "--default")
	s.comesTo("record premium-p1, annotated premium-p1")
	redis, foo := s.Name("redis"), s.Name("foo")
	said := s.set("plan", s.Name("premium-p1"), "--type", foo, "--dry-run=server")
	assert.Equal(t, "Warning: azure-mysql/premium-p1 was the default plan for mysql, which has none now; it is the default plan for foo now\n", said.err)
	assert.Empty(t, s.set("plan", s.Name("premium-p1"), "--type", s.kind).err, "its type stays")
	assert.Empty(t, s.set("plan", s.Name("basic50"), "--type", foo).err, "it is no default")
	said = s.set("plan", s.Name("premium-p1"), "--type", redis)
	assert.Equal(t, "plan azure-mysql/premium-p1: type redis\n", said.out)
	assert.Equal(t, "Warning: azure-mysql/premium-p1 was the default plan for mysql, which has none now; it is the default plan for redis now\n", said.err)
	assert.Empty(t, s.gives())

	// With --default it is a switch, however fast the keeper is.
	s.comesTo("record , annotated premium-p1")
	said = s.set("plan", s.Name("premium-p1"), "--type", "null", "--default")
	assert.Equal(t, "plan azure-mysql/premium-p1: type cleared\npremium-p1 is no longer the default plan for redis\npremium-p1 is the default plan for mysql\n", said.out)
	assert.Equal(t, "Warning: azure-mysql/premium-p1 was the default plan for redis, which has none now; it is the default plan for mysql now\n", said.err)
	s.comesTo("record premium-p1, annotated premium-p1")

	// So it is with the type of the class, of which the plan's is.
	said = s.set("class", s.Name("azure-mysql"), "--type", redis)
	assert.Contains(t, said.err, "Warning: azure-mysql/premium-p1 was the default plan for mysql, which has none now; it is the default plan for redis now\n")
}

// A name that stands for something in the namespace and in the cluster is not guessed
// at, where it is written to or copied.
func TestSetAndCreateGuessNoScope(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.newStall(false, "basic50")
	s := e.newStall(true, "basic50")
	environment := s.here()
	loose := func(args ...string) outcome {
		got := s.runAs(environment, "", args...)
		return outcome{s.normal(got.out), s.normal(got.err), got.code}
	}
	plan := s.Name("azure-mysql") + "/basic50"
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Plan":   {"As CLASS/PLAN.", []string{"set", "plan", plan, "--default"}, `plan "azure-mysql/basic50" may be serviceplan NAMESPACE/basic50 or clusterserviceplan basic50`},
		"Class":  {"A class.", []string{"set", "class", s.Name("azure-mysql"), "--bind-params", "{}"}, `class "azure-mysql" may be serviceclass NAMESPACE/azure-mysql or clusterserviceclass azure-mysql`},
		"Create": {"What is copied.", []string{"create", "plan", "tiny", "--from", plan}, `plan "azure-mysql/basic50" may be serviceplan NAMESPACE/basic50 or clusterserviceplan basic50`},
		"Copy":   {"A class to copy.", []string{"create", "class", "tiny", "--from", s.Name("azure-mysql")}, `class "azure-mysql" may be serviceclass NAMESPACE/azure-mysql or clusterserviceclass azure-mysql`},
	} {
		got := loose(tc.args...)
		assert.Equal(t, 2, got.code, "%s: %s", name, tc.reason)
		assert.Equal(t, "error: "+tc.want+"; say which: --namespace NAMESPACE or --cluster\n", got.err, "%s: %s", name, tc.reason)
	}
	got := loose("set", "plan", plan, "--default", "--cluster")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "basic50 is the default plan for mysql\n", got.out)
	got = loose("set", "plan", plan, "--default", "-n", s.Namespace)
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "basic50 is the default plan for mysql in namespace NAMESPACE\n", got.out)
	got = loose("set", "plan", s.Name("basic50"), "--weight", "3", "--scope", "namespace")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "plan azure-mysql/basic50 in namespace NAMESPACE: weight 3\n", got.out)
}
