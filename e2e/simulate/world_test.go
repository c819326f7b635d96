package simulate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A world is a random catalog of one broker, with policies, instances and bindings of one
// namespace. Worlds share a cluster, and no name.
type world struct {
	*env.Env

	seed   uint64
	random *rand.Rand
	broker *osbtest.Broker
	// registered is the broker as the cluster knows it.
	registered *api.ClusterServiceBroker
	services   []service
	// folder has the files of svcat.
	folder    string
	policies  []*api.ProvisioningPolicy
	instances []string
	bindings  []string
	// removed says that a change deletes something.
	removed bool
}

// A service is one of the catalog; names are without the suffix of the world.
type service struct {
	name, serviceType string
	plans             []plan
}

// A plan is one of a service.
type plan struct {
	name, serviceType string
	weight            int
	cost              int
	suggested, free   bool
}

// types are those that there are to choose from.
var types = []string{"t0", "t1"}

// newWorld makes one of a seed, and waits for nothing but the catalog.
func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{Env: env.New(t), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), folder: t.TempDir()}
	for i := range 1 + w.random.IntN(2) {
		w.services = append(w.services, w.newService(fmt.Sprintf("s%d", i)))
	}
	w.broker = w.StartBroker(osbtest.Options{Catalog: w.catalog(), KeepCalls: 100})
	w.registered = w.Register(w.broker)
	w.setDefaults()
	for i := range w.random.IntN(3) {
		policy := w.policy(fmt.Sprintf("p%d", i))
		w.Create(policy)
		w.policies = append(w.policies, policy)
	}
	for i := range 2 + w.random.IntN(3) {
		w.order(fmt.Sprintf("i%d", i))
	}
	if len(w.bindings) > 0 && w.chance(20) { // its instance stays as long as the binding does
		w.Delete(w.Instance(w.bindings[0]))
	}
	return w
}

func (w *world) newService(name string) service {
	s := service{name: name, serviceType: w.oneOf(types)}
	for i := range 1 + w.random.IntN(3) {
		s.plans = append(s.plans, w.newPlan(fmt.Sprintf("%s-plan%d", name, i)))
	}
	return s
}

func (w *world) newPlan(name string) plan {
	p := plan{name: name, weight: w.random.IntN(3), suggested: w.chance(20), free: w.chance(50)}
	if w.chance(20) {
		p.serviceType = w.oneOf(types)
	}
	if w.chance(60) {
		p.cost = 10 + w.random.IntN(10)*10
	}
	return p
}

func (w *world) oneOf(words []string) string { return words[w.random.IntN(len(words))] }

// chance is true so many times of a hundred.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

// catalog is what the broker lists.
func (w *world) catalog() []byte {
	var services []env.Object
	for _, s := range w.services {
		var plans []env.Object
		for _, p := range s.plans {
			plans = append(plans, w.planObject(p))
		}
		services = append(services, env.Object{
			"id": w.Name(s.name), "name": w.Name(s.name), "description": "a service", "bindable": true, "plan_updateable": true,
			"tags": []string{"ServiceType=" + w.Name(s.serviceType)}, "plans": plans,
		})
	}
	return w.Catalog(services...)
}

func (w *world) planObject(p plan) env.Object {
	tags := []string{fmt.Sprintf("Weight=%d", p.weight), "size=" + p.name[len(p.name)-1:]}
	if p.serviceType != "" {
		tags = append(tags, "ServiceType="+w.Name(p.serviceType))
	}
	if p.suggested {
		tags = append(tags, "SuggestedPlan=true")
	}
	metadata := env.Object{"tags": tags}
	if p.cost > 0 {
		metadata["costs"] = []env.Object{{"amount": env.Object{"usd": p.cost}, "unit": "MONTHLY"}}
	}
	return env.Object{"id": w.Name(p.name), "name": p.name, "description": "a plan", "free": p.free, "metadata": metadata}
}

// anyPlan is one of the catalog, with its service.
func (w *world) anyPlan() (service, plan) {
	s := w.services[w.random.IntN(len(w.services))]
	return s, s.plans[w.random.IntN(len(s.plans))]
}

