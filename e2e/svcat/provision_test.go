package svcat_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// ordered is what the proposal's instances come to.
const ordered = `{"location": "westus", "resourceGroup": "default", "sslEnforcement": "disabled",
	"firewallRules": [{"name": "AllowAll", "startIPAddress": "0.0.0.0", "endIPAddress": "255.255.255.255"}]}`

// The proposal's first block: a class and a plan, one parameter of the user's own,
// the others from the class.
func TestProvisionWithDefaults(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	args := []string{"provision", "mydb", "--class", s.Name("azure-mysql"), "--plan", "basic50", "--param", "location=westus"}
	s.golden("provision-class-manifest", s.normal(s.Svcat(append(args, "--dry-run=client", "-o", "yaml")...)))
	s.golden("provision-class", s.normal(s.told(append(args, "--wait")...)))

	spec := s.instance("mydb").Spec
	assert.Equal(t, s.Name("azure-mysql"), spec.ClusterServiceClassExternalName)
	assert.Equal(t, "basic50", spec.ClusterServicePlanExternalName)
	assert.Empty(t, spec.ServiceType)
	assert.JSONEq(t, ordered, string(spec.Parameters.Raw))
}

// The proposal's second block: a type alone. Its default plan is taken, and the
// plan's default comes to those of the class.
func TestProvisionByType(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	args := []string{"provision", "mydb", "--type", s.Name("mysql"), "--param", "location=westus"}
	s.golden("provision-type-manifest", s.normal(s.Svcat(append(args, "--dry-run=client", "-o", "yaml")...)))
	s.golden("provision-type", s.normal(s.told(append(args, "--wait")...)))

	instance := s.instance("mydb")
	assert.Equal(t, s.Name("mysql"), instance.Spec.ServiceType)
	assert.Equal(t, s.id("997b8372-8dac-40ac-ae65-758b4a5075a5"), instance.Spec.ClusterServiceClassRef.Name)
	assert.Equal(t, s.id("f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"), instance.Spec.ClusterServicePlanRef.Name)
	want := decoded(t, []byte(ordered))
	want["backup-schedule"] = "1d"
	assert.Equal(t, want, decoded(t, instance.Spec.Parameters.Raw))
	assert.Equal(t, "premium-p1", instance.Status.ExternalProperties.ClusterServicePlanExternalName)
	require.Len(t, s.broker.Instances(), 1)
}

// Each way to say which plan, and the fields that it becomes.
func TestProvisionEachWay(t *testing.T) { //nolint:tparallel // The cases share one env, one after the other.
	t.Parallel()
	s := newShop(t)
	mysql, class, plan := s.Name("azure-mysql"), s.id("997b8372-8dac-40ac-ae65-758b4a5075a5"), s.id("427559f1-bf2a-45d3-8844-32374a3e58aa")
	s.Svcat("register", "own", "--url", s.broker.URL, "--wait") // the same catalog in the namespace, under the same names
	for name, way := range map[string]struct {
		reason string
		args   []string
		want   api.PlanReference
	}{
		"ByKubeName": {
			reason: "Kubernetes names are sent as such, and the namespace comes first",
			args:   []string{"--class", class, "--plan", plan, "--kube-name"},
			want:   api.PlanReference{ServiceClassName: class, ServicePlanName: plan},
		},
		"ByTheNamespace": {
			reason: "a class of the namespace hides one of the cluster",
			args:   []string{"--class", mysql, "--plan", "basic50"},
			want:   api.PlanReference{ServiceClassExternalName: mysql, ServicePlanExternalName: "basic50"},
		},
		"ByBothNames": {
			reason: "CLASS/PLAN is one word",
			args:   []string{"--plan", mysql + "/basic50"},
			want:   api.PlanReference{ServiceClassExternalName: mysql, ServicePlanExternalName: "basic50"},
		},
		"ByMixedNames": {
			reason: "what was called by its Kubernetes name is sent so",
			args:   []string{"--class", mysql, "--plan", plan},
			want:   api.PlanReference{ServiceClassExternalName: mysql, ServicePlanName: plan},
		},
		"ByClass": {
			reason: "admission takes the class's suggested plan",
			args:   []string{"--class", mysql},
			want:   api.PlanReference{ServiceClassExternalName: mysql, ServicePlanExternalName: "premium-p1"},
		},
		"ByClassAndType": {
			reason: "a type may stand beside a class",
			args:   []string{"--class", mysql, "--type", s.Name("mysql")},
			want:   api.PlanReference{ServiceClassExternalName: mysql, ServicePlanExternalName: "premium-p1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dry := s.Svcat(append([]string{"provision", "mydb", "--dry-run=server", "-o", "name"}, way.args...)...)
			assert.Contains(t, dry, "serviceinstance", way.reason)
			s.Svcat(append([]string{"provision", lower(name)}, way.args...)...)
			spec := s.instance(lower(name)).Spec
			assert.Equal(t, way.want, spec.PlanReference, way.reason)
			assert.True(t, spec.Decided(), way.reason)
		})
	}
}

