package svcat_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestGet prints every kind in every layout that is a table.
//
//nolint:tparallel // the parts share what was made; each only reads.
func TestGet(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	broker, db, mysql := s.Name("broker"), s.Name("db"), s.Name("mysql")
	cases := map[string][]string{
		"Brokers":         {"get", "brokers", broker, "--cluster"},
		"BrokersWide":     {"get", "brokers", broker, "--cluster", "-o", "wide"},
		"Classes":         {"get", "classes", "--cluster", "--broker", broker},
		"ClassesOfType":   {"get", "classes", "--cluster", "--type", mysql, "-o", "wide"},
		"Class":           {"get", "class", db, "--cluster"},
		"Plans":           {"get", "plans", "--cluster", "--class", db},
		"PlansWide":       {"get", "plans", "--cluster", "--broker", broker, "-o", "wide"},
		"PlansDefault":    {"get", "plans", "--cluster", "--type", mysql, "--default"},
		"Plan":            {"get", "plans", db + "/small", "--cluster"},
		"PlanOfClass":     {"get", "plan", "large", "--class", db, "--cluster"},
		"Instances":       {"get", "instances"},
		"InstancesWide":   {"get", "instances", "--type", mysql, "-o", "wide"},
		"InstancesOfPlan": {"get", "instances", "--plan", db + "/small"},
		"Instance":        {"get", "instance", "mydb"},
		"Bindings":        {"get", "bindings"},
		"BindingsWide":    {"get", "bindings", "--type", mysql, "-o", "wide"},
		"Binding":         {"get", "binding", "mydb-admin"},
		"Type":            {"get", "type", mysql, "--cluster"},
		"TypeWide":        {"get", "types", mysql, "--cluster", "-o", "wide"},
		"Marketplace":     {"marketplace", "--cluster", "--type", mysql},
		"MarketplaceWide": {"mp", "--cluster", "--type", mysql, "-o", "wide"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.golden(filepath.Join("get", name), s.plain(s.Svcat(args...)))
		})
	}
}

// TestGetAsObjects prints what the API server has: one object that is named alone,
// several as a list of kubectl's.
func TestGetAsObjects(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	db := s.Name("db")
	plans := []string{"get", "plans", "--cluster", "--class", db, "-o"}
	for _, format := range []string{"yaml", "json"} {
		printed := s.Svcat(append(plans, format)...)
		list := parsed(t, printed)
		assert.Equal(t, "List", list["kind"])
		assert.Equal(t, "v1", list["apiVersion"])
		assert.Len(t, list["items"], 2, format)
		assert.NotContains(t, printed, "managedFields")
		assert.Equal(t, s.kubectlPrints("clusterserviceplan", "-l", "servicecatalog.k8s.io/spec.clusterServiceClassRef.name="+s.classLabel(), "-o", format), printed,
			"%s: byte for byte as kubectl", format)

		one := s.Svcat("get", "plan", db+"/small", "--cluster", "-o", format)
		assert.Equal(t, "ClusterServicePlan", parsed(t, one)["kind"], format)
		assert.Equal(t, s.kubectlPrints("serviceinstance", "mydb", "-o", format), s.Svcat("get", "instance", "mydb", "-o", format))
		assert.Equal(t, s.kubectlPrints("serviceinstance", "-l", "no=such", "-o", format), s.Svcat("get", "instances", "--type", "none", "-o", format), "%s: an empty list", format)
	}
	assert.Contains(t, s.Svcat("get", "plan", db+"/small", "--cluster", "-o", "yaml", "--show-managed-fields"), "managedFields")
	assert.Equal(t, "large small", s.Svcat(append(plans, "jsonpath={.items[*].spec.externalName}")...))
	assert.Equal(t, "large\nsmall\n", s.Svcat(append(plans, `go-template={{range .items}}{{.spec.externalName}}{{"\n"}}{{end}}`)...))
	assert.Equal(t, "mysql-"+s.Suffix, s.Svcat("get", "instance", "mydb", "-o", "jsonpath={.spec.serviceType}"))
	names := strings.Fields(s.plain(s.Svcat(append(plans, "name")...)))
	assert.Equal(t, []string{"clusterserviceplan.servicecatalog.k8s.io/large-suffixed", "clusterserviceplan.servicecatalog.k8s.io/small-suffixed"}, names)
	assert.Equal(t, "clusterserviceclass.servicecatalog.k8s.io/db-suffixed", strings.TrimSpace(s.plain(s.Svcat("mp", "--cluster", "--type", s.Name("mysql"), "-o", "name"))))
}

