package instances

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/parameters"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/planflags"
)

// offered is a class with two plans, and one with one.
func offered() []client.Object {
	plan := func(class, name string) client.Object {
		p := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: class + "-" + name}}
		p.Spec.ExternalName, p.Spec.ClusterServiceClassRef.Name = name, class
		return p
	}
	class := func(name string) client.Object {
		c := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.ExternalName = "azure-" + name
		return c
	}
	return []client.Object{class("mysql"), plan("mysql", "small"), plan("mysql", "large"), class("redis"), plan("redis", "large")}
}

// ordered is an instance of mysql/small.
func ordered() *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	i.Spec.ServiceType = "mysql"
	i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "mysql"}
	i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "mysql-small"}
	i.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: `{"class":"azure-mysql","plan":"small"}`}
	i.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"big":9007199254740993,"location":"s3cr3t"}`)}
	return i
}

// clientWith is a client of a cluster with these objects, where the first patch finds that
// another client wrote before.
func clientWith(t *testing.T, before func(ctx context.Context, c client.Client), objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	inner := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceClassRefName, func(o client.Object) []string {
			plan, _ := o.(*v1beta1.ClusterServicePlan)
			return []string{plan.Spec.ClusterServiceClassRef.Name}
		}).Build()
	first := true
	return interceptor.NewClient(inner, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if first && before != nil {
			first = false
			before(ctx, c)
		}
		return c.Patch(ctx, object, patch, options...)
	}})
}

func TestUpdateEdits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		flags  parameters.Flags
		unset  []string
		plan   planflags.Flags
		// selector says that the plan was chosen by labels.
		selector bool
		// other is what another client makes of the parameters right before.
		other string

		said, wrong, parameters, planName, planKubeName string
	}{
		"Parameter": {
			reason: "no value is told, and no number rounded", flags: parameters.Flags{Params: []string{"location=n3w", "tier=n3w"}},
			said: "parameters location, tier set", parameters: `{"big":9007199254740993,"location":"n3w","tier":"n3w"}`,
		},
		"Conflict": {
			reason: "it is made again on what there is then", flags: parameters.Flags{Params: []string{"tier=n3w"}}, unset: []string{"location"}, other: `{"location":"s3cr3t","theirs":true}`,
			said: "parameter tier set; parameter location taken away", parameters: `{"theirs":true,"tier":"n3w"}`,
		},
		"Gone":         {reason: "another client took it away meanwhile", unset: []string{"location"}, other: `{"theirs":"s3cr3t"}`, wrong: `no parameter "location"; parameters: theirs`},
		"Plan":         {reason: "by its external name", plan: planflags.Flags{Plan: "large"}, said: "plan small becomes large", planName: "large"},
		"ClassAndPlan": {reason: "a class that is its own", plan: planflags.Flags{Plan: "azure-mysql/large"}, said: "plan small becomes large", planName: "large"},
		"KubeName":     {reason: "by its Kubernetes name", plan: planflags.Flags{Plan: "mysql-large", KubeName: true}, said: "plan small becomes large", planKubeName: "mysql-large"},
		"Selected":     {reason: "a selector is cleared: it stands beside no plan", plan: planflags.Flags{Plan: "large"}, selector: true, said: "plan small becomes large", planName: "large"},
		"NoPlan":       {reason: "what there is", plan: planflags.Flags{Plan: "larg"}, wrong: `no plan "larg" in class azure-mysql; did you mean large? plans: large, small`},
		"OtherClass":   {reason: "an instance stays in its class", plan: planflags.Flags{Plan: "azure-redis/large"}, wrong: `--plan is of class "azure-redis", and instance "db" is of class "azure-mysql"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := ordered()
			if tc.selector {
				stored.Spec.PlanSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"size": "small"}}
			}
			theirs := func(ctx context.Context, c client.Client) {
				if tc.other == "" {
					return
				}
				now := &v1beta1.ServiceInstance{}
				assert.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(stored), now))
				now.Spec.Parameters = &runtime.RawExtension{Raw: []byte(tc.other)}
				assert.NoError(t, c.Update(ctx, now))
			}
			c := clientWith(t, theirs, append(offered(), stored)...)
			u := &update{plan: tc.plan}
			edit, err := parameters.NewEdit(&tc.flags, tc.unset)
			require.NoError(t, err)
			instance := &v1beta1.ServiceInstance{}
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(stored), instance))
			changed, err := u.apply(t.Context(), c, edit, instance)
			if tc.wrong != "" {
				require.ErrorContains(t, err, tc.wrong, tc.reason)
				assert.NotContains(t, err.Error(), "s3cr3t")
				return
			}
			require.NoError(t, err, tc.reason)
			assert.Equal(t, tc.said, changed.String(), tc.reason)
			now := &v1beta1.ServiceInstance{}
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(stored), now))
			if tc.parameters != "" {
				assert.JSONEq(t, tc.parameters, string(now.Spec.Parameters.Raw), tc.reason)
			}
			assert.Equal(t, tc.planName, now.Spec.ClusterServicePlanExternalName, tc.reason)
			assert.Equal(t, tc.planKubeName, now.Spec.ClusterServicePlanName, tc.reason)
			if tc.selector {
				assert.Equal(t, &metav1.LabelSelector{}, now.Spec.PlanSelector, tc.reason)
			}
		})
	}
}

// A merge patch could not set a null, and would round the number.
func TestUpdateSendsWhatIsGiven(t *testing.T) {
	t.Parallel()
	before := ordered()
	before.ResourceVersion = "7"
	before.Spec.ClusterServicePlanName = "mysql-small"
	after := before.DeepCopy()
	after.Spec.Parameters.Raw = []byte(`{"big":9007199254740993,"location":null}`)
	after.Spec.ClusterServicePlanName, after.Spec.ClusterServicePlanExternalName = "", "large"
	got, err := specPatch{before}.Data(after)
	require.NoError(t, err)
	want := `[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
		`{"op":"remove","path":"/spec/clusterServicePlanName"},` +
		`{"op":"add","path":"/spec/clusterServicePlanExternalName","value":"large"},` +
		`{"op":"add","path":"/spec/parameters","value":{"big":9007199254740993,"location":null}}]`
	assert.Equal(t, want, string(got), "byte for byte: JSONEq rounds numbers")
}

func TestUpdateAsksWhat(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"Nothing":  {[]string{"db"}, "say what changes: --param NAME=VALUE"},
		"KubeName": {[]string{"db", "-k", "--param", "a=1"}, "--kube-name says how --plan is meant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := newUpdateInstance(&cli.Env{})
			cmd.SetArgs(tc.args)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetErr(&bytes.Buffer{})
			err := cmd.ExecuteContext(t.Context())
			require.ErrorContains(t, err, tc.want)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

// TestChangesAreOneLine: names that others gave make no line, and steer no terminal.
func TestChangesAreOneLine(t *testing.T) {
	t.Parallel()
	c := changes{set: []string{"a\tb", "c\nd"}, unset: []string{"e\x1b[2J"}, plan: "plan small becomes l\u009b\u202earge"}
	assert.Equal(t, "parameters a b, c d set; parameter e\ufffd[2J taken away; plan small becomes l\ufffd\ufffdarge", c.String())
}
