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
	p := newPair(t, nil, func(o *osbtest.Options) { o.Crashes = true })
	p.share(with(p.consumer))
	lost := p.database("lost", with(p.consumer))
	p.Create(lost)
	p.Ready(lost)
	var bindings []*api.ServiceBinding
	for _, instance := range []string{"mydb", "lost"} {
		for _, name := range []string{"keeps", "bare"} {
			b := p.binding(name+"-"+instance, instance)
			p.Create(b)
			p.Ready(b)
			p.HasEvent(b, "InjectedBindResult")
			bindings = append(bindings, b)
		}
	}
	require.NoError(t, p.Controller().Stop(t.Context(), syscall.SIGKILL))
	p.share(&api.Sharing{})
	p.Change(lost, func() { lost.Spec.Sharing = &api.Sharing{} })
	p.Delete(lost)
	p.Change(lost, func() { lost.Finalizers = nil })
	p.Gone(lost)
	p.Delete(p.Secret("bare-mydb"))
	p.Delete(p.Secret("bare-lost"))
	require.NoError(t, p.Controller().Start(t.Context()))
	for _, b := range bindings {
		p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	}
	for _, b := range []*api.ServiceBinding{bindings[1], bindings[3]} {
		said := p.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "")
		assert.Equal(t, "SharingWithdrawn", said.Reason)
	}
	for i, b := range bindings[:2] {
		assert.Equal(t, p.said(b, "mydb"), p.said(bindings[i+2], "lost"), b.Name)
	}
	for _, b := range bindings {
		p.Delete(b)
		p.Gone(b)
	}
	assert.Empty(t, p.broker.Bindings())
}

// varying is what no two bindings have in common: IDs and times.
var varying = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9-]{10}T[0-9:.]{8,}Z`)

// said is all that a binding says to an instance of a name: its status, and its events.
func (p *pair) said(b *api.ServiceBinding, instance string) string {
	p.Helper()
	p.Get(b)
	text, err := json.Marshal(b.Status)
	require.NoError(p, err)
	var list eventsv1.EventList
	require.NoError(p, p.Client().List(p.Context(), &list, client.InNamespace(p.consumer), client.MatchingFields{"regarding.name": b.Name}))
	events := []string{}
	for i := range list.Items {
		events = append(events, strings.Join([]string{list.Items[i].Type, list.Items[i].Reason, list.Items[i].Note}, " "))
	}
	slices.Sort(events)
	all := string(text) + "\n" + strings.Join(slices.Compact(events), "\n")
	return varying.ReplaceAllString(strings.ReplaceAll(all, instance, "INSTANCE"), "VARIES")
}
