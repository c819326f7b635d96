package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	specID     = "11111111-1111-4111-8111-111111111111"
	maxPolling = 24 * time.Hour
)

// A scenario is what does not change while the states are explored.
type scenario struct {
	kind      Kind
	minted    bool
	fetchable bool
	// foreign is the body of what was there before anybody asked; empty: nothing was.
	foreign string
	// adopting says that nothing is to be made.
	adopting bool
	// claim says that a binding has an instance of its own.
	claim bool
}

// trusts says that what is there is taken over unseen.
func (s *scenario) trusts() bool { return s.adopting && !s.fetchable }

// supplies says that a user may write the Secret of what is there.
func (s *scenario) supplies() bool { return s.adopting && s.kind == Binding && s.foreign != "" }

func (s *scenario) name() string {
	name := map[Kind]string{Instance: "Instance", Binding: "Binding"}[s.kind]
	name += map[bool]string{true: "Minted", false: "Adopted"}[s.minted]
	name += map[bool]string{true: "Fetchable", false: "NotFetchable"}[s.fetchable]
	name += map[bool]string{true: "Only"}[s.adopting] + map[bool]string{true: "Claim"}[s.claim]
	return name + map[string]string{"": "", "a": "AsAsked", "b": "Different"}[s.foreign]
}

func scenarios() []scenario {
	var all []scenario
	for _, kind := range []Kind{Instance, Binding} {
		for _, fetchable := range []bool{true, false} {
			all = append(all, scenario{kind: kind, minted: true, fetchable: fetchable}, scenario{kind: kind, fetchable: fetchable},
				scenario{kind: kind, fetchable: fetchable, foreign: "a"}, scenario{kind: kind, fetchable: fetchable, foreign: "b"})
		}
	}
	return append(all, scenario{kind: Instance, fetchable: true, adopting: true},
		scenario{kind: Instance, fetchable: true, adopting: true, foreign: "a"}, scenario{kind: Instance, fetchable: true, adopting: true, foreign: "b"},
		scenario{kind: Instance, adopting: true, foreign: "a"}, scenario{kind: Instance, adopting: true, foreign: "b"},
		scenario{kind: Binding, fetchable: true, adopting: true},
		scenario{kind: Binding, fetchable: true, adopting: true, foreign: "a"}, scenario{kind: Binding, fetchable: true, adopting: true, foreign: "b"},
		scenario{kind: Binding, adopting: true, foreign: "a"}, scenario{kind: Binding, adopting: true, foreign: "b"},
		scenario{kind: Binding, minted: true, fetchable: true, claim: true}, scenario{kind: Binding, minted: true, claim: true},
		scenario{kind: Binding, fetchable: true, foreign: "a", claim: true})
}

// A state is all that the next step depends on, and the truth at the broker.
type state struct {
	resource Resource
	body     string
	now      time.Time
	// restarted says that the process that wrote the record's deadline is gone.
	restarted bool
	env       env
	// remains says that a claim's own instance is there; gaveUp that what it has at the
	// broker was given up.
	remains, gaveUp bool
	ids             int
	from            *state
	how             string
}

func (s *scenario) start() state {
	return state{
		resource: Resource{Kind: s.kind, Generation: 1, SpecID: specID, Minted: s.minted, Adopting: s.adopting},
		remains:  s.claim,
		body:     "a", now: epoch, env: env{place: map[bool]place{true: there, false: nothing}[s.foreign != ""], body: s.foreign},
	}
}

func (s *state) path() string {
	var steps []string
	for at := s; at != nil && at.how != ""; at = at.from {
		steps = append(steps, at.how)
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}

// desired is what a body means to a broker.
func desired(body string) *Desired {
	return &Desired{
		Request: Request{
			BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "broker", ClassExternalID: "class", PlanExternalID: "plan-id"},
			PlanName:     "plan", Cluster: true, ParameterChecksum: strings.Repeat(body, 64), ContextChecksum: strings.Repeat("c", 64),
			User: &v1beta1.UserInfo{Username: "ann"},
		},
		PlanUpdatable: true, AllowContextUpdates: true, Rule: "class-default",
	}
}

// facts are those of a good day.
func (s *scenario) facts(at *state) Facts {
	return Facts{
		Now: at.now, Desired: desired(at.body), Remains: at.remainder(), Fetchable: s.fetchable, Settled: !at.restarted, BrokerReady: true,
		SecretLost: s.kind == Binding && at.resource.Record.Exists && !at.env.secret,
		Stored:     s.kind == Binding && at.env.secret,
		NewID:      fmt.Sprintf("22222222-2222-4222-8222-%012d", at.ids+1), Jitter: 0.5, MaxPolling: maxPolling,
	}
}

// remainder is what there is to say of a claim's own instance, at its deletion.
func (s *state) remainder() *Problem {
	if !s.remains || !s.resource.Deleting {
		return nil
	}
	return &Problem{Reason: "Deprovisioning", Message: "the instance is there still", Waits: true}
}

