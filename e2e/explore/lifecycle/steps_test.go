package lifecycle_test

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/explore"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

type step = explore.Step[world]

// A model is an instance or a binding.
type model struct {
	binding bool
	// stored is what is stored of a record, which a mutant changes.
	stored func(before, after *lifecycle.Record)
}

func (m *model) start(left int) world {
	meta := metav1.ObjectMeta{Generation: 1, UID: "uid", CreationTimestamp: metav1.Time{Time: epoch}, Annotations: map[string]string{v1beta1.AnnotationMintedExternalID: ids[0]}}
	w := world{body: "a", now: epoch, given: 1, left: left}
	if !m.binding {
		w.instance = &v1beta1.ServiceInstance{ObjectMeta: meta, Spec: v1beta1.ServiceInstanceSpec{ExternalID: ids[0]}}
		return w
	}
	w.binding = &v1beta1.ServiceBinding{ObjectMeta: meta, Spec: v1beta1.ServiceBindingSpec{ExternalID: ids[0], Rotation: &v1beta1.Rotation{}}}
	return w
}

// turn is what the controller does next: for the binding in force first, and then for the other
// one of a rotation.
func (w *world) turn() (*side, lifecycle.Decision, time.Duration) {
	main := &side{facts: w.facts()}
	if w.instance != nil {
		main.resource = lifecycle.OfInstance(w.instance.DeepCopy())
		d := lifecycle.Next(main.resource, main.facts)
		return main, d, d.After
	}
	b := w.binding
	if w.deleting() && b.Status.Rotation != nil {
		return w.other()
	}
	main.resource = lifecycle.OfBinding(b.DeepCopy())
	main.facts.Stored = w.held(lifecycle.InForce(b))
	main.facts.SecretLost = main.resource.Record.Exists && !main.facts.Stored && !w.holdsSuccessor()
	d := lifecycle.Next(main.resource, main.facts)
	if d.Step != lifecycle.Rest || !reflect.DeepEqual(d.Record.BindingStatus(b.Status), b.Status) || !main.resource.Record.Exists {
		return main, d, d.After
	}
	is, wait := rotating.Turn(b, w.now)
	if !is {
		return main, d, max(wait, d.After)
	}
	return w.other()
}

func (w *world) holdsSuccessor() bool {
	r := w.binding.Status.Rotation
	return r != nil && r.Role == v1beta1.RotationSuccessor && w.held(r.ExternalID) && r.CurrentOperation != v1beta1.BindingUnbind
}

func (w *world) other() (*side, lifecycle.Decision, time.Duration) {
	s := &side{other: true, resource: rotating.OfRotation(w.binding.DeepCopy(), w.now), facts: w.facts()}
	s.facts.Stored = w.held(s.resource.Record.ID)
	d := lifecycle.Next(s.resource, s.facts)
	return s, d, d.After
}

// steps are all that can happen.
func (m *model) steps(w world) []step {
	if w.gone {
		return nil
	}
	all := append(m.controller(w), w.broker()...)
	if !w.deleting() {
		deleted := w
		deleted.edit(func(meta *metav1.ObjectMeta, _ *v1beta1.ServiceBindingSpec) {
			meta.DeletionTimestamp = &metav1.Time{Time: epoch}
		})
		all = append(all, step{Name: "a user deletes it", To: deleted})
	}
	if w.left == 0 || w.deleting() {
		return all
	}
	w.left--
	if m.binding {
		w.edit(func(_ *metav1.ObjectMeta, spec *v1beta1.ServiceBindingSpec) { spec.Rotation.Requests++ })
		return append(all, step{Name: "a user asks for other credentials", To: w})
	}
	w.body = map[string]string{"a": "b", "b": "a"}[w.body]
	w.edit(func(*metav1.ObjectMeta, *v1beta1.ServiceBindingSpec) {})
	return append(all, step{Name: "a user edits it", To: w})
}

