package svcat_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDescribe shows one of everything, as the controller and the webhook left it.
//
//nolint:tparallel // the parts share what was made; each only reads.
func TestDescribe(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	db := s.Name("db")
	cases := map[string][]string{
		"Broker":             {"describe", "broker", s.Name("broker"), "--cluster"},
		"Class":              {"describe", "class", db, "--cluster"},
		"PlanSuggested":      {"describe", "plan", db + "/small", "--cluster"},
		"PlanOther":          {"describe", "plan", "large", "--class", db, "--cluster"},
		"PlanWithoutSchemas": {"describe", "plan", db + "/small", "--show-schemas=false", "--cluster"},
		"Instance":           {"describe", "instance", "mydb"},
		"Binding":            {"describe", "binding", "mydb-admin"},
		"Type":               {"describe", "type", s.Name("mysql"), "--cluster"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			printed := s.plain(s.Svcat(args...))
			s.golden(filepath.Join("describe", name), printed)
			assert.NotContains(t, printed, "never-to-be", "values of Secrets and of fixed keys are not shown")
		})
	}
}

// TestDescribeShowsSecretsWhenAsked: only then, and only those of the binding.
func TestDescribeShowsSecretsWhenAsked(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	data := s.secretOf("mydb-admin")
	require.NotEmpty(t, data)
	hidden := s.Svcat("describe", "binding", "mydb-admin")
	shown := s.Svcat("describe", "binding", "mydb-admin", "--show-secrets")
	for key, value := range data {
		assert.Contains(t, hidden, key)
		// A short one, such as a port, may stand elsewhere.
		if len(value) > 8 {
			assert.NotContains(t, hidden, string(value), key)
		}
		assert.Contains(t, shown, string(value), key)
	}
	assert.NotContains(t, shown, "never-to-be-seen")
}

// TestDescribeAbsent: a name that is not there is answered with those that are.
func TestDescribeAbsent(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	assert.Equal(t, `error: no instance "mydc" in namespace "`+s.Namespace+`"; did you mean mydb? instances: mydb`+"\n", s.SvcatFails(1, "describe", "instance", "mydc"))
	assert.Equal(t, `error: no binding "x" in namespace "`+s.Namespace+`"; bindings: mydb-admin`+"\n", s.SvcatFails(1, "describe", "binding", "x"))
	assert.Equal(t, `error: no plan "smal" in class `+s.Name("db")+`; did you mean small? plans: large, small`+"\n", s.SvcatFails(1, "describe", "plan", s.Name("db")+"/smal", "--cluster"))
	assert.Contains(t, s.SvcatFails(2, "describe", "instance"), "svcat describe instance takes one name, not 0")
	assert.Contains(t, s.SvcatFails(2, "describe", "thing"), `cannot describe "thing"; allowed are broker, class, plan, instance, binding, type`)
	assert.Contains(t, s.SvcatFails(2, "describe", "instnce/mydb"), `cannot describe "instnce/mydb"; did you mean instance? allowed are broker,`)
	assert.Contains(t, s.SvcatFails(2, "describe", "class", "x", "--scope", "moon"), `--scope is "moon"; allowed are cluster, namespace and all`)
}
