package charts_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An outcome is what became of a command.
type outcome struct {
	output string
	err    error
}

// starts runs a binary and does not wait for it.
func (e *testEnv) starts(binary string, args ...string) <-chan outcome {
	done := make(chan outcome, 1)
	ctx := e.Context()
	go func() {
		output, err := e.runsIn(ctx, binary, "", args...)
		done <- outcome{output, err}
	}()
	return done
}

// ends waits for a command.
func (e *testEnv) ends(done <-chan outcome) outcome {
	e.Helper()
	select {
	case o := <-done:
		return o
	case <-time.After(wait.Patience(time.Minute)):
		require.FailNow(e, "the command does not end")
		return outcome{}
	}
}

// waits asserts that a command has not ended.
func (e *testEnv) waits(done <-chan outcome) {
	e.Helper()
	select {
	case o := <-done:
		require.FailNow(e, "the command did not wait", "%v: %s", o.err, o.output)
	default:
	}
}

// polled waits until the broker was asked so often how far it is.
func (e *testEnv) polled(s *market, times int) {
	e.Helper()
	e.Eventually(func() (bool, error) { return len(s.Calls(osbtest.Of(osbtest.PollInstance))) >= times, nil })
}

// helm install --wait and upgrade --wait return when the broker is done, and not before.
func TestWaitReturnsWhenReady(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	s.Async(osbtest.Provision, -1)
	s.Async(osbtest.Update, -1)
	installing := e.starts("helm", "install", "blog", wordpress(), "--set", "database.serviceType="+s.serviceType, "--wait", "--timeout=90s")
	e.polled(s, 2)
	e.waits(installing)
	require.Len(t, s.Running(), 1)
	require.True(t, s.Finish(s.Running()[0]))
	o := e.ends(installing)
	require.NoError(t, o.err, o.output)
	assert.True(t, isReady(e.instance("blog-db")))
	assert.Contains(t, e.secretKeys("blog-db"), "host", "the binding too was waited for")

	upgrading := e.starts("helm", "upgrade", "blog", wordpress(), "--reuse-values", "--set", "parameters.zone=b", "--wait", "--timeout=90s")
	e.polled(s, len(s.Calls(osbtest.Of(osbtest.PollInstance)))+2)
	e.waits(upgrading)
	require.True(t, s.Finish(s.Running()[0]))
	o = e.ends(upgrading)
	require.NoError(t, o.err, o.output)
	assert.Equal(t, "b", e.atBroker(s.Broker, "blog-db")["zone"])

	e.must("helm", "uninstall", "blog")
	e.Gone(e.an("ServiceInstance", "blog-db"))
	assert.Empty(t, s.Instances())
}

// helm uninstall --wait returns when the broker has removed it. With more objects than
// this one, Helm 4.3 may return as soon as one of them is gone.
func TestWaitReturnsWhenGone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	e.must("helm", "install", "alone", e.aloneChart(s.serviceType), "--wait", "--timeout=60s")
	s.Async(osbtest.Deprovision, -1)
	removing := e.starts("helm", "uninstall", "alone", "--wait", "--timeout=90s")
	e.polled(s, 2)
	e.waits(removing)
	require.True(t, s.Finish(s.Running()[0]))
	o := e.ends(removing)
	require.NoError(t, o.err, o.output)
	assert.Empty(t, s.Instances())
}

// What the broker refuses for good ends helm install --wait at once, with its words: it
// does not wait for the timeout.
func TestWaitEndsWhenStalled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	s.Next(osbtest.Provision, osbtest.Status(http.StatusBadRequest, `{"description": "no more disks"}`))
	said := e.refused("helm", "install", "alone", e.aloneChart(s.serviceType), "--wait", "--timeout=90s")
	assert.Contains(t, said, "no more disks")
	assert.Contains(t, said, "Failed")
	assert.NotContains(t, said, "deadline exceeded", "helm does not wait for what cannot come")
	e.must("helm", "uninstall", "alone", "--wait", "--timeout=60s")
}

// What admission refuses is Helm's error, with the way out; and the words of the warning
// are told where it is decided.
func TestRefusalIsTold(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered(func(service object) {
		for _, plan := range service["plans"].([]object) {
			delete(plan, "metadata")
		}
	})
	said := e.refused("helm", "install", "blog", wordpress(), "--set", "database.serviceType="+s.serviceType, "--wait", "--timeout=30s")
	assert.Contains(t, said, "is-default-plan=true")
	assert.Contains(t, said, s.class+"/large")
	_, err := e.runs("kubectl", "", "get", "serviceinstance", "blog-db")
	require.Error(t, err, "there is none")
	e.must("svcat", "set", "plan", s.class+"/large", "--default", "--cluster")
	said = e.must("helm", "upgrade", "--install", "blog", wordpress(), "--set", "database.serviceType="+s.serviceType, "--wait", "--timeout=60s")
	assert.Contains(t, said, "resolved to plan "+s.class+"/large (default)")
	e.must("helm", "uninstall", "blog", "--wait", "--timeout=60s")
}

// An instance for which nothing is decided yet is waited for, as long as the user wants.
func TestWaitDoesNotTakeUndecidedForDone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience(time.Minute))
	defer cancel()
	chart := e.aloneChart("")
	said, err := e.runsIn(ctx, "helm", "", "install", "alone", chart, "--set", "className="+e.Name("none"), "--set", "planName=none", "--wait", "--timeout=3s")
	require.Error(t, err, said)
	assert.Contains(t, said, "ServiceInstance")
	assert.Contains(t, said, "InProgress")
}

// helm uninstall of a release with a guarded instance fails, and works once the annotation is removed. Helm
// prints what the API server answered with --debug only.
func TestUninstallOfAGuardedInstance(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.registered()
	e.must("helm", "install", "alone", e.aloneChart(s.serviceType), "--wait", "--timeout=60s")
	const name = "alone-db"
	e.Kubectl("", "annotate", "serviceinstances", name, api.AnnotationPreventDeletion+"=true")
	said := e.refused("helm", "uninstall", "alone", "--debug")
	assert.Contains(t, said, "kubectl annotate serviceinstances "+name+" -n "+e.Namespace+" "+api.AnnotationPreventDeletion+"-")
	assert.True(t, isReady(e.instance(name)))
	assert.Len(t, s.Instances(), 1)

	e.Kubectl("", "annotate", "serviceinstances", name, api.AnnotationPreventDeletion+"-")
	e.must("helm", "uninstall", "alone", "--wait", "--timeout=60s")
	assert.Empty(t, s.Instances())
}
