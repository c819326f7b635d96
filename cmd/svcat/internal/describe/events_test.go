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
			InvolvedObject: corev1.ObjectReference{UID: uid}, Type: "Normal", Reason: reason, Message: "what happened",
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
		"61m         Normal   Hour0    what happened", "121m        Normal   Hour1    what happened", "150m (x7)   Normal   Often    what happened",
		"3h1m        Normal   Hour2    what happened", "4h1m        Normal   Hour3    what happened",
	}, reasons, "the last five, the newest first")
	assert.Contains(t, write(reader, broker), "  4d          Normal   OfBroker   what happened\n", "the cluster's objects have theirs in a namespace")

	broker.UID = "without"
	assert.Equal(t, "\nEvents:\nNo events\n", write(reader, broker))
	forbidden := eventsReader(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(corev1.Resource("events"), "", nil)
	}})
	assert.Equal(t, "\nEvents:\nnot shown: you may not list events in namespace \"dev\"\n", write(forbidden, instance))
}
