package webhook

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A set of rules follows what its informers tell.
func TestRuleSet(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).world()
	ctx := log.IntoContext(t.Context(), funcr.New(w.writeLog, funcr.Options{}))
	set := NewRuleSet()
	events := set.events(ctx)
	class, plan := resolve.ClassEntry{Ref: resolve.Ref{Name: "db"}, Type: "mysql"}, resolve.PlanEntry{Ref: resolve.Ref{Name: "db-small"}, ExternalName: "small"}
	target := policy.TargetOf(class, plan)
	found := func() []string {
		names := []string{}
		rules, err := set.rulesFor(&target)
		require.NoError(t, err)
		for _, rule := range rules {
			names = append(names, rule.Kind+"/"+rule.Name)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	assert.Empty(t, found())
	events.OnAdd(policyObject(t, "deny x plan=small"), true)
	events.OnAdd(policyObject(t, "bind-deny x type=mysql"), true)
	events.OnAdd(policyObject(t, "deny y plan=large"), false)
	assert.Equal(t, []string{"BindingPolicy/x", "ProvisioningPolicy/x"}, found(), "policies of both kinds may share a name")
	events.OnUpdate(policyObject(t, "deny x plan=small"), policyObject(t, "deny x plan=large"))
	assert.Equal(t, []string{"BindingPolicy/x"}, found(), "an update replaces")
	events.OnUpdate(policyObject(t, "deny y plan=large"), policyObject(t, "deny y class=db type=mysql"))
	assert.Equal(t, []string{"BindingPolicy/x", "ProvisioningPolicy/y"}, found())
	assert.Empty(t, w.log())
	events.OnUpdate(policyObject(t, "deny y class=db"), policyObject(t, "deny y class=db broken says="+canary))
	assert.Equal(t, []string{"BindingPolicy/x"}, found(), "one that cannot be read any more has no effect")
	logged := w.log()
	assert.Contains(t, logged, `cannot read ProvisioningPolicy \"y\"`, "which is told, by its name")
	assert.Contains(t, logged, "spec.subjects[0].planSelector")
	assert.NotContains(t, logged, strings.ReplaceAll(canary, "-", " "))
	events.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "x", Obj: policyObject(t, "bind-deny x type=mysql")})
	assert.Empty(t, found(), "a deletion that was missed counts")
	events.OnDelete(policyObject(t, "deny z plan=small"))
	events.OnAdd("not an object", false)
	events.OnDelete("not an object")
	events.OnAdd(policyObject(t, "deny x plan=small"), false)
	events.OnDelete(policyObject(t, "deny x plan=small"))
	assert.Empty(t, found())
	assert.Empty(t, set.byKey, "nothing is left behind")
}

// A set that has not read the policies there are does not say that none denies.
func TestRuleSetBeforeItHasRead(t *testing.T) {
	t.Parallel()
	set, read := NewRuleSet(), false
	set.synced = func() bool { return read }
	target := policy.TargetOf(resolve.ClassEntry{}, resolve.PlanEntry{})
	_, err := set.rulesFor(&target)
	require.ErrorIs(t, err, errPoliciesUnread)
	read = true
	_, err = set.rulesFor(&target)
	assert.NoError(t, err)
}
