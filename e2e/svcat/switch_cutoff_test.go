package svcat_test

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// Where a command is cut off: at a write that the API server has not got yet, or that
// it has stored and not answered.
const (
	unsent     = "unsent"
	unanswered = "unanswered"
)

// A switch that is killed at each of its writes, before and after the API server has
// it. Before the record is written nothing has changed; after, the keeper finishes.
func TestSwitchKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	const old, both = "basic50", "basic50 is no longer the default plan for mysql\npremium-p1 is the default plan for mysql\n"
	for name, tc := range map[string]struct {
		reason    string
		resource  string
		moment    string
		plan, out string
	}{
		"RecordUnsent":         {"Nothing has changed.", "clusterservicetypes", unsent, old, ""},
		"RecordUnanswered":     {"The switch is made, though svcat never knew.", "clusterservicetypes", unanswered, "premium-p1", ""},
		"AnnotationUnsent":     {"The keeper annotates, and takes the other annotation off.", "clusterserviceplans", unsent, "premium-p1", both},
		"AnnotationUnanswered": {"The keeper takes the other annotation off.", "clusterserviceplans", unanswered, "premium-p1", both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).newStall(false, old, "premium-p1")
			s.set("plan", s.Name(old), "--default")
			s.comesTo("record basic50, annotated basic50")
			proxy := s.proxy()
			held := proxy.Hold(writes(http.MethodPatch, tc.resource))
			cut := s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
			<-held.Arrived
			if tc.moment == unanswered {
				held.Apply()
				<-held.Applied
			}
			require.NoError(t, cut.cmd.Process.Signal(syscall.SIGKILL))
			assert.Equal(t, tc.out, s.normal(cut.ends().out), tc.reason)
			assert.Equal(t, tc.plan, s.gives(), tc.reason)
			s.comesTo("record " + tc.plan + ", annotated " + tc.plan)
		})
	}
}

// Ctrl-C while the record is written: the answer is waited for, the lines are true,
// and what is left to the keeper is said. So it is while the annotation is written.
func TestSwitchInterrupted(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPatch, "clusterservicetypes"))
	// Should the signal take longer than the answer: the annotation is never answered.
	proxy.Hold(writes(http.MethodPatch, "clusterserviceplans"))
	cut := s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	<-held.Arrived
	cut.interrupt()
	held.Apply()
	held.Answer()
	got := cut.ends()
	assert.Equal(t, "basic50 is no longer the default plan for mysql\npremium-p1 is the default plan for mysql\n", s.normal(got.out))
	assert.Equal(t, 130, got.code, got.err)
	assert.Contains(t, s.normal(got.err), "error: interrupted: the switch is made, and the keeper annotates azure-mysql/premium-p1\n")
	s.comesTo("record premium-p1, annotated premium-p1")

	proxy = s.proxy()
	held = proxy.Hold(writes(http.MethodPatch, "clusterserviceplans"))
	cut = s.start(proxy.Kubeconfig(), "set", "plan", s.Name("basic50"), "--default", "--cluster")
	<-held.Arrived
	cut.interrupt()
	got = cut.ends()
	assert.Equal(t, 130, got.code)
	assert.Contains(t, s.normal(got.err), "error: interrupted: the switch is made, and the keeper annotates azure-mysql/basic50\n")
	s.comesTo("record basic50, annotated basic50")

	held = proxy.Hold(writes(http.MethodPatch, "clusterservicetypes"))
	cut = s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	<-held.Arrived
	cut.interrupt()
	got = cut.ends()
	assert.Equal(t, 130, got.code)
	assert.Contains(t, s.normal(got.err), "error: interrupted before the API server answered: it is not known whether azure-mysql/premium-p1 is the default plan for mysql\n")
	assert.Empty(t, got.out, "no line that may not be true")
}

// Another switch comes between the record and the annotation: both lines were true,
// and what came after is told.
func TestSwitchSuperseded(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1", "own")
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPatch, "clusterserviceplans"))
	slow := s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	<-held.Arrived
	assert.Equal(t, "premium-p1 is no longer the default plan for mysql\nown is the default plan for mysql\n", s.set("plan", s.Name("own"), "--default").out)
	s.comesTo("record own, annotated own")
	held.Apply()
	held.Answer()
	got := slow.ends()
	assert.Zero(t, got.code)
	assert.Equal(t, "basic50 is no longer the default plan for mysql\npremium-p1 is the default plan for mysql\n", s.normal(got.out))
	assert.Equal(t, "then azure-mysql/own was made the default plan for mysql by another switch\n", s.normal(got.err))
	s.comesTo("record own, annotated own")
}

