package charts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/charts/health"
)

// A life is what kstatus said of every version of one object that the API server stored,
// without repetitions. Argo CD's health check says the same of each, in its words.
type life struct {
	*testEnv

	mutex    sync.Mutex
	statuses []status.Status
	// wrong are versions of which kstatus says something else than is so.
	wrong []string
}

// follows records an object's life, from before it is made to the end of the test. At the
// end nothing may have been wrong.
func (e *testEnv) follows(kind, name string) *life {
	e.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(api.GroupVersion.String())
	list.SetKind(kind + "List")
	watcher, err := e.Client().Watch(e.Context(), list, client.InNamespace(e.an(kind, name).GetNamespace()), client.MatchingFields{"metadata.name": name})
	require.NoError(e, err)
	l := &life{testEnv: e}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if o, ok := event.Object.(*unstructured.Unstructured); ok {
				l.add(event.Type, o)
			}
		}
	}()
	e.Cleanup(func() {
		watcher.Stop()
		<-done
		assert.Empty(e, l.wrong)
	})
	return l
}

func (l *life) add(event watch.EventType, o *unstructured.Unstructured) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	is := status.NotFoundStatus
	if event != watch.Deleted {
		result, err := status.Compute(o)
		if err != nil {
			l.wrong = append(l.wrong, err.Error())
			return
		}
		is = result.Status
		if why := contradicts(o, is); why != "" {
			l.wrong = append(l.wrong, fmt.Sprintf("%s is %s, but %s: %v", o.GetKind(), is, why, o.Object["status"]))
		}
		if health, err := health.Check(o); err != nil || health.Status != healthOf[is] || health.Message == "" && is == status.FailedStatus {
			l.wrong = append(l.wrong, fmt.Sprintf("%s is %s, but Argo CD says %+v (%v): %v", o.GetKind(), is, health, err, o.Object["status"]))
		}
	}
	if n := len(l.statuses); n == 0 || l.statuses[n-1] != is {
		l.statuses = append(l.statuses, is)
	}
}

// healthOf is what Argo CD shows of what kstatus says.
var healthOf = map[status.Status]string{
	status.InProgressStatus: "Progressing", status.TerminatingStatus: "Progressing", status.CurrentStatus: "Healthy", status.FailedStatus: "Degraded",
}

// contradicts says why kstatus's word of a version is wrong; empty if it is right. It
// looks at what the conditions say to people, not at what kstatus reads.
func contradicts(o *unstructured.Unstructured, is status.Status) string {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	seen := observed == o.GetGeneration()
	ready := condition(o, api.ConditionReady)["status"] == "True" && seen
	if strings.HasSuffix(o.GetKind(), "ServiceType") {
		ready = seen // it has no Ready: all that there is to do about it is to look at it
	}
	failed := seen && stopped(o)
	switch {
	case o.GetDeletionTimestamp() != nil:
		return unless(is == status.TerminatingStatus, "it is being deleted")
	case is == status.CurrentStatus:
		return unless(ready, "it is not Ready, or was not looked at")
	case is == status.FailedStatus:
		return unless(failed, "it goes on")
	}
	return unless(!failed, "nothing more is tried")
}

// stopped says that nothing more is tried: for good, or because what it needs is wrong.
func stopped(o *unstructured.Unstructured) bool {
	if condition(o, api.ConditionFailed)["status"] == "True" {
		return true
	}
	running, _, _ := unstructured.NestedString(o.Object, "status", "currentOperation")
	next, _, _ := unstructured.NestedString(o.Object, "status", "nextRetry")
	cleaning, _, _ := unstructured.NestedBool(o.Object, "status", "orphanMitigationInProgress")
	return condition(o, api.ConditionReady)["status"] == "False" && running == "" && next == "" && !cleaning
}

func unless(is bool, why string) string {
	if is {
		return ""
	}
	return why
}

// becomes waits until a life was so, up to now: "InProgress Current".
func (l *life) becomes(statuses string) {
	l.Helper()
	l.Eventually(func() (bool, error) {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		words := make([]string, len(l.statuses))
		for n, s := range l.statuses {
			words[n] = string(s)
		}
		if !slices.Equal(words, strings.Fields(statuses)) {
			return false, fmt.Errorf("it was %s, and should have been %s", strings.Join(words, " "), statuses)
		}
		return true, nil
	})
}
