package instances_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// A writePath is a row of the table of who owns what admission sets: one way to
// write an instance, taken twice.
type writePath struct {
	reason string
	// create makes the database as alice; write changes it as bob, or does not.
	create, write func(*database)
	// started says how the database differs from a fresh one; nil for nothing.
	started func(*env.Holding)
	// changes is what the first write changes; nil for nothing at all. The second
	// never changes anything.
	changes func(*env.Holding)
	// owns are those of the hook's fields that the write makes its own.
	owns []string
}

// TestWhatAdmissionSetStaysAsItWasWritten is the write-path table: whatever way
// an instance is written, and although the catalog changed meanwhile, what was
// decided stays, nothing is resolved or merged again, nothing that admission
// set belongs to a writer, and the same write once more changes nothing.
func TestWhatAdmissionSetStaysAsItWasWritten(t *testing.T) {
	t.Parallel()
	paths := map[string]writePath{}
	for _, group := range []func() map[string]writePath{
		applyPaths, savedPaths, appliedDefaultPaths, serverSidePaths, putPaths, patchPaths, helmPaths,
	} {
		maps.Copy(paths, group())
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newDatabase(env.New(t)).follow(path)
		})
	}
}

func (d *database) follow(path writePath) {
	d.Helper()
	path.create(d)
	d.created = d.HoldingOf("db")
	want := d.fresh()
	if path.started != nil {
		path.started(&want)
	}
	require.Empty(d, cmp.Diff(want, d.created), "(-want +got) as created")
	require.NotEmpty(d, d.created.ExternalID)
	assert.Empty(d, d.Owned(d.Stored("db"), env.HookFields), "as created: no manager owns what admission set")

	d.turnCatalog()
	// The API server stores the default of status with the first write, whatever
	// it is: that is not what is measured here.
	d.Patch(d.Instance("db"), `{}`)
	before := d.Stored("db")
	path.write(d)
	first := d.Stored("db")
	if path.changes == nil {
		assert.Empty(d, cmp.Diff(before, first), "(-before +first) a write that changes nothing is none: %s", path.reason)
	} else {
		path.changes(&want)
	}
	assert.Empty(d, cmp.Diff(want, d.Holding(first)), "(-want +got) %s", path.reason)
	assert.Equal(d, path.owns, d.Owned(first, env.HookFields), "as written: %s", path.reason)

	path.write(d)
	second := d.Stored("db")
	assert.Empty(d, cmp.Diff(first, second), "(-first +second) the same write again: %s", path.reason)
}