// TestGetLists: the flags of kubectl's lists, and names as KIND/NAME.
func TestGetLists(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	db, name := s.Name("db"), "serviceinstance.servicecatalog.k8s.io/mydb"
	assert.Equal(t, name+"\n", s.Svcat("get", "instance/mydb", "-o", "name"))
	assert.Regexp(t, `(?s)\nEvents:\n +LAST SEEN .* FROM .*  Normal `, s.told("describe", name))
	assert.Contains(t, s.Svcat("get", "si", "mydb", "-o", "kyaml"), `kind: "ServiceInstance"`)
	s.Kubectl("", "label", "serviceinstance", "mydb", "team=a", "-n", s.Namespace)
	assert.Contains(t, s.Svcat("get", "instances", "-l", "team=a"), "mydb")
	assert.NotContains(t, s.told("get", "instances", "-l", "team!=a"), "mydb")
	plans := []string{"get", "plans", "--cluster", "--class", db, "--no-headers"}
	assert.Equal(t, "large   false\nsmall   true\n", s.Svcat(append(plans, "--sort-by", ".spec.description", "-o", "custom-columns=NAME:.spec.externalName,FREE:.spec.free")...))
	assert.Regexp(t, `^ +\S+ +large (?s:.*)\n +\S+ +small `, s.Svcat(append(plans, "--sort-by", ".spec.description")...))
	assert.Regexp(t, `mysql-\S+ +\S+ +large +yes +Databases\n +mysql-\S+ +small +free +yes\n`, s.Svcat("marketplace", "--type", s.Name("mysql")), "the cluster's plans can be ordered in the namespace")
	market := []string{"marketplace", "--no-headers", "-l", "servicecatalog.k8s.io/spec.clusterServiceClassRef.name=" + s.classLabel()}
	assert.Equal(t, db+"\n", s.Svcat(append(market, "-o", "custom-columns=NAME:.spec.externalName")...))
	assert.Regexp(t, `^[^\n]+ large [^\n]+\n[^\n]+ small [^\n]+\n$`, s.Svcat(append(market, "--sort-by", ".spec.description")...))

	watch := s.start("", "get", "instances", "--watch")
	seen := func(text string) {
		s.Eventually(func() (bool, error) { return strings.Contains(watch.out.String(), text), nil })
	}
	seen("mydb ")
	s.Svcat("unbind", "mydb", "--wait", "--yes")
	s.Svcat("deprovision", "instance/mydb", "--wait", "--yes")
	seen("(deleted)")
	watch.interrupt()
	got := watch.ends()
	assert.Zero(t, got.code, got.err)
	assert.Equal(t, 1, strings.Count(got.out, "NAMESPACE"), "one header")
}

// classLabel is the hashed label of the display's class.
func (s *display) classLabel() string {
	s.Helper()
	return s.Svcat("get", "plan", s.Name("db")+"/small", "--cluster", "-o", `jsonpath={.metadata.labels.servicecatalog\.k8s\.io/spec\.clusterServiceClassRef\.name}`)
}