// otherFacts are those of bad days.
func (s *scenario) otherFacts(at *state) map[string]Facts {
	bad := map[string]Facts{}
	add := func(name string, change func(*Facts)) {
		f := s.facts(at)
		change(&f)
		bad[name] = f
	}
	problem := func(f *Facts, p Problem) { f.Desired, f.Problem = nil, &p }
	add("Waits", func(f *Facts) { problem(f, Problem{Reason: "NoPlan", Message: "wait", Waits: true, Undecided: true}) })
	add("Stuck", func(f *Facts) { problem(f, Problem{Reason: "BadParameters", Message: "mend it"}) })
	add("Gone", func(f *Facts) {
		f.BrokerGone = true
		problem(f, Problem{Reason: "NoBroker", Message: "gone", Waits: true})
	})
	if s.claim {
		add("InstanceFailed", func(f *Facts) { problem(f, Problem{Reason: "ProvisionCallFailed", Message: "no", Failed: true}) })
		add("InstanceGone", func(f *Facts) { problem(f, Problem{Reason: "InstanceGone", Message: "gone", Voids: true}) })
	}
	add("Held", func(f *Facts) { f.HeldBecause = "it does not answer" })
	if s.kind == Binding && at.env.secret && !at.resource.Record.Exists {
		add("ToldMore", func(f *Facts) { f.ToldMore = true })
	}
	add("NotReady", func(f *Facts) { f.BrokerReady = false })
	if at.resource.Record.NextRetry.After(at.now) {
		add("Woken", func(f *Facts) { f.Woken, f.AlsoFailing = true, 5000 })
	}
	if at.resource.Deleting && s.kind == Instance {
		add("Holders", func(f *Facts) { f.Holders = []string{"binding"} })
	}
	return bad
}

// stored is a resource as it is read again once its record is written.
func (t *Resource) stored(r *Record) Resource {
	meta := metav1.ObjectMeta{Generation: t.Generation, Annotations: map[string]string{}}
	if t.Minted {
		meta.Annotations[v1beta1.AnnotationMintedExternalID] = t.SpecID
	}
	if t.Deleting {
		meta.DeletionTimestamp = &metav1.Time{Time: epoch}
	}
	if t.Abandoned {
		meta.Annotations[v1beta1.AnnotationAbandon] = "true"
	}
	if t.DeprovisionAdopted {
		meta.Annotations[v1beta1.AnnotationDeprovisionAdopted] = "true"
	}
	if t.Adopting {
		meta.Annotations[v1beta1.AnnotationAdopt] = "true"
	}
	if t.Kind == Instance {
		i := &v1beta1.ServiceInstance{ObjectMeta: meta, Spec: v1beta1.ServiceInstanceSpec{ExternalID: t.SpecID}}
		i.Status = r.InstanceStatus(i.Status)
		return OfInstance(i.DeepCopy())
	}
	b := &v1beta1.ServiceBinding{ObjectMeta: meta, Spec: v1beta1.ServiceBindingSpec{ExternalID: t.SpecID}}
	b.Status = r.BindingStatus(b.Status)
	return OfBinding(b.DeepCopy())
}

// retries are counted as far as anything depends on how many there were.
func (s *state) retries() int32 {
	r := &s.resource.Record
	counted := r.FetchRequired && (s.resource.Kind == Instance || r.Operation == Provisioning) || r.Operation == Deprovisioning && r.Async || r.Operation == Provisioning && s.resource.Kind == Binding && r.Async
	return min(r.Retries, map[bool]int32{true: triesForCredentials, false: 1}[counted])
}

// key is what makes two states the same for the future: times count only by whether
// they have come, generations by whether they agree, messages not at all.
func (s *state) key() string {
	r := &s.resource.Record
	due := func(t time.Time) string {
		switch {
		case t.IsZero():
			return "-"
		case t.After(s.now):
			return "later"
		}
		return "past"
	}
	sent := func(p *Request) string {
		if p == nil {
			return "-"
		}
		return p.ParameterChecksum[:1]
	}
	var conditions []string
	for _, c := range r.Conditions {
		conditions = append(conditions, c.Type[:3]+string(c.Status))
	}
	slices.Sort(conditions)
	w := s.env
	return fmt.Sprint(r.Operation, r.Async, r.Mitigating, r.KeepsID, r.Async && s.now.Sub(r.Started) > maxPolling, r.FetchRequired && r.Started.IsZero(),
		r.FetchRequired && s.now.Sub(r.Started) >= patienceForCredentials, due(r.Deadline),
		s.retries(), due(r.NextRetry), s.resource.own(), r.Exists, r.Absent, r.DeprovisionStatus, r.FetchRequired, r.Unusable, sent(r.InProgress), sent(r.Applied),
		s.resource.Generation == r.ObservedGeneration, s.resource.Deleting, s.resource.Abandoned, s.body, s.restarted && r.Deadline.After(s.now), conditions,
		w.place, w.body, w.next, w.ours, w.cut, w.cutBody, w.secret, s.remains, s.gaveUp, s.resource.passedOn())
}
