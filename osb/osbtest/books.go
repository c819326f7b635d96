package osbtest

import "time"

// A State is how far an instance or a binding is.
type State string

// The states of what is on the books.
const (
	Creating State = "creating"
	Ready    State = "ready"
	Updating State = "updating"
	Removing State = "removing"
	// Broken: it was made asynchronously and that failed. What there is of it stands in
	// the way until it is removed.
	Broken State = "broken"
)

// An Instance is what the broker runs. Its maps are shared: read them only.
type Instance struct {
	ID, ServiceID, PlanID string
	// Organization and Space are as provisioned.
	Organization, Space string
	// Parameters are those of the last successful provision or update that gave any.
	Parameters map[string]any
	// Context is of the last successful provision or update that gave one.
	Context            map[string]any
	MaintenanceVersion string
	DashboardURL       string
	State              State
	// Creates is how often one of this ID was really made: 1, unless a clean-up freed the ID, or the platform broke M14.
	Creates int
	// Updates is how often it was really changed.
	Updates int
	// Identity is the user who provisioned it; nil if the call had none.
	Identity *Identity
}

// A Binding is a set of credentials. Its maps are shared: read them only.
type Binding struct {
	ID, InstanceID, ServiceID, PlanID string
	AppGUID                           string
	Parameters, Context               map[string]any
	// Credentials are fresh for every binding made.
	Credentials map[string]any
	// Predecessor is the binding that it takes over from, or empty.
	Predecessor string
	// ExpiresAt is zero for never.
	ExpiresAt time.Time
	State     State
	// Creates is as with an Instance.
	Creates int
	// Shown is how often the credentials were part of an answer, delivered or not.
	Shown    int
	Identity *Identity
}

// A History is what ever became of an ID.
type History struct {
	// Made and Removed are how often; removing what is not there does not count.
	Made, Changed, Removed int
	// Freed is how often a clean-up left the ID for another try: no other may be made again.
	Freed int
}

// A peak is the highest number of instances of some plans, or of bindings.
type peak struct {
	plans    map[string]bool
	bindings bool
	most     int
}

// books are what the broker runs, what ever became of it, and the operations on it.
type books struct {
	instances map[string]*Instance
	bindings  map[target]*Binding
	// bound is how many bindings an instance has.
	bound     map[string]int
	histories map[string]*History
	// operations are the last asynchronous ones, by what they are about.
	operations map[target]*operation
	peaks      []*peak
}

func newBooks() *books {
	return &books{
		instances: map[string]*Instance{}, bindings: map[target]*Binding{}, bound: map[string]int{},
		histories: map[string]*History{}, operations: map[target]*operation{},
	}
}

// history is the running one of an ID.
func (b *books) history(id string) *History {
	if b.histories[id] == nil {
		b.histories[id] = &History{}
	}
	return b.histories[id]
}

func (b *books) exists(at target) bool {
	if at.binding != "" {
		return b.bindings[at] != nil
	}
	return b.instances[at.instance] != nil
}

// hasPlan says whether a plan is a binding's: the one it was bound with, or that which its
// instance has by now. The specification knows no difference.
func (b *books) hasPlan(binding *Binding, plan string) bool {
	instance := b.instances[binding.InstanceID]
	return plan == binding.PlanID || instance != nil && plan == instance.PlanID
}

// drop takes an instance or a binding off, and counts it.
func (b *books) drop(at target) {
	if at.binding == "" {
		delete(b.instances, at.instance)
	} else {
		delete(b.bindings, at)
		b.bound[at.instance]--
	}
	b.history(at.id()).Removed++
}

// lose takes an instance and its bindings off, and says whether there was one.
func (b *books) lose(id string) bool {
	known := b.instances[id] != nil
	for at := range b.bindings {
		if at.instance == id {
			b.drop(at)
			delete(b.operations, at)
		}
	}
	if known {
		b.drop(target{instance: id})
	}
	delete(b.operations, target{instance: id})
	delete(b.bound, id)
	return known
}

// countPeaks looks whether there are more than ever.
func (b *books) countPeaks() {
	for _, p := range b.peaks {
		n := 0
		if p.bindings {
			n = len(b.bindings)
		}
		for _, instance := range b.instances {
			if p.plans[instance.PlanID] {
				n++
			}
		}
		p.most = max(p.most, n)
	}
}

// Instances are those that exist now, by ID.
func (b *Broker) Instances() map[string]Instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	instances := make(map[string]Instance, len(b.books.instances))
	for id, instance := range b.books.instances {
		instances[id] = *instance
	}
	return instances
}

// Bindings are those that exist now, by ID.
func (b *Broker) Bindings() map[string]Binding {
	b.mu.Lock()
	defer b.mu.Unlock()
	bindings := make(map[string]Binding, len(b.books.bindings))
	for _, binding := range b.books.bindings {
		bindings[binding.ID] = *binding
	}
	return bindings
}

// History is what ever became of the instance or binding with an ID.
func (b *Broker) History(id string) History {
	b.mu.Lock()
	defer b.mu.Unlock()
	if history := b.books.histories[id]; history != nil {
		return *history
	}
	return History{}
}

// Histories are those of all IDs that were ever made.
func (b *Broker) Histories() map[string]History {
	b.mu.Lock()
	defer b.mu.Unlock()
	histories := map[string]History{}
	for id, history := range b.books.histories {
		histories[id] = *history
	}
	return histories
}

// Add puts an instance on the books that no call made, such as one of another platform;
// it is Ready, with the organization, space and parameters that it brings.
func (b *Broker) Add(instance Instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	instance.State, instance.Creates = Ready, 1
	b.books.instances[instance.ID] = &instance
	b.books.history(instance.ID).Made++
	b.books.countPeaks()
}

// Lose takes an instance and its bindings off the books without a call, as if another
// client had removed it. It says whether there was one.
func (b *Broker) Lose(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.books.lose(id)
}

// Peak counts the instances of the plans with these IDs from now on: the function says
// how many there ever were on the books at one moment. Nothing is missed between two
// looks, for it is counted with each call that is answered.
func (b *Broker) Peak(plans ...string) func() int {
	p := &peak{plans: map[string]bool{}}
	for _, id := range plans {
		p.plans[id] = true
	}
	return b.peak(p)
}

// PeakBindings is Peak for bindings, to whichever instances.
func (b *Broker) PeakBindings() func() int { return b.peak(&peak{bindings: true}) }

func (b *Broker) peak(p *peak) func() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.books.peaks = append(b.books.peaks, p)
	b.books.countPeaks()
	return func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return p.most
	}
}
