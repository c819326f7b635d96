package events

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A toldEvent is what a recorder was told.
type toldEvent struct{ kind, reason, note string }

type noteTaker struct{ told []toldEvent }

// Eventf notes an event as the API server would be sent it.
func (n *noteTaker) Eventf(_ runtime.Object, _ runtime.Object, kind, reason, _, note string, args ...any) {
	if note == "%s" && len(args) == 1 {
		note, _ = args[0].(string)
	}
	n.told = append(n.told, toldEvent{kind, reason, note})
}

func TestEventsTell(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		event  *lifecycle.Event
		want   []toldEvent
	}{
		"Nothing": {reason: "nothing happened"},
		"Normal":  {reason: "it went well", event: &lifecycle.Event{Reason: "Did", Message: "it was done"}, want: []toldEvent{{corev1.EventTypeNormal, "Did", "it was done"}}},
		"Warning": {reason: "it did not", event: &lifecycle.Event{Warning: true, Reason: "Failed", Message: "it failed"}, want: []toldEvent{{corev1.EventTypeWarning, "Failed", "it failed"}}},
		"PerCent": {reason: "a broker's text is no format", event: &lifecycle.Event{Reason: "Did", Message: "100%d"}, want: []toldEvent{{corev1.EventTypeNormal, "Did", "100%d"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taker := &noteTaker{}
			(&Events{Recorder: taker}).Tell(&v1beta1.ServiceBinding{}, tc.event)
			assert.Equal(t, tc.want, taker.told)
		})
	}
}

// The API server refuses an event of more bytes, and one that is not UTF-8.
func TestEventsAreCut(t *testing.T) {
	t.Parallel()
	taker := &noteTaker{}
	(&Events{Recorder: taker}).Tell(&v1beta1.ServiceBinding{}, &lifecycle.Event{Message: "a" + strings.Repeat("é", 1024)})
	note := taker.told[0].note
	assert.LessOrEqual(t, len(note), 1024)
	assert.Greater(t, len(note), 1020)
	assert.True(t, utf8.ValidString(note))
}

// A sentEvents is an API server that notes what it is sent, and answers with an error, if there
// is one.
type sentEvents struct {
	clientevents.EventSink

	mutex   sync.Mutex
	created []eventsv1.Event
	// patched are the counts of series, and until then no patch is taken.
	patched []int32
	until   time.Time
	// takes is how long a patch takes.
	takes time.Duration
	err   error
}

func (s *sentEvents) down(until time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.until = until
}

func (s *sentEvents) counts() []int32 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.patched
}

func (s *sentEvents) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.created = append(s.created, *event)
	return event, s.err
}

func (s *sentEvents) Patch(_ context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	time.Sleep(s.takes) // in the bubble's time
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if time.Now().Before(s.until) {
		return nil, errors.New("the connection was refused")
	}
	s.patched = append(s.patched, event.Series.Count)
	return event, s.err
}

// The status that is written before an event changes the resource version: it must not tell two
// failures of one object apart. What is another object, or another reason, is another event.
func TestEventsOfOneObjectAreASeries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scheme, sent := runtime.NewScheme(), &sentEvents{}
		require.NoError(t, v1beta1.AddToScheme(scheme))
		recorder, stop, err := recordTo(t.Context(), sent, scheme, Source)
		require.NoError(t, err)
		defer stop()
		told := &Events{Recorder: recorder}
		for version := range 40 {
			o := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", UID: "u", ResourceVersion: strconv.Itoa(version)}}
			told.Tell(o, &lifecycle.Event{Warning: true, Reason: "Failed", Message: "it failed at " + o.ResourceVersion})
			synctest.Wait()
		}
		require.Len(t, sent.created, 1)
		assert.Equal(t, []int32{2}, sent.counts(), "the second one makes a series of it, which is written again in a while")
		assert.Equal(t, corev1.ObjectReference{APIVersion: "servicecatalog.k8s.io/v1beta1", Kind: "ServiceInstance", Namespace: "n", Name: "i", UID: "u"}, sent.created[0].Regarding)
		told.Tell(&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", UID: "another"}}, &lifecycle.Event{Warning: true, Reason: "Failed"})
		told.Tell(&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", UID: "u"}}, &lifecycle.Event{Warning: true, Reason: "Gone"})
		synctest.Wait()
		assert.Len(t, sent.created, 3)
	})
}

