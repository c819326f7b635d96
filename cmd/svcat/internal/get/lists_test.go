package get

import (
	"bytes"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestOffers(t *testing.T) {
	t.Parallel()
	db, empty := key{name: "db-id"}, key{namespace: "dev", name: "own-id"}
	s := &offerings{classes: map[key]classRow{
		db:    {key: db, title: "db", description: "Databases", status: catalog.Active, bindable: true},
		empty: {key: empty, title: "own", description: "Ours", status: catalog.Active},
	}, plans: []planRow{
		{key: key{namespace: "dev", name: "3"}, class: "own-id", classTitle: "own", title: "tiny", status: catalog.Active, bindable: new(true), scope: "ns (dev)"},
		{key: key{name: "2"}, class: "db-id", classTitle: "db", title: "small", status: catalog.Active, serviceType: "mysql", effective: true, price: "free", bindable: new(false)},
		{key: key{name: "1"}, class: "db-id", classTitle: "db", title: "large", status: catalog.Active, serviceType: "mysql", price: "9.50 usd / MONTHLY"},
		{key: key{name: "4"}, class: "db-id", classTitle: "db", title: "gone", status: "Deprecated"},
	}}
	offers := offerTable{table[offerRow]{(&market{}).offers(s), offerColumns, true}, false}
	columns, lines := offers.cells(layoutTable)
	assert.Equal(t, []string{"type", "class", "plans", "price", "bindable", "description"}, columns)
	assert.Equal(t, [][]string{
		{"mysql", "db", "large", "9.50 usd / MONTHLY", "yes", "Databases"},
		{"mysql*", "", "small", "free", "no", ""},
		{"", "own", "tiny", "", "yes", "Ours"},
	}, lines, "a class once; a plan may say itself whether it is bindable")
	assert.Equal(t, []key{{name: "1"}, {name: "2"}, {namespace: "dev", name: "3"}}, offers.keys(), "a plan a row")
	assert.Equal(t, []key{db, empty}, classesOf(offers.of, s).keys(), "objects are the classes")
	offers.alone = true
	_, lines = offers.cells(layoutTable)
	assert.Equal(t, []string{"mysql*", "db", "small", "free", "no", "Databases"}, lines[1], "a row that is printed alone shows its class")
}

// TestEmptyNamespace: what is not in the namespace may be in the cluster.
func TestEmptyNamespace(t *testing.T) {
	t.Parallel()
	class := func(serviceType string) *v1beta1.ClusterServiceClass {
		c := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: serviceType}}
		c.Spec.ServiceType = serviceType
		return c
	}
	reader := fakeCluster(t, interceptor.Funcs{}, class("mysql"), class("redis"))
	for name, tc := range map[string]struct {
		reason string
		flags  flags
		scope  cli.Scope
		want   string
	}{
		"All":      {reason: "how many there are, and how to see them", scope: cli.ScopeOf("dev"), want: "no classes in namespace \"dev\"; the cluster has 2: svcat get classes --cluster\n"},
		"Filtered": {reason: "only those that are asked for", flags: flags{serviceType: "redis"}, scope: cli.ScopeOf("dev"), want: "no classes of type redis in namespace \"dev\"; the cluster has 1: svcat get classes --cluster --type redis\n"},
		"None":     {reason: "nor has the cluster any", flags: flags{serviceType: "x"}, scope: cli.ScopeOf("dev"), want: "no classes of type x in namespace \"dev\"\n"},
		"Cluster":  {reason: "the cluster was looked in", flags: flags{serviceType: "x"}, scope: cli.Scope{Cluster: true}, want: "no classes of type x in the cluster\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, told bytes.Buffer
			f := &classList{tc.flags}
			f.out.env = cli.NewEnv(genericiooptions.IOStreams{Out: &out, ErrOut: &told})
			l := f.listing("classes", "ServiceClass", "", nil)
			l.scope, l.client = tc.scope, reader
			require.NoError(t, l.empty(t.Context(), func(scope cli.Scope) (rows, error) {
				all, err := loadClasses(t.Context(), reader, catalog.Query{Scope: scope}, nil)
				return f.kept(all), err
			}))
			assert.Equal(t, tc.want, told.String(), tc.reason)
		})
	}
}

