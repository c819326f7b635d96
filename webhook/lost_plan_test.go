package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLostPlanIsKeptWhereTheNextIsFull: a limit refuses an instance whose plan is gone only where the
// write asks for another plan.
func TestLostPlanIsKeptWhereTheNextIsFull(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"ByType": byType, "ByClass": byClass} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, hasNamespace("dev", "a", "b")).env()
			stored := w.created(spec)
			w.restock(stocked(t, "mysql/db: small! large*", hasNamespace("dev", "a", "b"), limited("few", "large", 1, -1, "b")))
			o := w.write(changed(t, stored, `{"spec":{"updateRequests":1}}`), stored)
			assert.NotContains(t, change(t, stored, o.admitted()), "clusterServicePlanRef", "it keeps its plan")
			assert.Contains(t, strings.Join(o.warnings(), "\n"), `the decided plan db-small is gone, and no other is found`)
			assert.Contains(t, strings.Join(o.warnings(), "\n"), `ProvisioningPolicy "few" lets namespace "dev" have 1 instance`)

			denied := w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"large"}}`), stored).denied()
			require.NotNil(t, denied)
			assert.EqualValues(t, 403, denied.Code)
		})
	}
}

// TestLostPlanMovesToTheOtherScope: where the plan is gone, the class may be named in the other scope,
// and the name that the choice filled in goes with the plan.
func TestLostPlanMovesToTheOtherScope(t *testing.T) {
	t.Parallel()
	const before, later = "mysql/db: small*;dev|mysql/db: ns", "mysql/db: small!;dev|mysql/db: ns"
	for name, tc := range map[string]struct{ create, patch string }{
		"Patch":         {byClass, `{"spec":{"clusterServiceClassExternalName":null,"serviceClassExternalName":"db"}}`},
		"PatchOfBoth":   {byClass, `{"spec":{"clusterServiceClassExternalName":null,"clusterServicePlanExternalName":null,"serviceClassExternalName":"db"}}`},
		"PatchOfANamed": {byName, `{"spec":{"clusterServiceClassExternalName":null,"clusterServicePlanExternalName":null,"serviceClassExternalName":"db"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, before).env()
			stored := w.created(tc.create)
			w.restock(stocked(t, later))
			got := w.write(changed(t, stored, tc.patch), stored).admitted()
			assert.Contains(t, string(got), `"servicePlanRef":{"name":"db-ns"}`)
			assert.Contains(t, string(got), `"servicePlanExternalName":"ns"`)
			assert.NotContains(t, string(got), `"clusterServicePlanExternalName":"small"`)
			assert.Empty(t, w.write(got, got).mutate.Patch, "it is settled")
		})
	}
}

// TestClassOfTheOtherScope: once a broker was called, the class does not change, in either scope.
func TestClassOfTheOtherScope(t *testing.T) {
	t.Parallel()
	w := stocked(t, "mysql/db: small*;dev|mysql/db: ns").env()
	stored := changed(t, w.created(byName), provisioned)
	denied := w.write(changed(t, stored, `{"spec":{"clusterServiceClassExternalName":null,"clusterServicePlanExternalName":null,"serviceClassExternalName":"db"}}`), stored).denied()
	require.NotNil(t, denied)
	assert.Contains(t, denied.Message, "the class cannot change to one of another scope once it is decided")
}

// TestGoneDecidedClass: a denial names a field that the user wrote, and says what is gone.
func TestGoneDecidedClass(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]string{"Lost": "{}", "Started": provisioned} {
		for later, says := range map[string]string{
			"other:":                 `the class "db", which was decided, does not exist in the cluster`,
			"mysql/db!: small large": `the class "db", which was decided, cannot be chosen any more`,
		} {
			t.Run(name+"/"+later, func(t *testing.T) {
				t.Parallel()
				w := stocked(t, db).env()
				stored := changed(t, w.created(byType), status)
				w.restock(stocked(t, later))
				denied := w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"huge"}}`), stored).denied()
				require.NotNil(t, denied)
				assert.Equal(t, "spec.clusterServicePlanExternalName", denied.Details.Causes[0].Field)
				assert.Contains(t, denied.Message, says)
			})
		}
	}
}
