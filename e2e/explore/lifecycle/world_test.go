package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

const (
	// mostIDs bounds the IDs that one object is given, one after the other.
	mostIDs = 8
	// mostFlights bounds the requests that are on their way without an answer.
	mostFlights = 2
	callTimeout = time.Minute
)

var (
	epoch    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rotating = lifecycle.Rotating{Overlap: 10 * time.Minute, Margin: time.Hour, Pause: 5 * time.Minute}
)

// idOf is an ID by its number: the first is that of the spec.
func idOf(number int) string {
	return fmt.Sprintf("%d2222222-2222-4222-8222-%012d", min(number, 1)+1, number)
}

func numberOf(id string) int {
	return slices.IndexFunc(ids, func(known string) bool { return known == id })
}

var ids = func() (all []string) {
	for number := range mostIDs {
		all = append(all, idOf(number))
	}
	return all
}()

// A place is what a broker has under an ID.
type place uint8

const (
	nothing place = iota
	making
	there
	// broken is what an operation that failed left.
	broken
	removing
)

// A site is an ID at the broker.
type site struct {
	place place
	body  string
}

// make is the site after the broker acted on a request to make something.
func (s site) make(body string, at place) site {
	if s.place == nothing {
		return site{at, body}
	}
	return s
}

// A flight is a request that the broker may still act on.
type flight struct {
	step  lifecycle.Step
	id    int
	body  string
	until time.Time
}

// A world is the object as it is stored, and the truth. What the pointers lead to is never
// written to.
type world struct {
	instance *v1beta1.ServiceInstance
	binding  *v1beta1.ServiceBinding
	body     string
	now      time.Time
	// restarted says that the process that wrote the record's deadline is gone.
	restarted, gone bool
	// holder is the ID whose credentials the Secret has, from 1; 0: none.
	holder  int
	sites   [mostIDs]site
	flights [mostFlights]flight
	// given is how many IDs were given; left is how much more may happen.
	given, left int
}

// object is the part that instances and bindings share.
func (w *world) object() *metav1.ObjectMeta {
	if w.instance != nil {
		return &w.instance.ObjectMeta
	}
	return &w.binding.ObjectMeta
}

func (w *world) deleting() bool { return w.object().DeletionTimestamp != nil }

// edit writes the object by a user.
func (w *world) edit(change func(meta *metav1.ObjectMeta, spec *v1beta1.ServiceBindingSpec)) {
	if w.instance != nil {
		w.instance = w.instance.DeepCopy()
		change(&w.instance.ObjectMeta, nil)
		w.instance.Generation++
		return
	}
	w.binding = w.binding.DeepCopy()
	change(&w.binding.ObjectMeta, &w.binding.Spec)
	w.binding.Generation++
}

// A side is one of the two bindings of a rotation, or the instance.
type side struct {
	other    bool
	resource lifecycle.Resource
	facts    lifecycle.Facts
}

// desired is what a body means to a broker.
func desired(body string) *lifecycle.Desired {
	return &lifecycle.Desired{
		Request: lifecycle.Request{
			BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "broker", ClassExternalID: "class", PlanExternalID: "plan"},
			PlanName:     "plan", Cluster: true, ParameterChecksum: strings.Repeat(body, 64), ContextChecksum: strings.Repeat("c", 64),
			User: &v1beta1.UserInfo{Username: "ann"},
		},
		PlanUpdatable: true, Rule: "class-default",
	}
}

func (w *world) facts() lifecycle.Facts {
	return lifecycle.Facts{
		Now: w.now, Desired: desired(w.body), Settled: !w.restarted, BrokerReady: true,
		NewID: idOf(min(w.given, mostIDs-1)), Jitter: 0.5, MaxPolling: 24 * time.Hour,
	}
}

// store writes a record of a side.
func (w *world) store(s *side, r *lifecycle.Record) {
	if numberOf(r.ID) >= w.given {
		w.given = numberOf(r.ID) + 1
	}
	if w.instance != nil {
		next := w.instance.DeepCopy()
		next.Status = r.InstanceStatus(next.Status)
		w.instance = next.DeepCopy()
		return
	}
	next := w.binding.DeepCopy()
	issued := lifecycle.NewCredentials(next, r.ID, next.Spec.Rotation.Requests, w.now, time.Time{}, time.Time{})
	switch {
	case s.other:
		next.Status = rotating.RotationStatus(next, r, lifecycle.Switch{Issued: issued, Now: w.now})
	default:
		next.Status = r.BindingStatus(next.Status)
		if !r.Exists {
			next.Status.Credentials = nil
		} else if next.Status.Credentials == nil {
			next.Status.Credentials = issued
		}
	}
	w.binding = next.DeepCopy()
}

