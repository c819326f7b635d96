package svcat_test

import (
	"net/http"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
)

// made are the classes and plans of the namespace, sorted.
func (m *market) made() []string {
	m.Helper()
	classes, plans := api.ServiceClassList{}, api.ServicePlanList{}
	require.NoError(m, m.Client().List(m.Context(), &classes, client.InNamespace(m.Namespace)))
	require.NoError(m, m.Client().List(m.Context(), &plans, client.InNamespace(m.Namespace)))
	var names []string
	for i := range classes.Items {
		names = append(names, classes.Items[i].Name)
	}
	for i := range plans.Items {
		names = append(names, plans.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// If the second plan is in the way, the first is taken back, and that is told. A class
// that --default cannot mean is refused before anything is made.
func TestCreateFailsMidway(t *testing.T) {
	t.Parallel()
	m := newEnv(t).register()
	m.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceClass, metadata: {name: there}, spec: {externalName: there, externalID: there-SUFFIX}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServicePlan, metadata: {name: disks-small}, spec: {externalName: mine, externalID: mine-SUFFIX, serviceClassRef: {name: there}}}`)
	got := m.create("class", "disks", "--from", m.name, "--scope", "namespace")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "What was made before was removed again (1 of them); nothing stands")
	assert.Contains(t, got.err, `"disks-small" already exists`)
	assert.Equal(t, []string{"disks-small", "there"}, m.made())

	got = m.create("class", "disks", "--from", m.name, "--default")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "--default means one plan, and disks would have 2: large, small")
	got = m.create("class", "disks", "--from", m.name, "--no-plans", "--default")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "none would come; leave out --no-plans or --default")
	got = m.create("class", "there", "--from", m.name, "--scope", "namespace")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, `class "there" is there already in namespace "NAMESPACE"`)
}

// Whenever it is killed, no user sees half a class: without the class, its plans cannot
// be chosen. Once more, it is whole. Ctrl-C takes back what was made, or leaves it whole.
func TestCreateCutOffAtEachWrite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		resource string
		moment   string
		killed   []string
	}{
		"FirstPlanUnsent":     {"Nothing is there.", "serviceplans", unsent, nil},
		"FirstPlanUnanswered": {"A plan without a class.", "serviceplans", unanswered, []string{"disks-large"}},
		"ClassUnsent":         {"Plans without a class.", "serviceclasses", unsent, []string{"disks-large", "disks-small"}},
		"ClassUnanswered":     {"All of it.", "serviceclasses", unanswered, []string{"disks", "disks-large", "disks-small"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEnv(t).register()
			proxy := m.proxy()
			args := []string{"create", "class", "disks", "--from", m.name, "--scope", "namespace"}
			begin := func() (*running, *apiproxy.HeldWrite) {
				held := proxy.Hold(writes(http.MethodPost, tc.resource))
				cut := m.start(proxy.Kubeconfig(), args...)
				<-held.Arrived
				if tc.moment == unanswered {
					held.Apply()
					<-held.Applied
				}
				return cut, held
			}
			cut, held := begin()
			cut.interrupt()
			if tc.moment == unsent {
				held.Apply()
			}
			held.Answer()
			got := cut.ends()
			if tc.resource == "serviceclasses" {
				// The last write: it is done.
				assert.Zero(t, got.code, got.err)
				assert.Equal(t, []string{"disks", "disks-large", "disks-small"}, m.made())
				m.clear()
			} else {
				assert.Equal(t, 130, got.code)
				// The signal may take longer than the answer: then one more was made.
				assert.Regexp(t, `^What was made before was removed again \([12] of them\); nothing stands\nerror: interrupted: nothing was changed\n$`, got.err)
			}
			assert.Empty(t, m.made(), tc.reason)

			cut, _ = begin()
			require.NoError(t, cut.cmd.Process.Signal(syscall.SIGKILL))
			cut.ends()
			assert.Equal(t, tc.killed, m.made(), tc.reason)
			again := m.create(args[1:]...)
			if len(tc.killed) == 3 {
				assert.Contains(t, again.err, "is there already")
			} else {
				assert.Zero(t, again.code, again.err)
			}
			assert.Equal(t, []string{"disks", "disks-large", "disks-small"}, m.made(), tc.reason)
		})
	}
}

// A write that was sent and is not answered when the time after Ctrl-C is over:
// no client knows whether it stands, and that is said.
func TestCreateUnanswered(t *testing.T) {
	t.Parallel()
	m := newEnv(t).register()
	proxy := m.proxy()
	held := proxy.Hold(writes(http.MethodPost, "serviceclasses"))
	cut := m.start(proxy.Kubeconfig(), "create", "class", "disks", "--from", m.name, "--scope", "namespace")
	<-held.Arrived
	cut.interrupt()
	got := cut.ends()
	assert.Equal(t, 130, got.code)
	assert.Contains(t, m.normal(got.err), "What was made before was removed again (2 of them)\n"+
		"serviceclass NAMESPACE/disks may stand, or come yet: the API server did not answer; the same command once more takes it as it is\n"+
		"error: interrupted before the API server answered: it is not known whether serviceclass NAMESPACE/disks was created\n")
	assert.Empty(t, m.made())
}

// clear removes what was made in the namespace.
func (m *market) clear() {
	m.Helper()
	require.NoError(m, m.Client().DeleteAllOf(m.Context(), &api.ServicePlan{}, client.InNamespace(m.Namespace)))
	require.NoError(m, m.Client().DeleteAllOf(m.Context(), &api.ServiceClass{}, client.InNamespace(m.Namespace)))
}
