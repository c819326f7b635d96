package slots_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

const (
	mostObjects  = 3
	mostPolicies = 2
)

// A plan that an object asks for, or has; 0 is none.
type plan uint8

const (
	none plan = iota
	// small and large are limited by one policy each, and twice by both.
	small
	large
	twice
)

func (p plan) String() string { return [...]string{"none", "small", "large", "twice"}[p] }

// limitedBy says whether the policy of a number limits the plan.
func (p plan) limitedBy(number int) bool { return p == twice || int(p) == number+1 }

// A stored policy.
type storedPolicy struct {
	limit uint8
	// granted are objects, as bits.
	granted uint8
	// ceiling is how many there may be at the broker: more than the limit where that was lowered,
	// and not enough is gone yet.
	ceiling uint8
}

// An object is an instance as it is stored.
type object struct {
	there, leaving bool
	// asked, sent and has are of the spec, of the intent, and what the broker accepted.
	asked, sent, has plan
}

// A cluster is what is stored, what the broker has, and what each program is about to do.
type cluster struct {
	policies    [mostPolicies]storedPolicy
	objects     [mostObjects]object
	broker      [mostObjects]plan
	flying      [mostObjects]plan
	keepers     [2]keeper
	controllers [2]controller
	// left is how often more users may do anything, or a program may die.
	left uint8
}

// A decider calls the production code, and remembers what it answered.
type decider struct {
	rules   map[[2]uint8]policy.Rule
	uses    map[object]looked
	settled map[settling]settlement
	lacks   map[lacking]bool
}

func newDecider() *decider {
	return &decider{map[[2]uint8]policy.Rule{}, map[object]looked{}, map[settling]settlement{}, map[lacking]bool{}}
}

// A looked is what quota.Look says of an object.
type looked struct {
	uses   []quota.Use
	opaque bool
}

var place = policy.Place{Namespace: "dev"}

func uid(i int) types.UID { return types.UID(fmt.Sprint("object-", i)) }

func title(i int) string { return string(rune('p' + i)) }

// rule is that of a policy with a limit: production code compiles it.
func (d *decider) rule(i int, limit uint8) policy.Rule {
	key := [2]uint8{uint8(i), limit}
	rule, known := d.rules[key]
	if known {
		return rule
	}
	stored := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: title(i)}}
	stored.Spec.Action, stored.Spec.MaxInstances = v1beta1.PolicyLimit, new(int32(limit))
	for _, p := range []plan{small, large, twice} {
		if p.limitedBy(i) {
			subject := v1beta1.PolicySubject{}
			subject.PlanName = p.String()
			stored.Spec.Subjects = append(stored.Spec.Subjects, subject)
		}
	}
	rule, err := policy.FromProvisioning(stored)
	if err != nil {
		panic(err)
	}
	d.rules[key] = rule
	return rule
}

// shop has the plans.
type shop struct{}

func offer(name string) quota.Offer {
	class := resolve.ClassEntry{Ref: resolve.Ref{Name: "db"}, ExternalName: "db", ExternalID: "db"}
	return quota.OfferOf(class, resolve.PlanEntry{Ref: resolve.Ref{Name: name}, Class: "db", ExternalName: name, ExternalID: name + "-id"})
}

func (shop) Plan(ref resolve.Ref) (quota.Offer, bool, error) { return offer(ref.Name), true, nil }

func (shop) WithID(sent quota.IDs) ([]quota.Offer, error) {
	for _, p := range []plan{small, large, twice} {
		if o := offer(p.String()); o.Is(sent) {
			return []quota.Offer{o}, nil
		}
	}
	return nil, nil
}

// instance is an object as the API server stores it.
func (o object) instance(i int) *v1beta1.ServiceInstance {
	stored := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", UID: uid(i)}}
	stored.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: o.asked.String()}
	properties := func(p plan) *v1beta1.ServiceInstancePropertiesState {
		return &v1beta1.ServiceInstancePropertiesState{
			ClusterServicePlanExternalID: p.String() + "-id", BrokerTarget: v1beta1.BrokerTarget{ClassExternalID: "db"},
		}
	}
	s := &stored.Status
	if o.has != none {
		s.ProvisionStatus, s.ExternalProperties, s.DeprovisionStatus = v1beta1.Provisioned, properties(o.has), v1beta1.DeprovisionRequired
	}
	if o.sent != none {
		s.CurrentOperation, s.InProgressProperties, s.DeprovisionStatus = v1beta1.InstanceProvision, properties(o.sent), v1beta1.DeprovisionRequired
	}
	if o.sent != none && o.has != none {
		s.CurrentOperation = v1beta1.InstanceUpdate
	}
	return stored
}

// look is what quota says of an object's plans.
func (d *decider) look(o object) looked {
	found, known := d.uses[o]
	if known {
		return found
	}
	stored := o.instance(0)
	uses, opaque, err := quota.Look(quota.OfInstance(stored), shop{})
	if err != nil {
		panic(err)
	}
	found = looked{uses, opaque || quota.Unsure(stored)}
	d.uses[o] = found
	return found
}

// A settling is the input of quota.Settle, and a settlement what it granted, as bits.
type settling struct {
	policies [mostPolicies]storedPolicy
	objects  [mostObjects]object
}

type settlement [mostPolicies]uint8

func (d *decider) settle(policies [mostPolicies]storedPolicy, objects [mostObjects]object) settlement {
	for i := range policies {
		policies[i].ceiling = 0
	}
	key := settling{policies, objects}
	made, known := d.settled[key]
	if known {
		return made
	}
	var rules []policy.Rule
	var given []quota.Policy
	for i, p := range policies {
		rules = append(rules, d.rule(i, p.limit))
		given = append(given, quota.Policy{Name: title(i), Limit: new(int32(p.limit)), Granted: uids(p.granted)})
	}
	var demands []quota.Demand
	for i, o := range objects {
		if !o.there {
			continue
		}
		found := d.look(o)
		demands = append(demands, quota.Demand{
			UID: uid(i), Since: int64(i), Leaving: o.leaving, Opaque: found.opaque, Stages: quota.Instances.Stages(rules, found.uses, place),
		})
	}
	result := quota.Settle(given, demands)
	for i := range policies {
		made[i] = bits(result.Granted[title(i)])
	}
	d.settled[key] = made
	return made
}

func uids(granted uint8) []types.UID {
	var all []types.UID
	for i := range mostObjects {
		if granted&(1<<i) != 0 {
			all = append(all, uid(i))
		}
	}
	return all
}

func bits(granted []types.UID) uint8 {
	var all uint8
	for i := range mostObjects {
		for _, is := range granted {
			if is == uid(i) {
				all |= 1 << i
			}
		}
	}
	return all
}

type lacking struct {
	policies [mostPolicies]storedPolicy
	object   object
	number   int
}

// short says whether an object lacks a slot, as the controller asks.
func (d *decider) short(policies [mostPolicies]storedPolicy, o object, i int) bool {
	for at := range policies {
		policies[at].ceiling = 0
	}
	key := lacking{policies, o, i}
	made, known := d.lacks[key]
	if known {
		return made
	}
	var all []quota.Granting
	for at, p := range policies {
		slots := []v1beta1.PolicySlots{{Namespace: "dev", Instances: uids(p.granted)}}
		all = append(all, quota.Granting{Rule: d.rule(at, p.limit), Status: &v1beta1.PolicyStatus{Slots: slots}})
	}
	made = quota.Instances.Short(all, d.look(o).uses, place, uid(i)) != nil
	d.lacks[key] = made
	return made
}