// broker is what happens at the broker by itself.
func (w *world) broker() []step {
	var all []step
	change := func(name string, number int, s site, program bool) *world {
		to := *w
		to.sites[number] = s
		all = append(all, step{Name: fmt.Sprintf("the broker %s, ID %d", name, number), To: to, Program: program})
		return &all[len(all)-1].To
	}
	for number, s := range w.sites {
		switch s.place {
		case making:
			change("has made it", number, site{there, s.body}, true)
			if w.left > 0 {
				change("fails to make it", number, site{broken, s.body}, false).left--
			}
		case removing:
			change("has removed it", number, site{}, true)
		case nothing, there, broken:
		}
	}
	for i, f := range w.flights {
		if f.until.After(w.now) {
			change("acts late on a request to "+f.step.String(), f.id, f.lands(w.sites[f.id]), false).flights[i] = flight{}
		}
	}
	return all
}

// controller is one pass: an intent, a call, and what came of it. It may die in between.
func (m *model) controller(w world) []step {
	s, d, wait := w.turn()
	switch d.Step {
	case lifecycle.Release:
		w.release(s)
		return []step{{Name: "the controller lets it go", To: w, Program: true}}
	case lifecycle.Rest:
		return w.rests(s, &d, wait)
	default:
		return m.calls(w, s, d)
	}
}

func (w *world) release(s *side) {
	if !s.other {
		w.gone = true
		return
	}
	w.binding = w.binding.DeepCopy()
	w.binding.Status = lifecycle.RotationDone(w.binding)
}

// rests writes what is to be told, or waits.
func (w *world) rests(s *side, d *lifecycle.Decision, wait time.Duration) []step {
	written := *w
	written.store(s, &d.Record)
	if written.key() != w.key() {
		return []step{{Name: "the controller writes status", To: written, Program: true}}
	}
	if wait <= 0 {
		return nil
	}
	later := *w
	later.pass(w.now.Add(wait))
	return []step{{Name: "time passes", To: later, Program: true}}
}

func (m *model) calls(w world, s *side, d lifecycle.Decision) []step {
	if d.Step != lifecycle.Poll {
		d.Record.Deadline = w.now.Add(callTimeout)
		w.restarted = false
		m.stored(&s.resource.Record, &d.Record)
	}
	w.store(s, &d.Record)
	number := numberOf(d.Record.ID)
	if d.Step == lifecycle.Deprovision || d.Step == lifecycle.MitigateOrphan {
		if w.deleting() || w.held(d.Record.ID) {
			w.holder = 0
		}
	}
	name := fmt.Sprintf("%s, ID %d", d.Step, number)
	var all []step
	if dead := w; dead.left > 0 {
		dead.left--
		dead.restarted = true
		all = append(all, step{Name: name + ": the controller dies before the call", To: dead})
	}
	body := w.body
	if m.binding {
		body = "a"
	}
	for _, a := range answers(d.Step, w.sites[number], body, m.binding) {
		all = append(all, m.answered(w, s, d, a, name, body)...)
	}
	return all
}

// answered is what an answer leads to, and where the controller dies before it stores that.
func (m *model) answered(w world, s *side, d lifecycle.Decision, a answer, name, body string) []step {
	if !a.good {
		if w.left == 0 {
			return nil
		}
		w.left--
	}
	number := numberOf(d.Record.ID)
	w.sites[number] = a.site
	if a.flies && !w.fly(flight{d.Step, number, body, w.now.Add(callTimeout)}) {
		return nil
	}
	if a.result.Credentials == lifecycle.Stored {
		w.holder = number + 1
	}
	var all []step
	if dead := w; dead.left > 0 || !a.good {
		if a.good {
			dead.left--
		}
		dead.restarted = true
		all = append(all, step{Name: name + ": " + a.name + ", and the controller dies", To: dead})
	}
	w.pass(w.now.Add(a.took))
	s.facts.Now = w.now
	o := s.resource.HandleResult(d, a.result, s.facts)
	role := v1beta1.RotationSuccessor
	if s.other && w.binding.Status.Rotation != nil {
		role = w.binding.Status.Rotation.Role
	}
	if s.other {
		o.Rotates(role, &s.facts)
	}
	if o.Release {
		w.release(s)
	} else {
		m.stored(&d.Record, &o.Record)
		w.store(s, &o.Record)
	}
	return append(all, step{Name: name + ": " + a.name, To: w, Program: a.good})
}

