package resolve_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// denials returns one request for every way to be refused, as "request" against "catalog".
func denials() [][2]string {
	return [][2]string{
		{"dev:", "redis/cache: a"},
		{"dev: plan=a", "redis/cache: a"},
		{"dev: class=cache plan=a selector=x=1", "redis/cache: a"},
		{": class=cache namespaced", "redis/cache: a"},
		{"dev: selector={}", "redis/cache: a"},
		{"dev: class=cash plan=a", "redis/cache: a"},
		{"dev: class.name=cash namespaced", "redis/cache: a"},
		{"dev: class=cache plan=c", "redis/cache: a b!"},
		{"dev: class=cache plan=a", "redis/cache!: a"},
		{"dev: class=cache plan=a", "redis/cache: a!"},
		{"dev: class=cache plan.name=db-a", "redis/cache: b; mysql/db: a"},
		{"dev: class=cache plan=a type=mysql", "redis/cache: a"},
		{"dev: class=cache type=mysql", "redis/cache: a many<mongo>"},
		{"dev: class=cache type=mysql selector=x=1", "redis/cache: a"},
		{"dev: class=cache plan=a", "redis/cache@one: a; redis/cache@two: a"},
		{"dev: class.id=id-cache plan.id=id-a", "redis/cache: a a@copy"},
		{"dev: class=cache", "redis/cache: a* b* c"},
		{"dev: class=cache", "redis/cache: a? b? c"},
		{"dev: class=cache", "redis/cache: a b c!"},
		{"dev: class=cache", "redis/cache:"},
		{"dev: class=cache namespaced", "dev|redis/cache: a!"},
		{"dev: type=redis", "dev|redis/cache: a* b*"},
		{"dev: type=redis", "redis/cache: a* b*"},
		{"dev: type=redis", "dev|redis/cache: a? b?"},
		{"dev: type=redis", "redis/cache: a? b?; redis/other: a?"},
		{"dev: type=redis", "redis/cache: a b!; dev|redis/cache: c"},
		{"dev: type=reddis", "redis/cache: a*"},
		{"dev: selector=x=1,y in (2,3)", "redis/cache{x=1}: a{y=4} b{y=2}~budget c{y=3}!"},
		{"dev: type=redis", "redis/cache: a b c d e f g h i j k l"},
		{"dev: type=" + strings.Repeat("x", 300), "redis/cache:"},
	}
}

func TestErrorLines(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	reasons := map[resolve.Reason]bool{}
	for _, d := range denials() {
		cat, req := resolvetest.Catalog(t, d[1]), resolvetest.Request(t, d[0])
		_, err := resolve.Plan(req, cat)
		var refused *resolve.Error
		require.ErrorAs(t, err, &refused, "%s against %s", d[0], d[1])
		assert.NotContains(t, err.Error(), "\n", "One line.")
		reasons[refused.Reason] = true
		for seed := range uint64(4) {
			_, again := resolve.Plan(req, shuffled(cat, seed))
			require.EqualError(t, again, err.Error(), "The line does not depend on the order of the catalog.")
		}
		fmt.Fprintf(&lines, "%s  ⇐  %s\n    %s rule=%q class=%q\n    %v\n", d[0], d[1], refused.Reason, refused.Rule, refused.Class, err)
	}
	assert.Len(t, reasons, 11, "Every reason is among the golden lines.")
	golden(t, "errors.golden", lines.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")), "go test -update accepts the new text")
}

func TestErrorFieldNames(t *testing.T) {
	t.Parallel()
	var fields []string
	for _, scope := range []string{"", " namespaced"} {
		for _, kind := range []string{"class", "class.id", "class.name"} {
			_, err := resolve.Plan(resolvetest.Request(t, "dev: "+kind+"=x"+scope), resolve.Catalog{})
			fields = append(fields, refusal(t, err))
		}
		for _, kind := range []string{"plan", "plan.id", "plan.name"} {
			_, err := resolve.Plan(resolvetest.Request(t, "dev: "+kind+"=x"+scope), resolve.Catalog{})
			fields = append(fields, refusal(t, err))
		}
	}
	want := []string{
		"ClassNotFound spec.clusterServiceClassExternalName", "ClassNotFound spec.clusterServiceClassExternalID",
		"ClassNotFound spec.clusterServiceClassName", "InvalidReference spec.clusterServicePlanExternalName",
		"InvalidReference spec.clusterServicePlanExternalID", "InvalidReference spec.clusterServicePlanName",
		"ClassNotFound spec.serviceClassExternalName", "ClassNotFound spec.serviceClassExternalID",
		"ClassNotFound spec.serviceClassName", "InvalidReference spec.servicePlanExternalName",
		"InvalidReference spec.servicePlanExternalID", "InvalidReference spec.servicePlanName",
	}
	assert.Equal(t, want, fields, "Each of the twelve fields is called by its own name.")
}
