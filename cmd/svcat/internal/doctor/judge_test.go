package doctor

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// noon is the time of all tests.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var things = schema.GroupResource{Group: "g", Resource: "things"}

func definition(edit func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta1", Served: true}}},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue}, {Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
		}},
	}
	edit(d)
	return d
}

func TestDefinitionFault(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		installed *apiextensionsv1.CustomResourceDefinition
		want      string
	}{
		"Served":  {reason: "nothing to say", installed: definition(func(*apiextensionsv1.CustomResourceDefinition) {})},
		"Missing": {reason: "not installed", want: "missing"},
		"NotServed": {
			reason:    "a version may be switched off",
			installed: definition(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Served = false }), want: "not served as v1beta1",
		},
		"OtherVersion": {
			reason:    "the retired catalog's next version would be another",
			installed: definition(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Name = "v1" }), want: "not served as v1beta1",
		},
		"NamesTaken": {
			reason: "another definition has a short name",
			installed: definition(func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Status.Conditions[0].Status, d.Status.Conditions[0].Message = apiextensionsv1.ConditionFalse, `"sb" is already in use`
			}),
			want: `not NamesAccepted ("sb" is already in use)`,
		},
		"JustMade": {
			reason:    "the API server has not looked yet",
			installed: definition(func(d *apiextensionsv1.CustomResourceDefinition) { d.Status.Conditions = nil }), want: "not NamesAccepted yet",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, definitionFault(tc.installed), tc.reason)
		})
	}
}

func TestJudgeDefinitions(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []finding{okf("definitions", "all 12 are served")}, judgeDefinitions(12, nil))
	do := "kubectl apply --server-side -f deploy/crds"
	assert.Equal(t, []finding{failedf("definitions", do, "missing: a, b"), failedf("definitions", do, "not served as v1beta1: c")},
		judgeDefinitions(12, map[string][]string{"not served as v1beta1": {"c"}, "missing": {"b", "a"}}), "sorted")
}

func TestJudgeHooks(t *testing.T) {
	t.Parallel()
	shippedHooks := func(edit func(*configuration)) []hook {
		wanted, err := shippedAs[configuration]("hooks", "MutatingWebhookConfiguration")
		require.NoError(t, err)
		require.Len(t, wanted, 1)
		for i := range wanted[0].Webhooks {
			wanted[0].Webhooks[i].ClientConfig.CABundle = []byte("bundle")
		}
		edit(&wanted[0])
		return wanted[0].Webhooks
	}
	cases := map[string]struct {
		reason string
		err    error
		edit   func(*configuration)
		want   finding
	}{
		"Whole":     {reason: "as shipped, with a caBundle", want: okf("hooks", "M has all 8")},
		"Missing":   {reason: "not installed", err: apierrors.NewNotFound(things, "x"), want: failedf("hooks", applyHooks, "M is missing")},
		"Forbidden": {reason: "one may not look", err: apierrors.NewForbidden(things, "x", errors.New("no")), want: unknownf("hooks", "ask a user who may, such as an administrator, to look", "not looked at: you may not read webhook configurations")},
		"Lacks": {
			reason: "a rule that is gone, an operation that is gone",
			edit: func(c *configuration) {
				c.Webhooks[0].Rules[0].Operations = []admissionv1.OperationType{admissionv1.Create}
				c.Webhooks = c.Webhooks[:7]
			},
			want: failedf("hooks", applyHooks, "M lacks a hook for creates and updates of clusterservicebrokers, serviceplans"),
		},
		"Wider": {
			reason: "a hook that is called for all is called for these",
			edit: func(c *configuration) {
				c.Webhooks = c.Webhooks[:1]
				c.Webhooks[0].Rules[0] = admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{"*"}, Rule: admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
				}
			},
			want: okf("hooks", "M has all 8"),
		},
		"Bare": {
			reason: "the manifest was applied as it is in the folder",
			edit:   func(c *configuration) { c.Webhooks[0].ClientConfig.CABundle = nil },
			want:   failedf("hooks", applyHooks, "M has no caBundle for clusterservicebrokers: the API server trusts only the system's authorities there"),
		},
		"Open": {
			reason: "it works, as long as the webhook does",
			edit: func(c *configuration) {
				c.Webhooks[0].FailurePolicy = new(admissionv1.Ignore)
			},
			want: warningf("hooks", "set failurePolicy: Fail", "M lets clusterservicebrokers pass unjudged while the webhook is down"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.edit == nil {
				tc.edit = func(*configuration) {}
			}
			wanted := shippedHooks(func(*configuration) {})
			assert.Equal(t, tc.want, judgeHooks("M", tc.err, shippedHooks(tc.edit), wanted), tc.reason)
		})
	}
}

