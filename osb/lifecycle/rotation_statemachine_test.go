package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

var rotating = Rotating{Overlap: 10 * time.Minute, Margin: time.Hour, Pause: 5 * time.Minute}

// TestRotationStateMachine goes random ways with a binding whose credentials are to be replaced
// again and again: with every response, crash, lost write, request and deletion. At every
// step: the Secret holds credentials that the broker takes; no more than two bindings are
// there; and in the end the one in force is there, or nothing.
func TestRotationStateMachine(t *testing.T) {
	t.Parallel()
	ways, far := 250, 60
	if testing.Short() {
		ways = 60
	}
	for _, plan := range []rotationPlan{{}, {rotatable: true}, {fetchable: true}, {rotatable: true, fetchable: true}} {
		t.Run(fmt.Sprintf("%+v", plan), func(t *testing.T) {
			t.Parallel()
			switches := 0
			for seed := range uint64(ways) {
				w := newRotationStateMachine(t, plan, seed)
				for range far {
					w.anything()
				}
				w.end()
				switches += w.switches
			}
			require.Greater(t, switches, ways*4/5, "it does not reach what it should")
		})
	}
}

type rotationPlan struct{ rotatable, fetchable bool }

// A rotationStateMachine is a binding, and the truth: what the broker has under each ID that was
// ever used, and whose credentials are in the Secret.
type rotationStateMachine struct {
	t         *testing.T
	plan      rotationPlan
	scenario  scenario
	random    *rand.Rand
	now       time.Time
	binding   *v1beta1.ServiceBinding
	envs      map[string]env
	holder    string
	restarted bool
	// lost says that the Secret was deleted.
	lost bool
	// served are the requests that credentials serve, by ID, and revealed whose credentials
	// the Secret had when others were asked for last.
	served   map[string]int64
	revealed string
	ids      int
	switches int
	path     []string
}

func newRotationStateMachine(t *testing.T, plan rotationPlan, seed uint64) *rotationStateMachine {
	t.Helper()
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{
		Generation: 1, UID: "uid", Annotations: map[string]string{v1beta1.AnnotationMintedExternalID: specID},
	}}
	b.Spec.ExternalID, b.Spec.Rotation = specID, &v1beta1.Rotation{}
	r := Record{
		ID: specID, Exists: true, Applied: new((&Resource{Kind: Binding}).storable(desired("a"))), DeprovisionStatus: DeprovisionRequired, SecretName: "s", ObservedGeneration: 1, ReconciledGeneration: 1,
		Conditions: []v1beta1.Condition{v1beta1.Ready("InjectedBindResult", "done")},
	}
	r.Conditions[0].ObservedGeneration = 1
	b.Status = r.BindingStatus(b.Status)
	b.Status.Credentials = &v1beta1.CredentialsState{IssuedAt: &metav1.Time{Time: epoch}}
	return &rotationStateMachine{
		t: t, plan: plan, scenario: scenario{kind: Binding, minted: true, fetchable: plan.fetchable}, random: rand.New(rand.NewPCG(seed, 1)),
		now: epoch.Add(time.Hour), binding: b, envs: map[string]env{specID: {place: there, body: "a", ours: true}}, holder: specID, served: map[string]int64{},
	}
}

// anything is what people, time and the controller do.
func (w *rotationStateMachine) anything() {
	switch n := w.random.IntN(30); {
	case n == 0 && w.binding.DeletionTimestamp == nil && len(w.path) > 40:
		w.binding.DeletionTimestamp = &metav1.Time{Time: w.now}
		w.binding.Generation++
		w.path = append(w.path, "delete")
	case n < 4:
		w.revealed = w.holder
		w.binding.Spec.Rotation.Requests++
		w.binding.Generation++
		w.path = append(w.path, "request")
	case n < 6:
		w.pass(w.now.Add(time.Duration(w.random.IntN(20)) * time.Minute))
	case n == 6:
		w.restarted = true
	case n == 7:
		w.lands()
	case n == 8 && w.random.IntN(10) == 0:
		w.holder, w.lost = "", true
		w.path = append(w.path, "secret lost")
	default:
		w.step(w.anyAnswer, w.random.IntN(8) == 0)
	}
	w.check()
}

// lands has a request that was cut off be acted on, or never.
func (w *rotationStateMachine) lands() {
	for id, at := range w.envs {
		if at.cut && w.random.IntN(2) == 0 {
			w.envs[id] = at.landed()
		}
	}
}

