package instances_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestPlanThatAManagerReleasesStays tells of a manager that asks for another
// plan, owns that wish, and later no longer says it: the decision stays, and
// nothing is chosen again, though another plan is the default by then.
func TestPlanThatAManagerReleasesStays(t *testing.T) {
	t.Parallel()
	d := newDatabase(env.New(t))
	applyServerSide(env.Alice, "chart", with(written))(d)
	d.created = d.HoldingOf("db")
	want := d.fresh()
	assertHolding(d.Env, want, "as created")
	planName := [][]string{{"f:spec", "f:clusterServicePlanExternalName"}}

	wish := func(d *database) string { return d.manifest(``, `"clusterServicePlanExternalName":"`+d.other+`"`) }
	applyServerSide(env.Bob, "team", wish)(d)
	want.Plan, want.Names.ClusterServicePlanExternalName = "/"+d.other, d.other
	want.User, want.Generation = env.Bob, 2
	want.Applied.Rule, want.Applied.Plan = "named", d.other
	want.Hashed = maps.Clone(d.created.Hashed)
	want.Hashed[env.HashedLabels[1]] = api.HashLabelValue(d.other)
	assertHolding(d.Env, want, "another plan by name is taken, and its defaults are not applied")
	assert.Equal(t, []string{"team f:clusterServicePlanExternalName"}, d.Owned(d.Stored("db"), planName))

	d.PatchPlan(d.plan, `{"spec":{"defaultProvisionParameters":{"late":1}}}`)
	before := d.Stored("db")
	for range 2 {
		applyServerSide(env.Bob, "team", with(``))(d)
		assertHolding(d.Env, want, "who releases the plan's name changes nothing")
		assert.Empty(t, d.Owned(d.Stored("db"), planName), "and no longer owns it")
		assert.Empty(t, d.Owned(d.Stored("db"), env.HookFields))
	}
	assert.Empty(t, cmp.Diff(before.Spec, d.Stored("db").Spec))

	applyServerSide(env.Bob, "team", wish)(d)
	assertHolding(d.Env, want, "the same wish again finds it fulfilled")
}

// TestChartThatChangesTheTypeIsRefused tells of helm's worst case: a new type
// beside the old class and plan.
func TestChartThatChangesTheTypeIsRefused(t *testing.T) {
	t.Parallel()
	d := newDatabase(env.New(t))
	create(with(written))(d)
	d.created = d.HoldingOf("db")
	stderr := d.KubectlFails("", "--as", env.Bob, "patch", "serviceinstance", "db", "--type=merge", "-p", `{"spec":{"serviceType":"postgresql"}}`)
	assert.Contains(t, stderr, "serviceType")
	assert.Contains(t, stderr, "is invalid")
	assertHolding(d.Env, d.fresh(), "a refused write changes nothing")
}
