package simulation

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/costs"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// compareKeys orders names by namespace.
func compareKeys(a, b client.ObjectKey) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// costsOf adds up what instances cost, in each namespace and in all.
func costsOf(now, then *side) Costs {
	var all Costs
	was, is := bills(now), bills(then)
	spaces := maps.Clone(was)
	maps.Copy(spaces, is)
	var total [2]bill
	for _, namespace := range slices.Sorted(maps.Keys(spaces)) {
		total[0].addAll(was[namespace])
		total[1].addAll(is[namespace])
		one := NamespaceCost{Namespace: namespace, Now: was[namespace].sum(), Then: is[namespace].sum()}
		if !reflect.DeepEqual(one.Now, one.Then) {
			all.Namespaces = append(all.Namespaces, one)
		}
	}
	all.Now, all.Then = total[0].sum(), total[1].sum()
	return all
}

// A bill is what plans cost together.
type bill struct {
	costs   []v1beta1.PlanCost
	unknown int
}

// bills are those of the decided instances that are not being deleted, by namespace.
func bills(s *side) map[string]*bill {
	all := map[string]*bill{}
	known := map[resolve.Ref]*bill{}
	for at, instance := range s.instances {
		ref := quota.OfInstance(instance)[0].Ref
		if ref.Name == "" || instance.DeletionTimestamp != nil {
			continue
		}
		if all[at.Namespace] == nil {
			all[at.Namespace] = &bill{}
		}
		if known[ref] == nil {
			known[ref] = billOf(&s.offers, ref)
		}
		all[at.Namespace].addAll(known[ref])
	}
	return all
}

// billOf is what a plan costs. A copy costs what its original does.
func billOf(in *offers, ref resolve.Ref) *bill {
	found := in.target(ref).Costs
	if found.Malformed || found.Unread || len(found.Listed) == 0 && !found.Free {
		return &bill{unknown: 1}
	}
	return &bill{costs: found.Listed}
}

func (b *bill) addAll(other *bill) {
	if other == nil {
		return
	}
	b.costs = append(b.costs, other.costs...)
	b.unknown += other.unknown
}

// sum adds up the costs of each currency and unit, whose case does not matter.
func (b *bill) sum() Sum {
	if b == nil {
		return Sum{}
	}
	return Sum{Costs: b.listed(), Unknown: b.unknown}
}

func (b *bill) listed() []Cost {
	by := map[[2]string][]v1beta1.PlanCost{}
	for _, cost := range b.costs {
		key := [2]string{strings.ToLower(cost.Currency), strings.ToLower(cost.Unit)}
		by[key] = append(by[key], cost)
	}
	var all []Cost
	for _, key := range slices.SortedFunc(maps.Keys(by), func(a, b [2]string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
	}) {
		if total, known := costs.Total(by[key], key[0], key[1]); known {
			all = append(all, Cost{Currency: key[0], Unit: strings.ToUpper(key[1]), Amount: costs.Text(total)})
		}
	}
	return all
}