// kubectlPrints is what `kubectl get` prints.
func (s *display) kubectlPrints(args ...string) string {
	s.Helper()
	stdout, stderr, err := s.Stack.Kubectl(s.Context(), "", append([]string{"-n", s.Namespace, "get"}, args...)...)
	require.NoError(s, err, stderr)
	return stdout
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

// TestGetFails: what is wrong is said, with what there is; an empty list is no
// failure.
//
//nolint:tparallel // the parts share what was made; each only reads.
func TestGetFails(t *testing.T) {
	t.Parallel()
	s := newDisplay(t)
	cases := map[string]struct {
		reason string
		code   int
		args   []string
		want   string
	}{
		"Absent":        {reason: "a name that is not there is answered with those that are", code: 1, args: []string{"get", "instance", "mydc"}, want: `error: no instance "mydc" in namespace "a-namespace"; did you mean mydb? instances: mydb`},
		"AbsentPlan":    {reason: "a plan is looked for in the class", code: 1, args: []string{"get", "plan", s.Name("db") + "/smal", "--cluster"}, want: `error: no plan "smal" in class db-suffixed; did you mean small? plans: large, small`},
		"AbsentClass":   {reason: "a class to narrow by is a name too", code: 1, args: []string{"get", "plans", "--class", "redis"}, want: `error: no class "redis" in namespace "a-namespace"; there are no classes`},
		"Empty":         {reason: "nothing there is said, with what the cluster has, and no failure", code: 0, args: []string{"get", "plans", "--type", s.Name("mysql")}, want: `no plans of type mysql-suffixed in namespace "a-namespace"; the cluster has 2: svcat get plans --cluster --type mysql-suffixed`},
		"EmptyFiltered": {reason: "what was asked for is said again", code: 0, args: []string{"get", "instances", "--type", "redis", "--class", s.Name("db")}, want: `no instances of type redis of class db-suffixed in namespace "a-namespace"`},
		"SlipOfType":    {reason: "a type that was meant is said", code: 0, args: []string{"get", "instances", "--type", "mysq-" + s.Suffix}, want: `no instances of type mysq-suffixed in namespace "a-namespace"; did you mean mysql-suffixed?`},
		"SlipOfClass":   {reason: "a class that is not there is no empty list", code: 1, args: []string{"get", "instances", "--class", "d-" + s.Suffix}, want: `error: no class "d-suffixed" in the cluster and namespace "a-namespace"; did you mean db-suffixed? classes: `},
		"SlipOfPlan":    {reason: "nor is a plan", code: 1, args: []string{"get", "instances", "--plan", s.Name("db") + "/smal"}, want: `error: no plan "smal" in class db-suffixed; did you mean small? plans: large, small`},
		"SlipOfBroker":  {reason: "nor a broker", code: 1, args: []string{"get", "plans", "--broker", "brokr-" + s.Suffix}, want: `error: no broker "brokr-suffixed" in the cluster and namespace "a-namespace"; did you mean broker-suffixed? brokers: `},
		"OtherType":     {reason: "what is named must pass the filters too", code: 1, args: []string{"get", "plan", s.Name("db") + "/small", "--cluster", "--type", "redis"}, want: `error: no plans called db-suffixed/small of type redis in the cluster`},
		"NotDefault":    {reason: "as above", code: 1, args: []string{"get", "plan", s.Name("db") + "/large", "--cluster", "--default"}, want: `error: no plans called db-suffixed/large that stand for a type in the cluster`},
		"OtherClass":    {reason: "as above", code: 1, args: []string{"get", "instance", "mydb", "--plan", s.Name("db") + "/large"}, want: `error: no instances called mydb of plan db-suffixed/large in namespace "a-namespace"`},
		"OtherBinding":  {reason: "as above, for objects", code: 1, args: []string{"get", "binding", "mydb-admin", "--type", "redis", "-o", "yaml"}, want: `error: no bindings called mydb-admin of type redis in namespace "a-namespace"`},
		"EmptyName":     {reason: "half a name is none", code: 2, args: []string{"get", "plan", "/"}, want: `error: "/" names no plan; give NAME or CLASS/PLAN`},
		"NoName":        {reason: "an empty word is a variable that is not set", code: 2, args: []string{"get", "class", ""}, want: `error: svcat get classes: the name is empty`},
		"Contradiction": {reason: "both cannot be", code: 2, args: []string{"get", "plans", "--cluster", "--scope", "namespace"}, want: `error: --cluster and --scope namespace contradict each other; give one of them`},
		"EmptyDefault":  {reason: "no plan stands for a type here", code: 0, args: []string{"get", "plans", "--default"}, want: `no plans that stand for a type in namespace "a-namespace"`},
		"NoMarket":      {reason: "nothing to order in the namespace alone", code: 0, args: []string{"marketplace", "--scope", "namespace", "--type", s.Name("mysql")}, want: `no plans to order of type mysql-suffixed in namespace "a-namespace"`},
		"Output":        {reason: "the layouts that there are, are listed", code: 2, args: []string{"get", "plans", "-o", "tabel"}, want: `error: --output is "tabel"; allowed are table, wide, legacy, json, yaml, kyaml, name, jsonpath=…, go-template=…, custom-columns=… and custom-columns-file=…`},
		"BadTemplate":   {reason: "a template is read before anything is asked for", code: 2, args: []string{"get", "plans", "-o", "jsonpath={.items"}, want: "error: --output: "},
		"TwoNames":      {reason: "one name at most", code: 2, args: []string{"get", "plans", "a", "b"}, want: "error: svcat get plans takes one name at most, not 2"},
		"Kind":          {reason: "kinds that there are, are listed", code: 2, args: []string{"get", "planz"}, want: `error: cannot get "planz"; did you mean plans? allowed are brokers, classes, plans, instances, bindings, types, policies`},
		"NoKind":        {reason: "get alone gets nothing", code: 2, args: []string{"get"}, want: "error: say what to get: "},
		"Scope":         {reason: "scopes that there are, are listed", code: 2, args: []string{"get", "classes", "--scope", "moon"}, want: `error: --scope is "moon"; allowed are cluster, namespace and all`},
		"Flag":          {reason: "an unknown flag is a usage error", code: 2, args: []string{"get", "classes", "--nosuch"}, want: "error: unknown flag: --nosuch; see svcat get classes --help"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := s.run("", append([]string{"-n", s.Namespace}, tc.args...)...)
			assert.Equal(t, tc.code, got.code, tc.reason)
			assert.Empty(t, got.out)
			first, _, _ := strings.Cut(s.plain(got.err), "\n")
			assert.True(t, strings.HasPrefix(first, tc.want), "%s: %s", tc.reason, first)
		})
	}
}

