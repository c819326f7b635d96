package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// denying is a policy that denies plans.
func denying(name string, subject v1beta1.PlanSubject) *v1beta1.ProvisioningPolicy {
	return &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.ProvisioningPolicySpec{
		PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny}, Subjects: []v1beta1.PolicySubject{{PlanSubject: subject}},
	}}
}

// A set of rules follows what its informers tell.
func TestRuleSet(t *testing.T) {
	t.Parallel()
	var logs strings.Builder
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logs.WriteString(args) }, funcr.Options{}))
	set := NewRuleSet()
	events := set.events(ctx)
	bindingDenied := &v1beta1.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: v1beta1.BindingPolicySpec{
		PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny}, Subjects: []v1beta1.BindingPolicySubject{{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql"}}},
	}}
	broken := denying("y", v1beta1.PlanSubject{ClassName: "db", PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}})
	broken.Spec.Message = "5up3r"
	class, plan := resolve.ClassEntry{Ref: resolve.Ref{Name: "db"}, Type: "mysql"}, resolve.PlanEntry{Ref: resolve.Ref{Name: "db-small"}, ExternalName: "small"}
	target := policy.TargetOf(class, plan)
	found := func() []string {
		names := []string{}
		rules, err := set.RulesFor(&target)
		require.NoError(t, err)
		for _, rule := range rules {
			names = append(names, rule.Kind+"/"+rule.Name)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	assert.Empty(t, found())
	events.OnAdd(denying("x", v1beta1.PlanSubject{PlanName: "small"}), true)
	events.OnAdd(bindingDenied, true)
	events.OnAdd(denying("y", v1beta1.PlanSubject{PlanName: "large"}), false)
	assert.Equal(t, []string{"BindingPolicy/x", "ProvisioningPolicy/x"}, found(), "policies of both kinds may share a name")
	events.OnUpdate(denying("x", v1beta1.PlanSubject{PlanName: "small"}), denying("x", v1beta1.PlanSubject{PlanName: "large"}))
	assert.Equal(t, []string{"BindingPolicy/x"}, found(), "an update replaces")
	events.OnUpdate(denying("y", v1beta1.PlanSubject{PlanName: "large"}), denying("y", v1beta1.PlanSubject{ClassName: "db", ServiceType: "mysql"}))
	assert.Equal(t, []string{"BindingPolicy/x", "ProvisioningPolicy/y"}, found())
	assert.Empty(t, logs.String())
	events.OnUpdate(denying("y", v1beta1.PlanSubject{ClassName: "db"}), broken)
	assert.Equal(t, []string{"BindingPolicy/x"}, found(), "one that cannot be read any more has no effect")
	logged := logs.String()
	assert.Contains(t, logged, `cannot read ProvisioningPolicy \"y\"`, "which is told, by its name")
	assert.Contains(t, logged, "spec.subjects[0].planSelector")
	assert.NotContains(t, logged, "5up3r")
	events.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "x", Obj: bindingDenied})
	assert.Empty(t, found(), "a deletion that was missed counts")
	events.OnDelete(denying("z", v1beta1.PlanSubject{PlanName: "small"}))
	events.OnAdd("not an object", false)
	events.OnDelete("not an object")
	events.OnAdd(denying("x", v1beta1.PlanSubject{PlanName: "small"}), false)
	events.OnDelete(denying("x", v1beta1.PlanSubject{PlanName: "small"}))
	assert.Empty(t, found())
	assert.Empty(t, set.byKey, "nothing is left behind")
}

// A set that has not read the policies there are does not say that none denies.
func TestRuleSetBeforeItHasRead(t *testing.T) {
	t.Parallel()
	set, read := NewRuleSet(), false
	set.synced = func() bool { return read }
	target := policy.TargetOf(resolve.ClassEntry{}, resolve.PlanEntry{})
	_, err := set.RulesFor(&target)
	require.ErrorIs(t, err, errPoliciesUnread)
	read = true
	_, err = set.RulesFor(&target)
	assert.NoError(t, err)
}
