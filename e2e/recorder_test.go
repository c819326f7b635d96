package e2e_test

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
)

// TestWhatPeopleSeeOfAType: `kubectl get clusterservicetypes` follows what is
// annotated, recorded and deleted, and events tell of it.
func TestWhatPeopleSeeOfAType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := class{name: w.name("azure"), serviceType: w.name("db")}
	w.addPlans(of, plan{name: w.name("basic")}, plan{name: w.name("premium")})
	w.showsType("2 false", "a type in use is there")

	annotation := api.AnnotationDefaultPlan
	w.kubectl("", "annotate", "clusterserviceplan", w.name("basic"), annotation+"=true")
	w.showsType(of.name+"/"+w.name("basic")+" 2 true", "set")
	w.hears(w.name("basic"), "is the default plan of type")

	w.kubectl("", "patch", "clusterservicetype", w.name("db"), "--type=merge", "-p", `{"spec":{"defaultPlanRef":{"name":"`+w.name("premium")+`"}}}`)
	w.showsType(of.name+"/"+w.name("premium")+" 2 true", "switched")
	w.hears(w.name("basic"), "is not annotated as the default plan")
	assert.NotContains(t, w.kubectl("", "get", "clusterserviceplan", w.name("basic"), "-o", "yaml"), annotation)
	assert.Contains(t, w.kubectl("", "get", "clusterserviceplan", w.name("premium"), "-o", "yaml"), annotation+`: "true"`)
	w.eventually(func() (bool, error) {
		return w.kubectl("", "get", "clusterservicetype", w.name("db"), "-o", "jsonpath={.status.confirmed}") == "true", nil
	})

	w.kubectl("", "annotate", "clusterserviceplan", w.name("premium"), annotation+"-")
	w.showsType("2 false", "cleared")
	w.hears(w.name("db"), "its annotation was taken off")

	w.kubectl("", "delete", "clusterserviceplan", w.name("basic"), w.name("premium"))
	w.kubectl("", "delete", "clusterserviceclass", of.name)
	w.eventually(func() (bool, error) {
		err := w.client.Get(t.Context(), client.ObjectKey{Name: w.name("db")}, &api.ClusterServiceType{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// showsType waits until the type is shown so: its columns but for name, type and
// age, of which empty ones are left out.
func (w *world) showsType(want, reason string) {
	w.Helper()
	w.eventually(func() (bool, error) {
		stdout, stderr, err := w.Kubectl(w.Context(), "", "get", "clusterservicetype", w.name("db"), "--no-headers")
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
func (w *world) hears(about, words string) {
	w.Helper()
	w.eventually(func() (bool, error) {
		var events eventsv1.EventList
		if err := w.client.List(w.Context(), &events, client.InNamespace(metav1.NamespaceDefault)); err != nil {
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
	w := newWorld(t)
	local := w.addNamespace()
	w.addPlans(class{namespace: local, name: w.name("azure"), serviceType: "db"}, plan{name: w.name("basic"), isDefault: true}, plan{name: w.name("premium")})
	w.eventually(func() (bool, error) {
		var kept api.ServiceType
		err := w.client.Get(t.Context(), client.ObjectKey{Namespace: local, Name: "db"}, &kept)
		return kept.Status.Confirmed, err
	})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: local}}
	assert.NoError(t, w.client.Delete(t.Context(), namespace))
	w.eventually(func() (bool, error) {
		err := w.client.Get(t.Context(), client.ObjectKey{Name: local}, namespace)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
