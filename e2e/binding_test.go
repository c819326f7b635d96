package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestBindingTakesWhatThePlanGives is the worked example: the plan's user and its
// name for a key, and a binding that wants another user.
func TestBindingTakesWhatThePlanGives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubectl(files(w.readerClass(), w.readerPlan()), "apply", "-f", "-")
	w.kubectl(w.readInstance(), "apply", "-f", "-")
	said := w.kubectl(w.adminBinding(), "apply", "-f", "-")
	assert.Contains(t, said, "Warning: defaults set tls")
	assert.Contains(t, said, "Warning: defaults of plan "+w.name("c")+"/"+w.name("p")+" add 1 secret transforms")
	assert.Contains(t, said, "servicebinding.servicecatalog.k8s.io/creds created")
	got := w.isWhole("as applied")
	assert.Equal(t, admin, got.Spec.UserInfo.Username)
	assert.Empty(t, got.Spec.ServiceType, "the instance names its plan, and no type")
	assert.Empty(t, w.owned(got, bindingHookFields), "no manager owns what admission set")

	assert.Equal(t, "servicebinding.servicecatalog.k8s.io/creds unchanged\n", w.kubectl(w.adminBinding(), "apply", "-f", "-"))
	assert.Empty(t, w.kubectl(w.adminBinding(), "diff", "-f", "-"))
	assert.Empty(t, cmp.Diff(got, w.waiting("creds")), "(-before +after) the second time nothing is written")
}

// bindingHookFields are the fields of a binding that only admission writes.
var bindingHookFields = append([][]string{
	{"f:spec", "f:secretName"}, {"f:spec", "f:serviceType"}, {"f:spec", "f:secretTransforms"}, {"f:spec", "f:parameters", "f:tls"},
}, hookFields...)

// TestBindingHasItsInstancesType: the type is the instance's, and says so.
func TestBindingHasItsInstancesType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubectl(files(w.readerClass(), w.readerPlan()), "apply", "-f", "-")
	w.kubectl("", "annotate", "clusterserviceplan", w.name("p"), api.AnnotationDefaultPlan+"=true")
	w.kubectl(w.manifest("mydb", "{serviceType: NAME(mysql)}"), "apply", "-f", "-")
	w.kubectl(w.adminBinding(), "apply", "-f", "-")
	assert.Equal(t, w.name("mysql"), w.isWhole("by type").Spec.ServiceType)
	w.kubectl(w.manifestOf("ServiceBinding", "same", "{instanceRef: {name: mydb}, serviceType: NAME(mysql)}"), "apply", "-f", "-")
	said := w.kubectlFails(w.manifestOf("ServiceBinding", "other", "{instanceRef: {name: mydb}, serviceType: NAME(redis)}"), "apply", "-f", "-")
	assert.Contains(t, said, `spec.serviceType: instance "mydb" is of type "`+w.name("mysql")+`", not of "`+w.name("redis")+`"`)
}

// TestBindingBesideItsInstance: both in one file, and the catalog too, in
// whatever order. The file applied again changes nothing.
func TestBindingBesideItsInstance(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		before, files func(w *world) string
	}{
		"InstanceFirst": {
			reason: "its instance is milliseconds old",
			before: func(w *world) string { return files(w.readerClass(), w.readerPlan()) },
			files:  func(w *world) string { return files(w.readInstance(), w.adminBinding()) },
		},
		"BindingFirst": {
			reason: "the keeper wakes it",
			before: func(w *world) string { return files(w.readerClass(), w.readerPlan()) },
			files:  func(w *world) string { return files(w.adminBinding(), w.readInstance()) },
		},
		"WithTheCatalog": {
			reason: "all of it is milliseconds old",
			files: func(w *world) string {
				return files(w.readerClass(), w.readerPlan(), w.readInstance(), w.adminBinding())
			},
		},
		"BeforeTheCatalog": {
			reason: "the keeper wakes the instance, and then the binding",
			files: func(w *world) string {
				return files(w.adminBinding(), w.readInstance(), w.readerPlan(), w.readerClass())
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.before != nil {
				w.kubectl(tc.before(w), "apply", "-f", "-")
			}
			all := tc.files(w)
			w.kubectl(all, "apply", "-f", "-")
			w.becomesBound("creds")
			got := w.isWhole(tc.reason)
			assert.Equal(t, admin, got.Spec.UserInfo.Username, "whoever applied it, not the keeper")
			for line := range strings.Lines(w.kubectl(all, "apply", "-f", "-")) {
				assert.Regexp(t, ` unchanged\n$`, line)
			}
			assert.Empty(t, cmp.Diff(essence(got), essence(w.waiting("creds"))), "(-before +after)")
		})
	}
}

// TestBindingIsForgottenWithItsInstance: an instance that is being deleted is
// bound to no more; with another of the same name it goes on.
func TestBindingIsForgottenWithItsInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReader()
	held := w.stored("mydb")
	w.patch(held, `{"metadata":{"finalizers":["`+holdFinalizer+`","`+api.FinalizerServiceCatalog+`"]}}`)
	w.terminate("mydb")
	// The webhook learns of it by a watch.
	w.eventually(func() (bool, error) {
		_, said, err := w.Kubectl(t.Context(), w.adminBinding(), "-n", w.namespace, "create", "--dry-run=server", "-f", "-")
		return err != nil && strings.Contains(said, `instance "mydb" is being deleted`), nil
	})
	w.patch(held, `{"metadata":{"finalizers":null}}`)
	w.gone(held)
	said := w.kubectl(w.adminBinding(), "apply", "-f", "-")
	require.Contains(t, said, `Warning: no plan is decided yet: instance "mydb" does not exist yet; the binding waits`)
	w.kubectl(w.readInstance(), "apply", "-f", "-")
	w.becomesBound("creds")
	w.isWhole("with the next instance of that name")
}
