package e2e_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
)

// TestPlanThatAManagerReleasesStays tells of a manager that asks for another
// plan, owns that wish, and later no longer says it: the decision stays, and
// nothing is chosen again, though another plan is the default by then.
func TestPlanThatAManagerReleasesStays(t *testing.T) {
	t.Parallel()
	d := newDatabase(newWorld(t))
	applyServerSide(alice, "chart", with(written))(d)
	d.created = d.holdingOf("db")
	want := d.fresh()
	d.holds(want, "as created")
	planName := [][]string{{"f:spec", "f:clusterServicePlanExternalName"}}

	wish := func(d *database) string { return d.manifest(``, `"clusterServicePlanExternalName":"`+d.other+`"`) }
	applyServerSide(bob, "team", wish)(d)
	want.Plan, want.Names.ClusterServicePlanExternalName = "/"+d.other, d.other
	want.User, want.Generation = bob, 2
	want.Hashed = maps.Clone(d.created.Hashed)
	want.Hashed[hashedLabels[1]] = hashOf(d.other)
	d.holds(want, "another plan by name is taken, and its defaults are not applied")
	assert.Equal(t, []string{"team f:clusterServicePlanExternalName"}, d.owned(d.stored("db"), planName))

	d.patchPlan(d.plan, `{"spec":{"defaultProvisionParameters":{"late":1}}}`)
	before := d.stored("db")
	for range 2 {
		applyServerSide(bob, "team", with(``))(d)
		d.holds(want, "who releases the plan's name changes nothing")
		assert.Empty(t, d.owned(d.stored("db"), planName), "and no longer owns it")
		assert.Empty(t, d.owned(d.stored("db"), hookFields))
	}
	assert.Empty(t, cmp.Diff(before.Spec, d.stored("db").Spec))

	applyServerSide(bob, "team", wish)(d)
	d.holds(want, "the same wish again finds it fulfilled")
}

// TestChartThatChangesTheTypeIsRefused tells of helm's worst case: a new type
// beside the old class and plan.
func TestChartThatChangesTheTypeIsRefused(t *testing.T) {
	t.Parallel()
	d := newDatabase(newWorld(t))
	create(with(written))(d)
	d.created = d.holdingOf("db")
	stderr := d.kubectlFails("", "--as", bob, "patch", "serviceinstance", "db", "--type=merge", "-p", `{"spec":{"serviceType":"postgresql"}}`)
	assert.Contains(t, stderr, "serviceType")
	assert.Contains(t, stderr, "is invalid")
	d.holds(d.fresh(), "a refused write changes nothing")
}
