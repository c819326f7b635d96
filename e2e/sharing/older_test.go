package sharing_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Who bound while there was consent, and has none now, does not learn by her bindings either whether the instance is still
// there: all that they say, in status and in events, is the same to the byte, with their Secrets and without.
func TestOlderBindingsDoNotTellWhatIsThere(t *testing.T) { //nolint:paralleltest // the controller is everybody's
	w := newWorld(t, nil, func(o *osbtest.Options) { o.Crashes = true })
	w.share(with(w.consumer))
	lost := w.database("lost", with(w.consumer))
	w.Create(lost)
	w.Ready(lost)
	var bindings []*api.ServiceBinding
	for _, instance := range []string{"mydb", "lost"} {
		for _, name := range []string{"keeps", "bare"} {
			b := w.binding(name+"-"+instance, instance)
			w.Create(b)
			w.Ready(b)
			w.toldOf(b.Name, "InjectedBindResult")
			bindings = append(bindings, b)
		}
	}
	require.NoError(t, controller.Stop(t.Context(), syscall.SIGKILL))
	w.share(&api.Sharing{})
	w.Change(lost, func() { lost.Spec.Sharing = &api.Sharing{} })
	w.Delete(lost)
	w.Change(lost, func() { lost.Finalizers = nil })
	w.Gone(lost)
	w.Delete(w.secret("bare-mydb"))
	w.Delete(w.secret("bare-lost"))
	require.NoError(t, controller.Start(t.Context()))
	for _, b := range bindings {
		w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	}
	for _, b := range []*api.ServiceBinding{bindings[1], bindings[3]} {
		said := w.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "")
		assert.Equal(t, "SharingWithdrawn", said.Reason)
	}
	for i, b := range bindings[:2] {
		assert.Equal(t, w.said(b, "mydb"), w.said(bindings[i+2], "lost"), b.Name)
	}
	for _, b := range bindings {
		w.Delete(b)
		w.Gone(b)
	}
	assert.Empty(t, w.broker.Bindings())
}

// varying is what no two bindings have in common: IDs and times.
var varying = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9-]{10}T[0-9:.]{8,}Z`)

// said is all that a binding says to an instance of a name: its status, and its events.
func (w *world) said(b *api.ServiceBinding, instance string) string {
	w.Helper()
	w.Get(b)
	text, err := json.Marshal(b.Status)
	require.NoError(w, err)
	var list eventsv1.EventList
	require.NoError(w, w.client.List(w.Context(), &list, client.InNamespace(w.consumer), client.MatchingFields{"regarding.name": b.Name}))
	events := []string{}
	for i := range list.Items {
		events = append(events, strings.Join([]string{list.Items[i].Type, list.Items[i].Reason, list.Items[i].Note}, " "))
	}
	slices.Sort(events)
	all := string(text) + "\n" + strings.Join(slices.Compact(events), "\n")
	return varying.ReplaceAllString(strings.ReplaceAll(all, instance, "INSTANCE"), "VARIES")
}