// A selector takes the plan whose labels match; a type may narrow it.
func TestProvisionBySelector(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for name, label := range map[string]string{"label": api.LabelAttributePrefix + "Cores=8", "attribute": "Cores=8"} {
		s.Svcat("provision", name, "--type", s.Name("mysql"), "--selector", label)
		spec := s.instance(name).Spec
		assert.Equal(t, s.id("f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"), spec.ClusterServicePlanRef.Name, name)
		assert.Equal(t, &metav1.LabelSelector{MatchLabels: map[string]string{api.LabelAttributePrefix + "Cores": "8"}}, spec.PlanSelector, name)
	}
}

// Numbers arrive as they were written, from a file too; and a Secret is named.
func TestProvisionParameters(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "mysecret"}, StringData: map[string]string{"more": `{"password": "hidden"}`}}
	require.NoError(t, s.Client().Create(t.Context(), secret))
	file := filepath.Join(t.TempDir(), "parameters.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"big": 9223372036854775807, "exact": 0.10, "list": [1, "a"]}`), 0o600))
	printed := s.Svcat("provision", "cache", "--class", s.Name("azure-redis"), "--plan", "basic-c0", "--params-json", "@"+file, "-s", "mysecret[more]", "--wait")
	assert.NotContains(t, printed, "hidden")

	instance := s.instance("cache")
	assert.Contains(t, string(instance.Spec.Parameters.Raw), `9223372036854775807`)
	assert.Equal(t, "mysecret", instance.Spec.ParametersFrom[0].SecretKeyRef.Name)
	for _, there := range s.broker.Instances() {
		assert.Equal(t, "hidden", there.Parameters["password"], "the broker was sent it")
	}
}

// What is wrong on the command line is reported before anything is sent; what
// no command has is told with what there is.
func TestProvisionErrors(t *testing.T) { //nolint:tparallel // The cases share one env, one after the other.
	t.Parallel()
	s := newShop(t)
	mysql := s.Name("azure-mysql")
	for name, wrong := range map[string]struct {
		reason string
		code   int
		args   []string
	}{
		"Nothing":        {"it must be said what", 2, []string{"mydb"}},
		"NoName":         {"the name is missing", 2, []string{"--type", "mysql"}},
		"Both":           {"names and labels", 2, []string{"mydb", "--class", mysql, "--selector", "a=b"}},
		"BothParameters": {"two ways to give parameters", 2, []string{"mydb", "--type", "mysql", "--param", "password=s3cr3t", "--params-json", "{}"}},
		"BadSelector":    {"no label selector", 2, []string{"mydb", "--selector", "a=b=c"}},
		"BadParam":       {"a value is not repeated", 2, []string{"mydb", "--type", "mysql", "--param", "s3cr3t"}},
		"BadQuotes":      {"a value is not repeated", 2, []string{"mydb", "--type", "mysql", "--param", `"s3cr3t"x=1`}},
		"EmptyName":      {"no instance has it", 2, []string{"", "--type", "mysql"}},
		"BadJSON":        {"a value is not repeated", 2, []string{"mydb", "--type", "mysql", "--params-json", `{"password": s3cr3t}`}},
		"BadSecret":      {"it must be SECRET[KEY]", 2, []string{"mydb", "--type", "mysql", "--secret", "s3cr3t"}},
		"BadTimeout":     {"a time", 2, []string{"mydb", "--type", "mysql", "--timeout", "soon"}},
		"BadDryRun":      {"one of three words", 2, []string{"mydb", "--type", "mysql", "--dry-run=maybe"}},
		"UnknownClass":   {"the nearest is named", 1, []string{"mydb", "--class", s.Name("azure-mysqk")}},
		"UnknownPlan":    {"the plans of the class", 1, []string{"mydb", "--class", mysql, "--plan", "basic60"}},
		"NoSuchFile":     {"the file", 1, []string{"mydb", "--type", "mysql", "--params-json", "@/nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := s.SvcatFails(wrong.code, append([]string{"provision"}, wrong.args...)...)
			assert.NotContains(t, told, "s3cr3t")
			assert.NotContains(t, told, "3cr3t")
			if name != "UnknownClass" { // it lists those of other tests
				s.golden("provision-error-"+lower(name), s.normal(told))
				return
			}
			assert.Contains(t, told, "did you mean "+mysql+"?")
		})
	}
	s.Svcat("provision", "mydb", "--class", mysql, "--plan", "basic50")
	assert.Contains(t, s.SvcatFails(1, "provision", "mydb", "--class", mysql, "--plan", "basic50"), "already exists")
	assert.Contains(t, s.SvcatFails(1, "provision", "other", "--type", s.Name("nothing")), s.Name("nothing"), "admission's own words")
}

