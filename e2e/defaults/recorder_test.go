package defaults_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestWhatPeopleSeeOfAType: `kubectl get clusterservicetypes` follows what is
// annotated, recorded and deleted, and events tell of it.
func TestWhatPeopleSeeOfAType(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	of := env.Class{Name: e.Name("azure"), ServiceType: e.Name("db")}
	e.AddPlans(of, env.Plan{Name: e.Name("basic")}, env.Plan{Name: e.Name("premium")})
	showsType(e, "2 false", "a type in use is there")

	annotation := api.AnnotationDefaultPlan
	e.Kubectl("", "annotate", "clusterserviceplan", e.Name("basic"), annotation+"=true")
	showsType(e, of.Name+"/"+e.Name("basic")+" 2 true", "set")
	hears(e, e.Name("basic"), "is the default plan of type")

	e.Kubectl("", "patch", "clusterservicetype", e.Name("db"), "--type=merge", "-p", `{"spec":{"defaultPlanRef":{"name":"`+e.Name("premium")+`"}}}`)
	showsType(e, of.Name+"/"+e.Name("premium")+" 2 true", "switched")
	hears(e, e.Name("basic"), "is not annotated as the default plan")
	assert.NotContains(t, e.Kubectl("", "get", "clusterserviceplan", e.Name("basic"), "-o", "yaml"), annotation)
	assert.Contains(t, e.Kubectl("", "get", "clusterserviceplan", e.Name("premium"), "-o", "yaml"), annotation+`: "true"`)
	e.Eventually(func() (bool, error) {
		return e.Kubectl("", "get", "clusterservicetype", e.Name("db"), "-o", "jsonpath={.status.confirmed}") == "true", nil
	})

	e.Kubectl("", "annotate", "clusterserviceplan", e.Name("premium"), annotation+"-")
	showsType(e, "2 false", "cleared")
	hears(e, e.Name("db"), "its annotation was taken off")

	e.Kubectl("", "delete", "clusterserviceplan", e.Name("basic"), e.Name("premium"))
	e.Kubectl("", "delete", "clusterserviceclass", of.Name)
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKey{Name: e.Name("db")}, &api.ClusterServiceType{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// showsType waits until the type is shown so: its columns but for name, type and
// age, of which empty ones are left out.
func showsType(e *env.Env, want, reason string) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		stdout, stderr, err := e.Stack.Kubectl(e.Context(), "", "get", "clusterservicetype", e.Name("db"), "--no-headers")
		if err != nil {
			return false, fmt.Errorf("%s: %w", stderr, err)
		}
		fields := strings.Fields(stdout)
		if got := strings.Join(fields[2:len(fields)-1], " "); got != want {
			return false, fmt.Errorf("%s: %q, not %q", reason, got, want)
		}
		return true, nil
	})
}

// hears waits for an event about a cluster-scoped object.
func hears(e *env.Env, about, words string) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		var events eventsv1.EventList
		if err := e.Client().List(e.Context(), &events, client.InNamespace(metav1.NamespaceDefault)); err != nil {
			return false, err
		}
		for _, event := range events.Items {
			if event.Regarding.Name == about && strings.Contains(event.Note, words) {
				return true, nil
			}
		}
		return false, fmt.Errorf("no event about %q says %q", about, words)
	})
}

// TestANamespaceWithADefaultGoes: the keeper does not hold on to what is in it.
func TestANamespaceWithADefaultGoes(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	local := e.AddNamespace()
	e.AddPlans(env.Class{Namespace: local, Name: e.Name("azure"), ServiceType: "db"}, env.Plan{Name: e.Name("basic"), Default: true}, env.Plan{Name: e.Name("premium")})
	e.Eventually(func() (bool, error) {
		var kept api.ServiceType
		err := e.Client().Get(t.Context(), client.ObjectKey{Namespace: local, Name: "db"}, &kept)
		return kept.Status.Confirmed, err
	})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: local}}
	assert.NoError(t, e.Client().Delete(t.Context(), namespace))
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKey{Name: local}, namespace)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