func TestPolicyRows(t *testing.T) {
	t.Parallel()
	uids := func(n int) []types.UID { return make([]types.UID, n) }
	limit := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "big"}}
	limit.Spec.Action, limit.Spec.Message = v1beta1.PolicyLimit, "ask Ann"
	limit.Spec.MaxInstances, limit.Spec.MaxBindings = ptr.To[int32](3), ptr.To[int32](1)
	limit.Spec.Subjects = []v1beta1.PolicySubject{
		{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql", PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}}},
		{PlanSubject: v1beta1.PlanSubject{ClassName: "db", PlanName: "large"}},
		{PlanSubject: v1beta1.PlanSubject{Costs: &v1beta1.PolicyCosts{Currency: "usd", Unit: "MONTHLY", Above: "100", Unknown: v1beta1.UnknownDeny}}},
		{PlanSubject: v1beta1.PlanSubject{ServiceType: "redis", Costs: &v1beta1.PolicyCosts{Currency: "eur", Unit: "GB", Above: "0.5", Unknown: v1beta1.UnknownAllow}}},
	}
	limit.Status = v1beta1.PolicyStatus{Plans: 2, Slots: []v1beta1.PolicySlots{
		{Namespace: "a", Instances: uids(1)}, {Namespace: "b", Instances: uids(3), Bindings: uids(1)}, {Namespace: "c"}, {Namespace: "d", Instances: uids(1)}, {Namespace: "e", Instances: uids(2)},
	}}
	deny := &v1beta1.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "private"}}
	deny.Spec.Action = v1beta1.PolicyDeny
	deny.Spec.Namespaces = &v1beta1.PolicyNamespaces{Names: []string{"x", "y"}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"env": "dev"}}}
	deny.Spec.Subjects = []v1beta1.BindingPolicySubject{
		{Instance: &v1beta1.PolicyInstance{Namespace: "shop", Name: "mydb"}}, {InstanceSelector: &metav1.LabelSelector{}},
	}
	deny.Status.Plans, deny.Status.Instances = 0, ptr.To[int32](1)
	var all []policyRow
	for _, policy := range []runtime.Object{limit, deny} {
		row, err := policyRowOf(policy)
		require.NoError(t, err)
		all = append(all, row)
	}
	_, lines := table[policyRow]{of: all, columns: policyColumns}.cells(layoutWide)
	assert.Equal(t, [][]string{
		{"big", "instances", "Limit", "type mysql plans with tier=gold, class db plan large, over 100 usd / MONTHLY or unknown, type redis over 0.5 eur / GB", "all", "3 instances, 1 binding", "b 3/3, e 2/3, a 1/3, 1 more, b 1/1", "2 plans", "ask Ann", ""},
		{"private", "bindings", "Deny", "instance shop/mydb, instances all", "x, y, with env=dev", "", "", "0 plans, 1 instance", "", ""},
	}, lines)
	_, err := policyRowOf(&v1beta1.ServiceInstance{})
	require.ErrorContains(t, err, "cannot show a *v1beta1.ServiceInstance")
}

// TestPoliciesOfOneName: those of both kinds are two objects.
func TestPoliciesOfOneName(t *testing.T) {
	t.Parallel()
	limit, deny := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "big"}}, &v1beta1.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "big"}}
	limit.Spec.Action, deny.Spec.Action = v1beta1.PolicyLimit, v1beta1.PolicyDeny
	other := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	other.Spec.Action = "E"
	var found []policyRow
	for _, policy := range []runtime.Object{limit, deny, other} {
		row, err := policyRowOf(policy)
		require.NoError(t, err)
		found = append(found, row)
	}
	var out bytes.Buffer
	f := &policyList{flags{sortBy: ".spec.action"}}
	f.command(cli.NewEnv(genericiooptions.IOStreams{Out: &out}), &cobra.Command{Use: "policies"}, nil)
	require.NoError(t, f.parse(nil))
	l := f.listing("policies", "", "", nil)
	l.kinds, l.scope, l.client = []string{kindProvisioningPolicy, kindBindingPolicy}, cli.Scope{Cluster: true}, fakeCluster(t, interceptor.Funcs{}, limit, deny, other)
	sorted := table[policyRow]{of: slices.Clone(found), columns: policyColumns}
	require.NoError(t, sorter{l}.rows(t.Context(), sorted))
	var order []string
	for _, row := range sorted.of {
		order = append(order, row.of+" "+row.action)
	}
	assert.Equal(t, []string{"bindings Deny", "instances E", "instances Limit"}, order, "each has a value of its own")

	l.one = true
	wanted, err := l.wanted(t.Context(), func(cli.Scope) (rows, error) { return table[policyRow]{of: found[:2]}, nil })
	require.NoError(t, err)
	printer, err := newCustomColumns("custom-columns", "A:.kind,B:.spec.action", true)
	require.NoError(t, err)
	require.NoError(t, l.showOne(t.Context(), l.client, printer, wanted))
	assert.Equal(t, "ProvisioningPolicy   Limit\nBindingPolicy        Deny\n", out.String(), "both of a name are shown, that for instances first")
}
