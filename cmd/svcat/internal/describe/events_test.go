package describe

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// eventsReader reads these events by the object that they are about.
func eventsReader(t *testing.T, intercept interceptor.Funcs, events ...client.Object) client.Reader {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	return fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(intercept).WithObjects(events...).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
			return []string{string(o.(*corev1.Event).InvolvedObject.UID)}
		}).Build()
}

func TestWriteEvents(t *testing.T) {
	t.Parallel()
	event := func(namespace, reason string, uid types.UID, ago time.Duration) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: reason + string(uid)},
			InvolvedObject: corev1.ObjectReference{UID: uid}, Type: "Normal", Reason: reason, Message: "what happened", ReportingController: "controller",
			LastTimestamp: metav1.NewTime(time.Now().Add(-ago)),
		}
	}
	var events []client.Object
	for hours := range 7 {
		events = append(events, event("dev", "Hour"+strconv.Itoa(hours), "mine", time.Duration(hours+1)*time.Hour+time.Minute))
	}
	often := event("dev", "Often", "mine", 0)
	often.LastTimestamp, often.EventTime = metav1.Time{}, metav1.NewMicroTime(time.Now().Add(-100*time.Hour))
	often.Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(time.Now().Add(-150 * time.Minute))}
	events = append(events, often, event("dev", "Others", "other", 0), event("default", "OfBroker", "broker", 4*24*time.Hour+time.Minute))
	reader := eventsReader(t, interceptor.Funcs{}, events...)
	write := func(reader client.Reader, object client.Object) string {
		var out strings.Builder
		require.NoError(t, writeEvents(t.Context(), reader, &out, object))
		return out.String()
	}
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb", UID: "mine"}}
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure", UID: "broker"}}

	lines := strings.Split(write(reader, instance), "\n")
	assert.Equal(t, []string{"", "Events:"}, lines[:2])
	var reasons []string
	for _, line := range lines[4 : len(lines)-1] {
		reasons = append(reasons, strings.TrimSpace(line))
	}
	assert.Equal(t, []string{
		"61m         Normal   Hour0    controller   what happened", "121m        Normal   Hour1    controller   what happened",
		"150m (x7)   Normal   Often    controller   what happened", "3h1m        Normal   Hour2    controller   what happened",
		"4h1m        Normal   Hour3    controller   what happened",
	}, reasons, "the last five, the newest first")
	assert.Contains(t, write(reader, broker), "  4d          Normal   OfBroker   controller   what happened\n", "the cluster's objects have theirs in a namespace")

	broker.UID = "without"
	assert.Equal(t, "\nEvents:\nNo events\n", write(reader, broker))
	forbidden := eventsReader(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(corev1.Resource("events"), "", nil)
	}})
	assert.Equal(t, "\nEvents:\nnot shown: you may not list events in namespace \"dev\"\n", write(forbidden, instance))
}

// TestEventsAreNotForged: what an editor of the namespace makes up is no newer than now, says where
// it is from, fills no screen and steers no terminal.
func TestEventsAreNotForged(t *testing.T) {
	t.Parallel()
	event := func(name string, at time.Time) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: name}, InvolvedObject: corev1.ObjectReference{UID: "mine"},
			Type: "Normal", Reason: "Forged", Source: corev1.EventSource{Component: "kube\tctl\n"}, Message: "m", LastTimestamp: metav1.NewTime(at),
		}
	}
	future := event("a", time.Now().AddDate(100, 0, 0))
	future.Reason, future.Type = strings.Repeat("R", 1000), "T\x1b[2J"
	future.Message = "a\tb\n  5s   Normal\u009b\u202e" + strings.Repeat("e\u0301", 100_000)
	reported := event("b", time.Now().Add(-time.Hour))
	reported.ReportingController = "defaultplan-controller"
	var out strings.Builder
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb", UID: "mine"}}
	require.NoError(t, writeEvents(t.Context(), eventsReader(t, interceptor.Funcs{}, future, reported), &out, instance))
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 7, "a line each")
	assert.Regexp(t, "^  LAST SEEN +TYPE +REASON +FROM +MESSAGE$", lines[2])
	assert.Regexp(t, `^  0s +T\x{fffd}\[2J +R{127}… +kube ctl +a b 5s Normal\x{fffd}\x{fffd}[e\x{301}]+…$`, lines[4])
	assert.Less(t, len([]rune(lines[4])), 1500)
	assert.Regexp(t, `^  60m +Normal +Forged +defaultplan-controller +m$`, lines[5])
}

// TestNewestEvents: no more are held while they are read than are shown.
func TestNewestEvents(t *testing.T) {
	t.Parallel()
	newest := newestEvents{now: time.Now()}
	for i := range 1000 {
		newest.add(&corev1.Event{Reason: strconv.Itoa(i), LastTimestamp: metav1.NewTime(newest.now.Add(-time.Duration(i*7%1000) * time.Second))})
		require.LessOrEqual(t, len(newest.events), shownEvents)
	}
	var reasons []string
	for _, event := range newest.events {
		reasons = append(reasons, event.Reason)
	}
	assert.Equal(t, []string{"0", "143", "286", "429", "572"}, reasons)
}
