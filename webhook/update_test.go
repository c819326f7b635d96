package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// An updateCase is a write over a stored instance: a row of DESIGN.md section 4's table. Catalog and specs are written for
// the cluster; both scopes are tried.
type updateCase struct {
	reason string
	// catalog is what the instance was created from, with create as its spec.
	catalog, create string
	edits           []func(*stock)
	// stored is a merge patch over what was stored, as the controller or time would make it.
	stored string
	// later is the catalog at the time of the write, if it is another one.
	later string
	// write is a merge patch over the stored object; put is a whole spec instead.
	write, put string
	// want is the merge patch from the stored object to what is stored then; "" if the write is denied.
	want string
	// denied is the field of the first cause, and says what the denial says.
	denied, says string
	// warned is part of a warning.
	warned string
}

const (
	db = "mysql/db: small* large"
	// provisioned is the status of an instance that a broker has.
	provisioned = `{"status":{"provisionStatus":"Provisioned","deprovisionStatus":"Required"}}`
	byType      = `{"serviceType":"mysql"}`
	byClass     = `{"clusterServiceClassExternalName":"db"}`
	byName      = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small"}`
)

// refsToLarge is the merge patch of an instance that goes to plan large of class db.
func refsToLarge(names string) string {
	return `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"named\",\"class\":\"db\",\"plan\":\"large\"}"},` +
		`"labels":{"servicecatalog.k8s.io/spec.clusterServicePlanRef.name":"<hash of db-large>"}},` +
		`"spec":{` + names + `"clusterServicePlanRef":{"name":"db-large"},"userInfo":{"username":"bob"}}}`
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	for _, cases := range []map[string]updateCase{restoreCases(), renameCases(), refusedCases(), undecidedCases(), planGoneCases()} {
		for name, tc := range cases {
			for _, namespaced := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/Namespaced=%t", name, namespaced), func(t *testing.T) {
					t.Parallel()
					tc.scoped(namespaced).run(t)
				})
			}
		}
	}
}

// scoped is the case in one of the two scopes.
func (tc updateCase) scoped(namespaced bool) updateCase {
	if !namespaced {
		tc.want = strings.ReplaceAll(tc.want, "<scope>", "cluster")
		return tc
	}
	tc.want = strings.ReplaceAll(tc.want, "<scope>", "namespace")
	lines := func(catalog string) string {
		if catalog == "" {
			return ""
		}
		return "dev|" + strings.ReplaceAll(strings.ReplaceAll(catalog, ";", ";dev|"), "dev|record ", "record dev|")
	}
	tc.catalog, tc.later = lines(tc.catalog), lines(tc.later)
	for _, text := range []*string{&tc.create, &tc.stored, &tc.write, &tc.put, &tc.want, &tc.denied, &tc.says, &tc.warned} {
		*text = strings.ReplaceAll(*text, "clusterService", "service")
	}
	return tc
}

func (tc updateCase) run(t *testing.T) {
	t.Helper()
	before := stocked(t, tc.catalog, tc.edits...)
	w := before.env()
	w.options.Unresolved = options.UnresolvedWait
	stored := w.created(tc.create)
	if tc.stored != "" {
		stored = changed(t, stored, tc.stored)
	}
	if tc.later != "" {
		w.restock(stocked(t, tc.later))
	}
	w.options.Unresolved = options.UnresolvedReject
	w.user.Username = "bob"
	written := changed(t, stored, tc.write)
	if tc.put != "" {
		written = changed(t, instanceOf(tc.put), tc.stored)
	}
	o := w.write(written, stored)
	if tc.denied != "" {
		denied := o.denied()
		require.NotNil(t, denied, tc.reason)
		assert.EqualValues(t, 422, denied.Code)
		assert.Equal(t, tc.denied, denied.Details.Causes[0].Field, denied.Message)
		assert.Contains(t, denied.Message, tc.says, tc.reason)
		return
	}
	got := o.admitted()
	assert.JSONEq(t, hashes(tc.want), change(t, stored, got), tc.reason)
	if tc.warned != "" {
		assert.Contains(t, strings.Join(o.warnings(), "\n"), tc.warned, tc.reason)
	}
	if tc.write == "{}" {
		assert.Empty(t, o.mutate.Patch, "nothing changes")
	}
	assert.Empty(t, w.write(got, got).mutate.Patch, "it is settled")
}