// held says that the Secret has the credentials of an ID.
func (w *world) held(id string) bool { return w.holder != 0 && ids[w.holder-1] == id }

// pass lets time pass. What was cut off is not acted on after its time.
func (w *world) pass(until time.Time) {
	w.now = until
	for i, f := range w.flights {
		if !f.until.After(until) {
			w.flights[i] = flight{}
		}
	}
}

// key is what makes two worlds the same for the future. Times count by how far away they are,
// times that have passed and texts do not.
func (w *world) key() string {
	var b strings.Builder
	until := func(t *metav1.Time) string {
		if t == nil {
			return "-"
		}
		return ahead(t.Sub(w.now))
	}
	call := func(t *metav1.MicroTime) string {
		if t == nil {
			return "-"
		}
		return ahead(t.Sub(w.now))
	}
	conditions := func(all []v1beta1.Condition) {
		for _, c := range all {
			fmt.Fprint(&b, c.Type, c.Status, c.Reason, w.object().Generation-c.ObservedGeneration, ";")
		}
	}
	fmt.Fprint(&b, w.body, w.restarted, w.gone, w.holder, w.sites, w.given, w.left, w.deleting(), "|")
	for _, f := range w.flights {
		fmt.Fprint(&b, f.step, f.id, f.body, f.until.After(w.now), "|")
	}
	if w.instance != nil {
		s := &w.instance.Status
		fmt.Fprint(&b, s.CurrentOperation, s.AsyncOpInProgress, s.OrphanMitigationInProgress, s.KeepExternalID, s.OperationStartTime == nil, call(s.CallDeadline),
			s.Retries, until(s.NextRetry), s.ExternalID, s.FetchRequired, s.RefusedRequest != "", s.ProvisionStatus, s.DeprovisionStatus,
			w.instance.Generation-s.ObservedGeneration, s.ReconciledGeneration == s.ObservedGeneration, sum(s.InProgressProperties), sum(s.ExternalProperties), "|")
		conditions(s.Conditions)
		return b.String()
	}
	s := &w.binding.Status
	fmt.Fprint(&b, s.CurrentOperation, s.AsyncOpInProgress, s.OrphanMitigationInProgress, s.KeepExternalID, s.OperationStartTime == nil, call(s.CallDeadline),
		s.Retries, until(s.NextRetry), s.ExternalID, s.FetchRequired, s.RefusedRequest != "", s.UnbindStatus, s.InProgressProperties != nil, s.ExternalProperties != nil,
		w.binding.Generation-s.ObservedGeneration, s.ReconciledGeneration == s.ObservedGeneration, "|")
	if c := s.Credentials; c != nil {
		fmt.Fprint(&b, w.binding.Spec.Rotation.Requests-c.Requests, "|")
	}
	if r := s.Rotation; r != nil {
		fmt.Fprint(&b, r.Role, r.CurrentOperation, r.AsyncOpInProgress, r.OrphanMitigationInProgress, r.OperationStartTime == nil, call(r.CallDeadline), r.Retries,
			until(r.NextRetry), r.FetchRequired, r.UnbindStatus, r.RefusedRequest != "", r.ExternalID, r.InProgressProperties != nil, r.ExternalProperties != nil,
			r.Message != "", "|")
		if r.Role == v1beta1.RotationPredecessor {
			fmt.Fprint(&b, ahead(rotating.RemoveAfter(w.binding).Sub(w.now)), "|")
		}
	}
	conditions(s.Conditions)
	return b.String()
}

func ahead(d time.Duration) string {
	if d <= 0 {
		return "past"
	}
	return d.String()
}

func sum(p *v1beta1.ServiceInstancePropertiesState) string {
	if p == nil {
		return "-"
	}
	return p.ParameterChecksum[:1]
}