// What is made by class and plan has the type of its plan wherever types are shown or asked for, and
// what chose the plan is told as it is now.
func TestTypeOfWhatIsMadeByPlan(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	mysql, redis := s.Name("mysql"), s.Name("redis")
	s.Svcat("provision", "mydb", "--class", s.Name("azure-mysql"), "--plan", "basic50", "--wait")
	s.Svcat("bind", "mydb", "--wait")
	require.Empty(t, s.instance("mydb").Spec.ServiceType)
	for _, kind := range []string{"instances", "bindings"} {
		assert.Contains(t, s.told("get", kind, "--type", mysql), "mydb", kind)
		assert.NotContains(t, s.told("get", kind, "--type", redis), "mydb", kind)
		assert.Contains(t, s.Kubectl("", "get", "service"+kind, "-n", s.Namespace, "-o", "wide"), " "+mysql+" ", kind)
	}
	assert.Regexp(t, `Type: +`+mysql+`\n`, s.told("describe", "instance", "mydb"))

	s.database("other")
	assert.Regexp(t, `Chosen By: +suggested in the cluster\n`, s.told("describe", "instance", "other"))
	other := s.instance("other")
	s.Change(other, func() { other.Spec.ClusterServicePlanExternalName = "basic50" })
	s.Ready(other)
	assert.Regexp(t, `Chosen By: +named\n`, s.told("describe", "instance", "other"))
	resolved, _ := api.FindCondition(other.Status.Conditions, api.ConditionResolved)
	assert.Equal(t, "Named", resolved.Reason)
}