func TestUnread(t *testing.T) {
	t.Parallel()
	assert.Equal(t, levelUnknown, unread("x", "things", apierrors.NewForbidden(things, "", nil)).Level)
	assert.Equal(t, "not looked at: things are not served", unread("x", "things", &meta.NoKindMatchError{}).Message)
	assert.Equal(t, levelFailed, unread("x", "things", errors.New("connection refused")).Level)
}

func TestJudgeLease(t *testing.T) {
	t.Parallel()
	d := duty{check: "keeper", lease: "defaultplan-keeper", undone: "nothing is recorded"}
	const do = "kubectl -n sys get pods; elsewhere installed, name it: svcat check --system-namespace"
	lease := func(holder string, ago time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: noon.Add(-ago)}}}
	}
	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		err    error
		want   finding
	}{
		"Held":      {reason: "renewed just now", lease: lease("pod-1", 5*time.Second), want: okf("keeper", "pod-1 is at work")},
		"Late":      {reason: "up to twice its time: clocks differ, and one is elected", lease: lease("pod-1", 30*time.Second), want: okf("keeper", "pod-1 is at work")},
		"Lost":      {reason: "no other replica took it over", lease: lease("pod-1", 31*time.Second), want: failedf("keeper", do, "pod-1 was last heard of at 2026-11-22 11:59:29 UTC: nothing is recorded")},
		"Released":  {reason: "it ended, and let go", lease: lease("", time.Second), want: failedf("keeper", do, "no replica holds the Lease defaultplan-keeper: nothing is recorded")},
		"Missing":   {reason: "it never ran", err: apierrors.NewNotFound(things, "x"), want: failedf("keeper", do, `namespace "sys" has no Lease defaultplan-keeper: none seems to run, and while none does nothing is recorded`)},
		"Forbidden": {reason: "one may not look", err: apierrors.NewForbidden(things, "x", nil), want: unknownf("keeper", "ask a user who may, such as an administrator, to look", "not looked at: you may not read leases of namespace sys")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, d.judge(tc.lease, tc.err, "sys", noon), tc.reason)
		})
	}
}

func TestSystemNamespace(t *testing.T) {
	t.Parallel()
	inService := []hook{{ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://x")}}, {ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "sys"}}}}
	assert.Equal(t, "named", (&installation{system: "named"}).systemOf(inService), "the flag wins")
	assert.Equal(t, "sys", (&installation{}).systemOf(inService), "else where the hooks' Service is")
	assert.Equal(t, "defaultplan-system", (&installation{}).systemOf(nil), "else as shipped")
}

func TestJudgeBroker(t *testing.T) {
	t.Parallel()
	status := v1beta1.CommonServiceBrokerStatus{NextRetry: &metav1.Time{Time: noon.Add(90 * time.Second)}, Conditions: []v1beta1.Condition{v1beta1.NotReady("ErrorFetchingCatalog", "no route")}}
	const do = "svcat describe broker azure --scope cluster; then svcat sync broker azure --scope cluster"
	cluster := func(status v1beta1.CommonServiceBrokerStatus) catalog.Broker {
		return catalog.Broker{View: catalog.View[v1beta1.BrokerObject]{Object: &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}}, Spec: &v1beta1.CommonServiceBrokerSpec{}, Status: &status}
	}
	named := cluster(v1beta1.CommonServiceBrokerStatus{})
	named.Spec.ControllerName = "east"
	deleting := func(conditions ...v1beta1.Condition) catalog.Broker {
		b := cluster(v1beta1.CommonServiceBrokerStatus{NextRetry: status.NextRetry, Conditions: conditions})
		b.Object.SetDeletionTimestamp(&metav1.Time{Time: noon})
		return b
	}
	const look = "svcat describe broker azure --scope cluster"
	cases := map[string]struct {
		reason string
		broker catalog.Broker
		want   finding
	}{
		"Deleting":       {reason: "an operator's wish is no fault", broker: deleting(v1beta1.NotReady("DeletionWaits", "2 instances exist")), want: warningf("brokers", look, "azure is being deleted: DeletionWaits: 2 instances exist")},
		"DeletingReady":  {reason: "its controller has not begun", broker: deleting(v1beta1.Ready("FetchedCatalog", "")), want: warningf("brokers", look, "azure is being deleted")},
		"DeletingUnseen": {reason: "none will", broker: deleting(), want: warningf("brokers", look, "azure is being deleted: no controller has seen it yet")},
		"Ready":          {reason: "nothing to say", broker: cluster(v1beta1.CommonServiceBrokerStatus{Conditions: []v1beta1.Condition{v1beta1.Ready("FetchedCatalog", "")}}), want: okf("brokers", "azure is ready")},
		"Down":           {reason: "the cluster's is part of the installation", broker: cluster(status), want: failedf("brokers", do, "azure is not ready: ErrorFetchingCatalog: no route; it is tried again at 2026-11-22 12:01:30 UTC")},
		"Unseen":         {reason: "no controller yet", broker: cluster(v1beta1.CommonServiceBrokerStatus{}), want: failedf("brokers", do, "azure is not ready: no controller has seen it yet")},
		"Named":          {reason: "which one does not answer", broker: named, want: failedf("brokers", do, `azure is not ready: no controller called "east", which it names in spec.controllerName, has seen it yet`)},
		"Owned": {
			reason: "a namespace's is its owner's affair",
			broker: catalog.Broker{View: catalog.View[v1beta1.BrokerObject]{Object: &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "azure"}}}, Spec: &v1beta1.CommonServiceBrokerSpec{}, Status: &v1beta1.CommonServiceBrokerStatus{}},
			want:   warningf("brokers", "svcat describe broker azure --scope namespace -n dev; then svcat sync broker azure --scope namespace -n dev", "dev/azure is not ready: no controller has seen it yet"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, judgeBroker(tc.broker, noon), tc.reason)
		})
	}
}