func (w *rotationStateMachine) pass(until time.Time) {
	w.now = until
	for id, at := range w.envs {
		if at.cut && !at.cutUntil.After(until) {
			at.cut = false
			w.envs[id] = at
		}
	}
}

func (w *rotationStateMachine) anyAnswer(all []answer) answer { return all[w.random.IntN(len(all))] }

// A side is one of the two bindings at the broker during a step.
type side struct {
	other bool
	// predecessor is the one that a repeated request of the one in force names.
	predecessor string
	resource    Resource
	facts       Facts
}

// next is whose turn it is, as the controller has it: nil if there is nothing to do now.
func (w *rotationStateMachine) next() (*side, Decision, time.Duration) {
	b := w.binding
	if b.DeletionTimestamp != nil && b.Status.Rotation != nil {
		s := w.otherSide()
		return s, Next(s.resource, s.facts), 0
	}
	main := &side{resource: OfBinding(b.DeepCopy()), facts: w.facts()}
	main.facts.SecretLost = main.resource.Record.Exists && w.holder != InForce(b) && !w.holdsSuccessor()
	if main.facts.SecretLost {
		main.facts.Desired.Request, main.predecessor, _ = Repeating(b, main.facts.Desired.Request)
	}
	d := Next(main.resource, main.facts)
	if d.Step != Rest || snapshot(w.t, d.Record.BindingStatus(b.Status)) != snapshot(w.t, b.Status) || !main.resource.Record.Exists {
		return main, d, 0
	}
	is, wait := rotating.Turn(b, w.now)
	if !is && d.After > 0 {
		return main, d, 0
	}
	if !is {
		return nil, d, wait
	}
	s := w.otherSide()
	return s, Next(s.resource, s.facts), 0
}

func (w *rotationStateMachine) holdsSuccessor() bool {
	r := w.binding.Status.Rotation
	return r != nil && r.Role == v1beta1.RotationSuccessor && r.ExternalID == w.holder && r.CurrentOperation != v1beta1.BindingUnbind
}

func (w *rotationStateMachine) otherSide() *side {
	s := &side{other: true, resource: rotating.OfRotation(w.binding.DeepCopy(), w.now), facts: w.facts()}
	s.facts.Stored = w.holder == s.resource.Record.ID
	if w.plan.rotatable {
		s.facts.Desired.Request = Succeeding(w.binding, s.facts.Desired.Request)
	}
	return s
}

func (w *rotationStateMachine) facts() Facts {
	return Facts{
		Now: w.now, Desired: desired("a"), Fetchable: w.plan.fetchable, Settled: !w.restarted, BrokerReady: true,
		NewID: fmt.Sprintf("22222222-2222-4222-8222-%012d", w.ids+1), Jitter: 0.5, MaxPolling: maxPolling,
	}
}

// step is one pass, with an answer that is chosen; a crash keeps its outcome from being
// stored. It returns how long there is nothing to do.
func (w *rotationStateMachine) step(choose func([]answer) answer, crash bool) time.Duration {
	s, d, wait := w.next()
	switch {
	case s == nil:
		return max(wait, 0)
	case d.Step == Release:
		w.released(s)
		return 0
	case d.Step == Rest:
		w.store(s, &d.Record)
		return d.After
	}
	w.path = append(w.path, fmt.Sprintf("%t %s %s", s.other, d.Step, short(d.Record.ID)))
	if d.Step != Poll && d.Step != Fetch {
		d.Record.Deadline = w.now.Add(callTimeout)
		w.restarted = false
	}
	w.checkCall(s, &d)
	w.store(s, &d.Record)
	if d.Step == Deprovision && w.binding.DeletionTimestamp != nil {
		w.holder = ""
	}
	a := choose(w.answers(s, &d))
	w.path = append(w.path, a.name)
	w.happened(s, d.Record.ID, a, d.Record.Deadline)
	if crash {
		w.restarted = true
		w.path = append(w.path, "crash")
		return 0
	}
	w.now = w.now.Add(a.took)
	s.facts.Now = w.now
	o := s.resource.HandleResult(d, a.result, s.facts)
	if s.other {
		o.Rotates(w.role(), &s.facts)
	}
	if o.Release {
		w.released(s)
		return 0
	}
	w.store(s, &o.Record)
	return o.After
}

func (w *rotationStateMachine) role() v1beta1.RotationRole {
	if w.binding.Status.Rotation == nil {
		return v1beta1.RotationSuccessor
	}
	return w.binding.Status.Rotation.Role
}

func short(id string) string { return id[max(len(id)-2, 0):] }