// fly has a request be on its way; false: there are too many.
func (w *world) fly(f flight) bool {
	for i := range w.flights {
		if w.flights[i] == (flight{}) {
			w.flights[i] = f
			return true
		}
	}
	return false
}

// check is what holds in every state.
func (m *model) check(w world) error {
	if w.given >= mostIDs {
		return errors.New("more IDs are given than the model has")
	}
	known := map[string]bool{}
	if w.instance != nil {
		known[w.instance.Status.ExternalID] = true
	} else {
		known[w.binding.Status.ExternalID] = true
		if r := w.binding.Status.Rotation; r != nil {
			known[r.ExternalID] = true
		}
	}
	count, most := 0, map[bool]int{false: 1, true: 2}[m.binding]
	for number, s := range w.sites {
		if s.place == nothing {
			continue
		}
		count++
		if w.gone || !known[ids[number]] {
			return fmt.Errorf("what the broker has under ID %d is lost", number)
		}
	}
	for _, f := range w.flights {
		if f.step == lifecycle.Provision && f.until.After(w.now) && (w.gone || !known[ids[f.id]]) {
			return fmt.Errorf("what the broker may still make under ID %d is lost", f.id)
		}
	}
	switch {
	case count > most:
		return fmt.Errorf("the broker has %d of it", count)
	case w.holder != 0 && !w.deleting() && w.sites[w.holder-1].place != there:
		return errors.New("the Secret has credentials that the broker does not take")
	}
	return nil
}

// settled says what is unfinished where no program has anything to do.
func (m *model) settled(w world) error {
	if w.gone {
		return nil
	}
	if w.deleting() {
		return errors.New("a deletion does not end")
	}
	status, inForce := w.conditions()
	ready, _ := v1beta1.FindCondition(status, v1beta1.ConditionReady)
	failed, _ := v1beta1.FindCondition(status, v1beta1.ConditionFailed)
	count := 0
	for _, s := range w.sites {
		if s.place != nothing {
			count++
		}
	}
	at := site{}
	if number := numberOf(inForce); number >= 0 {
		at = w.sites[number]
	}
	switch {
	case failed.Status == v1beta1.ConditionTrue && count <= 1: // what is there goes with the object
		return nil
	case ready.Status != v1beta1.ConditionTrue:
		return fmt.Errorf("it is neither ready nor failed: %s", ready.Reason)
	case count != 1 || at.place != there || at.body != w.body && !m.binding:
		return fmt.Errorf("it is ready, and the broker has %d, in force %v", count, at)
	case m.binding && !w.held(inForce):
		return errors.New("the Secret does not have the credentials in force")
	case m.binding && w.binding.Status.Rotation != nil:
		return errors.New("a rotation does not end")
	}
	return nil
}

func (w *world) conditions() (all []v1beta1.Condition, inForce string) {
	if w.instance != nil {
		return w.instance.Status.Conditions, w.instance.Status.ExternalID
	}
	return w.binding.Status.Conditions, w.binding.Status.ExternalID
}

func explored(binding bool) *model {
	return &model{binding: binding, stored: func(_, _ *lifecycle.Record) {}}
}

func (m *model) run(left, mostStates int) explore.Result {
	return explore.Run(explore.Model[world, string]{
		Start: m.start(left), Key: func(w world) string { return w.key() }, Steps: m.steps, Check: m.check, Settled: m.settled, MostStates: mostStates,
	})
}