// What a restriction on spec.free takes is not what it took in the retired catalog.
func TestRestrictionsByFree(t *testing.T) {
	t.Parallel()
	of := func(plans ...string) *v1beta1.CatalogRestrictions {
		return &v1beta1.CatalogRestrictions{ServicePlan: plans}
	}
	for name, tc := range map[string]struct {
		restrictions *v1beta1.CatalogRestrictions
		want         bool
	}{
		"None": {nil, false}, "Empty": {of(), false}, "Name": {of("spec.externalName=free"), false}, "NotRead": {of("spec.free=(", "x=y"), false},
		"Equal": {of("spec.free=true"), true}, "Second": {of("name=a", "spec.externalName in (a),spec.free!=false"), true},
		"OfClasses": {&v1beta1.CatalogRestrictions{ServiceClass: []string{"spec.free=true"}}, false},
	} {
		assert.Equal(t, tc.want, restrictsByFree(tc.restrictions), name)
	}
	told := judgeFree([]string{"dev/b", "a"})
	assert.Equal(t, levelWarning, told.Level)
	assert.Contains(t, told.Message, "catalogRestrictions of a, dev/b use spec.free")
}

func TestJudgeInstances(t *testing.T) {
	t.Parallel()
	assert.Equal(t, okf("instances", "all 3 have a plan"), judgeInstances(3, nil, ""))
	assert.Equal(t, warningf("instances", "svcat explain instance/a -n x", "7 of 9 have no plan yet (here): x/a, x/b, y/a, y/b, z/a and 2 more"),
		judgeInstances(9, []string{"z/a", "y/b", "x/b", "x/a", "y/a", "z/b", "z/c"}, " (here)"), "the first, sorted")

	undecided := &v1beta1.ServiceInstance{}
	assert.True(t, isUndecided(undecided))
	undecided.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{}
	assert.True(t, isUndecided(undecided), "a reference without a name is none")
	undecided.DeletionTimestamp = &metav1.Time{Time: noon}
	assert.False(t, isUndecided(undecided), "what is going needs no plan")
	assert.False(t, isUndecided(&v1beta1.ServiceInstance{Spec: v1beta1.ServiceInstanceSpec{DecidedReference: v1beta1.DecidedReference{ServicePlanRef: &v1beta1.LocalObjectReference{Name: "p"}}}}))
}

func TestJudgeGuard(t *testing.T) {
	t.Parallel()
	g := guard{"policies", "vap", "admission policies", "much passes"}
	assert.Equal(t, okf("policies", "all admission policies are there (6 objects)"), judgeGuard(g, 6, nil))
	assert.Equal(t, warningf("policies", "kubectl apply -f deploy/vap", "missing: a, b; much passes"), judgeGuard(g, 6, []string{"b", "a"}))
	for _, g := range allGuards {
		objects, err := shipped(g.folder)
		require.NoError(t, err)
		assert.NotEmpty(t, objects, g.folder)
	}
}