// Dry runs store nothing: client sends nothing, server has admission decide.
func TestProvisionDryRun(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	args := []string{"provision", "mydb", "--type", s.Name("mysql")}
	s.Svcat(append(args, "--dry-run")...)
	assert.Contains(t, s.Svcat(append(args, "--dry-run=server", "-o", "yaml")...), s.id("f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"))
	assert.Contains(t, s.Svcat(append(args, "--dry-run=server", "--wait")...), "server dry run: nothing was stored", "nothing is waited for")
	list := api.ServiceInstanceList{}
	require.NoError(t, s.Client().List(t.Context(), &list))
	for _, instance := range list.Items {
		assert.NotEqual(t, s.Namespace, instance.Namespace)
	}
	assert.Equal(t, "serviceinstance.servicecatalog.k8s.io/mydb\n", s.told(append(args, "-o", "name", "--wait")...))
}

// Every flag of the older svcat, once.
func TestProvisionAsEver(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.secret("mysecret", "dbparams", `{"secret": "s3cr3t"}`)
	redis := s.Name("azure-redis")
	s.Svcat("provision", "wordpress", "--class", redis, "--plan", "basic-c0", "-p", "location=eastus", "-p", "sslEnforcement=disabled,more=1", "-p", "list=a", "-p", "list=b",
		"--wait", "--timeout", "1m", "--interval", "1s")
	assert.JSONEq(t, `{"location": "eastus", "sslEnforcement": "disabled", "more": "1", "list": ["a", "b"]}`, string(s.instance("wordpress").Spec.Parameters.Raw))
	s.Svcat("provision", "known", "--external-id", "a7c00676-4398-11e8-842f-"+s.Suffix, "--class", redis, "--plan", "basic-c0", "--wait")
	assert.Equal(t, "a7c00676-4398-11e8-842f-"+s.Suffix, s.instance("known").Spec.ExternalID)
	s.Svcat("provision", "secret", "--class", redis, "--plan", "basic-c0", "--secret", "mysecret[dbparams]", "--wait")
	s.Svcat("provision", "json", "--class", s.id("0346088a-d4b2-4478-aa32-f18e295ec1d9"), "--plan", s.id("362b3d1b-5b57-4289-80ad-4a15a760c29c"), "-k",
		"--params-json", "{\n\"encrypt\" : true,\n\"rules\" : [{\"name\": \"AllowSome\"}]}", "--wait")
	assert.JSONEq(t, `{"encrypt": true, "rules": [{"name": "AllowSome"}], "location": "eastus"}`, string(s.instance("json").Spec.Parameters.Raw))

	s.Svcat("touch", "instance", "wordpress")
	assert.Equal(t, "instance \"wordpress\" was touched (client dry run)\n", s.told("touch", "instance", "wordpress", "--dry-run"))
	assert.Equal(t, int64(1), s.instance("wordpress").Spec.UpdateRequests)
	assert.Contains(t, s.told("deprovision", "wordpress", "--dry-run=server", "-o", "yaml"), "name: wordpress")
	assert.Equal(t, "deleted wordpress\n", s.told("deprovision", "wordpress", "--wait", "--timeout", "1m", "--interval", "1s"))
	assert.Contains(t, s.told("deprovision", "json"), "deleted json")
	s.Svcat("deprovision", "secret", "--abandon", "-y")
}