// The plan is deleted between the record and its annotation: there was no other
// switch.
func TestSwitchOfAPlanThatGoes(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPatch, "clusterserviceplans"))
	slow := s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	<-held.Arrived
	require.NoError(t, s.Client().Delete(t.Context(), s.plan("premium-p1")))
	held.Apply()
	held.Answer()
	got := slow.ends()
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "error: plan azure-mysql/premium-p1 was deleted meanwhile, so that it is not the default plan for mysql\n", s.normal(got.err))
	s.comesTo("record , annotated ")
}

// Back and forth: while one switch waits for its annotation, another makes that plan the default again, and the keeper confirms it. The
// annotation must stay, or the keeper would take its going for a wish.
func TestSwitchBackAndForth(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPatch, "clusterserviceplans"))
	slow := s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	<-held.Arrived
	held.Apply()
	<-held.Applied
	off := proxy.Hold(takesOff)
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	held.Answer()
	got := slow.ends()
	assert.Zero(t, got.code)
	assert.Empty(t, got.err, "its own switch was whole before the other came")
	select {
	case <-off.Arrived:
		t.Error("svcat took an annotation off beside the keeper")
	default:
	}
	s.comesTo("record basic50, annotated basic50")
}

// The keeper alone takes annotations off, and it is not waited for.
func TestSwitchLeavesTheOldAnnotationToTheKeeper(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	proxy := s.proxy()
	off := proxy.Hold(takesOff)
	switching, ended := s.start(proxy.Kubeconfig(), "set", "plan", s.Name("premium-p1"), "--default", "--cluster"), make(chan outcome, 1)
	go func() { ended <- switching.ends() }()
	select {
	case got := <-ended:
		assert.Zero(t, got.code, got.err)
	case <-off.Arrived:
		t.Error("svcat took the annotation off beside the keeper")
		off.Apply()
		off.Answer()
		<-ended
	}
	s.comesTo("record premium-p1, annotated premium-p1")
}

// Without a keeper, the record decides alone: svcat creates the one that does
// not exist yet, and an old annotation beside it means nothing.
//
//nolint:tparallel // the stack ends with the test.
func TestSwitchWithoutAKeeper(t *testing.T) {
	t.Parallel()
	alone := suite.New(t, stack.Options{Webhooks: 1, WebhookArgs: []string{"--keeper=off"}})
	for name, namespaced := range bothScopes {
		t.Run(name, func(t *testing.T) {
			s := newEnvOn(t, alone).newOffer(namespaced, "basic50", "premium-p1")
			assert.Equal(t, "basic50 is the default plan for "+s.mysql()+"\n", s.set("plan", s.Name("basic50"), "--default").out)
			s.comesTo("record basic50?, annotated basic50")
			got := s.run("", append([]string{"set", "plan", s.Name("premium-p1"), "--default"}, s.flags()...)...)
			assert.Equal(t, "basic50 is no longer the default plan for "+s.mysql()+"\npremium-p1 is the default plan for "+s.mysql()+"\n", s.normal(got.out))
			assert.Empty(t, got.err)
			s.comesTo("record premium-p1?, annotated basic50 premium-p1")
			assert.Equal(t, "premium-p1", s.gives())
			refused := s.trySet("plan", s.Name("premium-p1"), "--default=false")
			assert.Equal(t, 1, refused.code)
			assert.Contains(t, refused.err, "azure-mysql/basic50 is annotated still, though it was replaced")
			s.comesTo("record premium-p1?, annotated basic50 premium-p1")
			s.set("plan", s.Name("basic50"), "--default=false")
			s.set("plan", s.Name("premium-p1"), "--default=false")
			s.comesTo("record , annotated ")
		})
	}
}

// takesOff matches svcat's write that takes an annotation off.
func takesOff(write *apiproxy.Write) bool {
	return write.Resource == "clusterserviceplans" && string(write.Body) == `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/is-default-plan":null}}}`
}
