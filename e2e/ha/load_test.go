package ha_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// An answer is what became of one create.
type answer struct {
	name         string
	began, ended time.Time
	// plan is the one of the answer; empty where err is not nil.
	plan string
	err  error
}

func (a *answer) String() string {
	return fmt.Sprintf("%s began %s, took %s: %v", a.name, a.began.Format("15:04:05.000"), a.ended.Sub(a.began).Round(time.Millisecond), a.err)
}

// A load is a steady stream of creates by type, by several writers at once, every answer
// of which is kept.
type load struct {
	*testEnv

	serviceType string
	client      client.Client
	// pause is what a writer rests between two creates.
	pause time.Duration

	cancel  context.CancelFunc
	writers sync.WaitGroup
	made    atomic.Int64

	mu      sync.Mutex
	answers []answer
}

// startLoad has writers create until end is called.
func (e *testEnv) startLoad(as client.Client, serviceType string, writers int, pause time.Duration) *load {
	ctx, cancel := context.WithCancel(e.Context())
	l := &load{testEnv: e, serviceType: serviceType, client: as, pause: pause, cancel: cancel}
	for range writers {
		l.writers.Go(func() { l.write(ctx) })
	}
	return l
}

func (l *load) write(ctx context.Context) {
	ticker := time.NewTicker(l.pause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		l.once()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// once creates one instance. It is never cut short: every answer counts.
func (l *load) once() {
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: fmt.Sprintf("%s-%d", l.serviceType, l.made.Add(1))}}
	i.Spec.ServiceType = l.serviceType
	a := answer{name: i.Name, began: time.Now()}
	a.err = l.client.Create(context.WithoutCancel(l.Context()), i)
	a.ended = time.Now()
	if a.err == nil {
		a.plan = planOf(i)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = append(l.answers, a)
}

// end ends the load and returns all answers, in the order in which they came.
func (l *load) end() []answer {
	l.cancel()
	l.writers.Wait()
	return l.answers
}

// since waits until so many further creates were answered well.
func (l *load) since(more int) {
	l.Helper()
	from := time.Now()
	l.eventually(func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		well := 0
		var last error
		for i := range l.answers {
			switch a := &l.answers[i]; {
			case a.began.Before(from):
			case a.err == nil:
				well++
			default:
				last = a.err
			}
		}
		return well >= more, last
	})
}

// saysWhy says that a create failed for want of a part that was away, in words: either
// there was no answer at all, or one of a server that failed, and never one that is about
// the object, which its writer would take for a verdict.
func (e *testEnv) saysWhy(a *answer) {
	e.Helper()
	assert.NotEmpty(e, a.err.Error())
	var status apierrors.APIStatus
	if !errors.As(a.err, &status) {
		var unreached *url.Error
		var reset *net.OpError
		cutOff := errors.Is(a.err, io.ErrUnexpectedEOF) || errors.As(a.err, &reset) // in the middle of an answer
		assert.True(e, cutOff || errors.As(a.err, &unreached), "%s", a)
		return
	}
	told := status.Status()
	assert.NotEmpty(e, told.Message, "%s", a)
	assert.NotContains(e, told.Message, "denied the request", "%s", a)
	// An API server that has just begun forbids what it does not know yet.
	busy := told.Code == http.StatusTooManyRequests || told.Code == http.StatusForbidden
	assert.True(e, busy || told.Code >= http.StatusInternalServerError, "%d: %s", told.Code, a)
}

// failed are the answers that are errors.
func failed(answers []answer) []answer {
	var found []answer
	for i := range answers {
		if answers[i].err != nil {
			found = append(found, answers[i])
		}
	}
	return found
}

// stored says that what is in the API server is what the writers were told: nothing of
// which they were told is lost, and nothing is undecided, whatever its writer was told.
func (l *load) stored(answers []answer, plans ...string) {
	l.Helper()
	var list api.ServiceInstanceList
	require.NoError(l, l.Client().List(l.Context(), &list, client.InNamespace(l.Namespace)))
	there := map[string]string{}
	for i := range list.Items {
		o := &list.Items[i]
		there[o.Name] = planOf(o)
		assert.Contains(l, plans, planOf(o), "instance %s is not decided as it should be", o.Name)
		assert.NotEmpty(l, o.Annotations[api.AnnotationAppliedDefaults], "instance %s", o.Name)
		assert.Contains(l, o.Finalizers, api.FinalizerServiceCatalog, "instance %s", o.Name)
		assert.NotEmpty(l, o.Spec.ExternalID, "instance %s", o.Name)
	}
	for i := range answers {
		if a := &answers[i]; a.err == nil {
			assert.Equal(l, a.plan, there[a.name], "instance %s was answered, and is lost or another", a.name)
		}
	}
}

// planOf is the Kubernetes name of the plan that an instance was decided on, empty if
// none was.
func planOf(i *api.ServiceInstance) string {
	if ref := i.Spec.ClusterServicePlanRef; ref != nil {
		return ref.Name
	}
	return ""
}

// slowest is the longest time that an answer took.
func slowest(answers []answer) time.Duration {
	var most time.Duration
	for i := range answers {
		most = max(most, answers[i].ended.Sub(answers[i].began))
	}
	return most
}