// The end of a series is written where it says more than its beginning: thousands of objects that
// failed twice would be written once more for nothing. The beginning is written also if that takes time.
func TestTheEndOfASeriesIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		// failures are told every five seconds, the first at the start plus first.
		failures int
		first    time.Duration
		// down is how long from then no patch is taken, and takes how long each takes.
		down, takes time.Duration
		counts      []int32
	}{
		"One":       {reason: "it is no series", failures: 1},
		"Two":       {reason: "its end says nothing more", failures: 2, first: time.Minute, counts: []int32{2}},
		"TwoLate":   {reason: "client-go looks for its end as soon as six minutes are over", failures: 2, first: 5*time.Minute + 50*time.Second, counts: []int32{2}},
		"Three":     {reason: "the end has a higher count", failures: 3, first: time.Minute, counts: []int32{2, 3}},
		"NotAtOnce": {reason: "the beginning is tried again", failures: 2, down: 50 * time.Second, counts: []int32{2}},
		"Slow":      {reason: "the end comes before the beginning was written", failures: 2, takes: 10 * time.Minute, counts: []int32{2, 2}},
		"NotAtAll":  {reason: "client-go gave the beginning up, and writes the end", failures: 2, down: 5 * time.Minute, counts: []int32{2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				scheme, sent := runtime.NewScheme(), &sentEvents{takes: tc.takes}
				require.NoError(t, v1beta1.AddToScheme(scheme))
				sink := newSink(sent, fake.NewClientBuilder().Build())
				recorder, stop, err := recordTo(t.Context(), sink, scheme, Source)
				require.NoError(t, err)
				defer stop()
				time.Sleep(tc.first) // in the bubble's time, as below
				sent.down(time.Now().Add(tc.down))
				for range tc.failures {
					(&Events{Recorder: recorder}).Tell(&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", UID: "u"}}, &lifecycle.Event{Warning: true, Reason: "Failed"})
					synctest.Wait()
					time.Sleep(5 * time.Second)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Equal(t, tc.counts, sent.counts(), tc.reason)
				assert.Empty(t, sink.begun.series, "what ended is forgotten")
			})
		})
	}
}

func TestNoEventIsMadeInANamespaceThatEnds(t *testing.T) {
	t.Parallel()
	terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "e", nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		answer    error
		sent      int
		err       error
	}{
		"Lives":   {reason: "the rule", namespace: "lives", sent: 1},
		"Ends":    {reason: "it would be refused", namespace: "ends"},
		"Unknown": {reason: "the cache may be late", namespace: "unknown", sent: 1},
		"Late":    {reason: "the cache did not know yet", namespace: "lives", answer: terminating, sent: 1},
		"Gone":    {reason: "there is nothing to tell of it", namespace: "lives", answer: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "lives"), sent: 1},
		"Refused": {reason: "what else is wrong is told", namespace: "lives", answer: apierrors.NewBadRequest("no"), sent: 1, err: apierrors.NewBadRequest("no")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespaces := fake.NewClientBuilder().WithObjects(
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "lives"}},
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ends", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"kubernetes"}}},
			).Build()
			sent := &sentEvents{err: tc.answer}
			event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Name: "e"}}
			got, err := newSink(sent, namespaces).Create(t.Context(), event)
			assert.Equal(t, tc.err, err, tc.reason)
			assert.Len(t, sent.created, tc.sent, tc.reason)
			assert.Equal(t, event, got)
		})
	}
}
