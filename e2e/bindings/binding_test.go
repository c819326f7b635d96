package bindings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestBindingTakesWhatThePlanGives is the worked example: the plan's user and its
// name for a key, and a binding that wants another user.
func TestBindingTakesWhatThePlanGives(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.Kubectl(files(e.ReaderClass(), e.ReaderPlan()), "apply", "-f", "-")
	e.Kubectl(e.ReadInstance(), "apply", "-f", "-")
	said := e.Kubectl(e.AdminBinding(), "apply", "-f", "-")
	assert.Contains(t, said, "Warning: defaults set tls")
	assert.Contains(t, said, "Warning: defaults of plan "+e.Name("c")+"/"+e.Name("p")+" add 1 secret transforms")
	assert.Contains(t, said, "servicebinding.servicecatalog.k8s.io/creds created")
	got := isWhole(e, "as applied")
	assert.Equal(t, env.Admin, got.Spec.UserInfo.Username)
	assert.Empty(t, got.Spec.ServiceType, "the instance names its plan, and no type")
	assert.Empty(t, e.Owned(got, bindingHookFields), "no manager owns what admission set")

	assert.Equal(t, "servicebinding.servicecatalog.k8s.io/creds unchanged\n", e.Kubectl(e.AdminBinding(), "apply", "-f", "-"))
	assert.Empty(t, e.Kubectl(e.AdminBinding(), "diff", "-f", "-"))
	assert.Empty(t, cmp.Diff(got, e.StoredBinding("creds")), "(-before +after) the second time nothing is written")
}

// bindingHookFields are the fields of a binding that only admission writes.
var bindingHookFields = append([][]string{
	{"f:spec", "f:secretName"}, {"f:spec", "f:serviceType"}, {"f:spec", "f:secretTransforms"}, {"f:spec", "f:parameters", "f:tls"},
}, env.HookFields...)

// TestBindingHasItsInstancesType: the type is the instance's, and says so.
func TestBindingHasItsInstancesType(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.Kubectl(files(e.ReaderClass(), e.ReaderPlan()), "apply", "-f", "-")
	e.Kubectl("", "annotate", "clusterserviceplan", e.Name("p"), api.AnnotationDefaultPlan+"=true")
	e.Kubectl(e.Manifest("mydb", "{serviceType: NAME(mysql)}"), "apply", "-f", "-")
	e.Kubectl(e.AdminBinding(), "apply", "-f", "-")
	assert.Equal(t, e.Name("mysql"), isWhole(e, "by type").Spec.ServiceType)
	e.Kubectl(e.ManifestOf("ServiceBinding", "same", "{instanceRef: {name: mydb}, serviceType: NAME(mysql)}"), "apply", "-f", "-")
	said := e.KubectlFails(e.ManifestOf("ServiceBinding", "other", "{instanceRef: {name: mydb}, serviceType: NAME(redis)}"), "apply", "-f", "-")
	assert.Contains(t, said, `spec.serviceType: instance "mydb" is of type "`+e.Name("mysql")+`", not of "`+e.Name("redis")+`"`)
}

// TestBindingBesideItsInstance: both in one file, and the catalog too, in
// whatever order. The file applied again changes nothing.
func TestBindingBesideItsInstance(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		before, files func(e *env.Env) string
	}{
		"InstanceFirst": {
			reason: "its instance is milliseconds old",
			before: func(e *env.Env) string { return files(e.ReaderClass(), e.ReaderPlan()) },
			files:  func(e *env.Env) string { return files(e.ReadInstance(), e.AdminBinding()) },
		},
		"BindingFirst": {
			reason: "the keeper wakes it",
			before: func(e *env.Env) string { return files(e.ReaderClass(), e.ReaderPlan()) },
			files:  func(e *env.Env) string { return files(e.AdminBinding(), e.ReadInstance()) },
		},
		"WithTheCatalog": {
			reason: "all of it is milliseconds old",
			files: func(e *env.Env) string {
				return files(e.ReaderClass(), e.ReaderPlan(), e.ReadInstance(), e.AdminBinding())
			},
		},
		"BeforeTheCatalog": {
			reason: "the keeper wakes the instance, and then the binding",
			files: func(e *env.Env) string {
				return files(e.AdminBinding(), e.ReadInstance(), e.ReaderPlan(), e.ReaderClass())
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := env.New(t)
			if tc.before != nil {
				e.Kubectl(tc.before(e), "apply", "-f", "-")
			}
			all := tc.files(e)
			e.Kubectl(all, "apply", "-f", "-")
			e.BindingDecided("creds")
			got := isWhole(e, tc.reason)
			assert.Equal(t, env.Admin, got.Spec.UserInfo.Username, "the user who applied it, not the keeper")
			for line := range strings.Lines(e.Kubectl(all, "apply", "-f", "-")) {
				assert.Regexp(t, ` unchanged\n$`, line)
			}
			assert.Empty(t, cmp.Diff(essence(got), essence(e.StoredBinding("creds"))), "(-before +after)")
		})
	}
}

// TestBindingIsForgottenWithItsInstance: an instance that is being deleted is
// bound to no more; with another of the same name it goes on.
func TestBindingIsForgottenWithItsInstance(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddReader()
	held := e.Stored("mydb")
	e.Patch(held, `{"metadata":{"finalizers":["`+env.HoldFinalizer+`","`+api.FinalizerServiceCatalog+`"]}}`)
	e.Terminate("mydb")
	// The webhook learns of it by a watch.
	e.Eventually(func() (bool, error) {
		_, said, err := e.Stack.Kubectl(t.Context(), e.AdminBinding(), "-n", e.Namespace, "create", "--dry-run=server", "-f", "-")
		return err != nil && strings.Contains(said, `instance "mydb" is being deleted`), nil
	})
	e.Patch(held, `{"metadata":{"finalizers":null}}`)
	e.Gone(held)
	said := e.Kubectl(e.AdminBinding(), "apply", "-f", "-")
	require.Contains(t, said, `Warning: no plan is decided yet: instance "mydb" does not exist yet; the binding waits`)
	e.Kubectl(e.ReadInstance(), "apply", "-f", "-")
	e.BindingDecided("creds")
	isWhole(e, "with the next instance of that name")
}

// TestBindingToAPlanThatIsGone: the instance lives on, and so does the binding
// that waits for it.
func TestBindingToAPlanThatIsGone(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddReader()
	require.NoError(t, e.Client().Delete(t.Context(), env.Plan{Name: e.Name("p")}.Object()))
	// The webhook learns of it by a watch.
	e.Eventually(func() (bool, error) {
		trial := e.Binding("trial", "mydb")
		err := e.Client().Create(t.Context(), trial, client.DryRunAll)
		return err == nil && !trial.Spec.Decided(), err
	})
	require.Contains(t, e.Kubectl(e.AdminBinding(), "apply", "-f", "-"), `instance "mydb" is of a plan that is gone`)
	e.Kubectl(e.ReaderPlan(), "apply", "-f", "-")
	e.BindingDecided("creds")
	isWhole(e, "when the plan is listed again")
}