// stored is a plan as the cluster has it.
func (w *world) stored(p plan) *api.ClusterServicePlan {
	w.Helper()
	plans := api.ClusterServicePlanList{}
	require.NoError(w, w.Client().List(w.Context(), &plans, client.MatchingFields{api.FieldExternalID: w.Name(p.name)}))
	require.Len(w, plans.Items, 1, "plans with ID %s", w.Name(p.name))
	return &plans.Items[0]
}

// setDefaults makes plans the defaults of their types.
func (w *world) setDefaults() {
	w.Helper()
	for range w.random.IntN(3) {
		_, p := w.anyPlan()
		// A second default of a type is refused, which is as well.
		_ = w.TryPatch(w.stored(p), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"true"}}}`)
	}
}

// policy is a random one, which holds in the world's namespace alone.
func (w *world) policy(name string) *api.ProvisioningPolicy {
	policy := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.Name(name)}}
	policy.TypeMeta = metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ProvisioningPolicy"}
	policy.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{w.Namespace}}
	policy.Spec.Message = "ask " + name
	policy.Spec.Subjects = []api.PolicySubject{{PlanSubject: w.subject()}}
	policy.Spec.Action = []api.PolicyAction{api.PolicyDeny, api.PolicyDeny, api.PolicyAllow, api.PolicyLimit}[w.random.IntN(4)]
	if policy.Spec.Action == api.PolicyLimit {
		w.limit(&policy.Spec)
	}
	if policy.Spec.Action == api.PolicyAllow && w.chance(30) {
		policy.Spec.Namespaces.Names = []string{"elsewhere-" + w.Suffix}
	}
	return policy
}

// limit limits instances, bindings or both.
func (w *world) limit(spec *api.ProvisioningPolicySpec) {
	which := w.random.IntN(4)
	if which != 0 {
		spec.MaxInstances = new(int32(w.random.IntN(3)))
	}
	if which < 2 {
		spec.MaxBindings = new(int32(w.random.IntN(3)))
	}
}

func (w *world) subject() api.PlanSubject {
	s, p := w.anyPlan()
	switch w.random.IntN(4) {
	case 0:
		return api.PlanSubject{ServiceType: w.Name(w.oneOf(types))}
	case 1:
		return api.PlanSubject{ClassName: w.Name(s.name)}
	case 2:
		return api.PlanSubject{ClassName: w.Name(s.name), PlanName: p.name}
	}
	return api.PlanSubject{ServiceType: w.Name(w.oneOf(types)), Costs: &api.PolicyCosts{
		Currency: "usd", Unit: "MONTHLY", Above: fmt.Sprint(30 + w.random.IntN(6)*10), Unknown: []api.UnknownCosts{"", api.UnknownAllow}[w.random.IntN(2)],
	}}
}

// instance is one that asks for something, not yet created.
func (w *world) instance(name string) *api.ServiceInstance {
	s, p := w.anyPlan()
	switch w.random.IntN(4) {
	case 0:
		return w.Instance(name, env.OfPlan(w.Name(s.name), p.name))
	case 1:
		return w.Instance(name, env.OfType(w.Name(w.oneOf(types))), env.WithSelector(map[string]string{api.LabelAttributePrefix + "size": p.name[len(p.name)-1:]}))
	case 2:
		return w.Instance(name, func(i *api.ServiceInstance) { i.Spec.ClusterServiceClassExternalName = w.Name(s.name) })
	}
	return w.Instance(name, env.OfType(w.Name(w.oneOf(types))))
}

// order creates an instance, and sometimes a binding to it. What is refused is not there.
func (w *world) order(name string) {
	w.Helper()
	if !w.created(w.instance(name)) {
		return
	}
	w.instances = append(w.instances, name)
	binding := w.Binding(name, name)
	if w.chance(40) && w.created(binding) {
		w.bindings = append(w.bindings, name)
	}
}

// created creates an object that may be refused.
func (w *world) created(object client.Object) bool {
	w.Helper()
	err := w.Client().Create(w.Context(), object)
	if refused(err) {
		return false
	}
	require.NoError(w, err)
	return true
}

// refused says that admission refused a write.
func refused(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) }

// typed are the types of the world, sorted.
func (w *world) typed() []string {
	var all []string
	for _, t := range types {
		all = append(all, w.Name(t))
	}
	slices.Sort(all)
	return all
}

var errBusy = errors.New("it is not at rest")
