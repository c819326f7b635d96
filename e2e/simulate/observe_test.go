package simulate_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// An observation is what the API server answers in a world, by dry runs and reads.
type observation struct {
	// types are the plans that an instance gets which asks for the type alone, or the refusal.
	types map[string]answer
	// objects are instances and bindings, by kind and name.
	objects map[string]object
	// slots are how many objects have one, and the limit, by policy and kind.
	slots map[slotKey]string
	// costs are those of all instances, in usd a month, and unpriced how many have none.
	costs, unpriced int
}

// A slotKey is a policy, and one of quota.Instances and quota.Bindings.
type slotKey struct {
	policy string
	kind   quota.Kind
}

// An object is how an instance or binding stands.
type object struct {
	// plan is the one that it was decided on, and lost says that it is not offered any more.
	plan string
	lost bool
	// generation counts the edits of its spec.
	generation int64
	// edit is the answer to an edit that changes nothing.
	edit answer
	// waits says that it waits for a slot, and ready that it is Ready as it is.
	waits, ready bool
	// leaving says that it is being deleted.
	leaving bool
}

// gone is the plan of an object that does not exist, or is being deleted.
const gone = "gone"

// An answer is a plan, none if the object would wait, or a refusal.
type answer struct{ plan, refusal string }

func (a answer) String() string {
	switch {
	case a.refusal != "":
		return "refused: " + a.refusal
	case a.plan == "":
		return "waits"
	}
	return a.plan
}

// observe asks the API server.
func (w *world) observe() observation {
	w.Helper()
	plans := w.readPlans()
	o := observation{types: map[string]answer{}, objects: map[string]object{}, slots: map[slotKey]string{}}
	for _, t := range w.typed() {
		trial := w.Instance("trial", env.OfType(t))
		o.types[t] = w.answerOf(plans, trial, w.Client().Create(w.Context(), trial, client.DryRunAll))
	}
	for _, name := range w.instances {
		stored := w.Instance(name)
		if w.Absent(stored) || stored.DeletionTimestamp != nil {
			o.objects[instanceOf(name)] = object{plan: gone, leaving: stored.DeletionTimestamp != nil}
			continue
		}
		edited := stored.DeepCopy()
		edited.Spec.UpdateRequests++
		one := plans.object(env.PlanOf(stored))
		one.generation, one.waits, one.ready = stored.Generation, waits(stored), ready(stored)
		one.edit = w.answerOf(plans, edited, w.Client().Update(w.Context(), edited, client.DryRunAll))
		o.objects[instanceOf(name)] = one
		o.bill(plans[env.PlanOf(stored)])
	}
	for _, name := range w.bindings {
		o.objects[bindingOf(name)] = w.bindingOf(plans, name)
	}
	for _, p := range w.policies {
		stored := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: p.Name}}
		if w.Absent(stored) {
			continue
		}
		limits := policy.Limits{Instances: stored.Spec.MaxInstances, Bindings: stored.Spec.MaxBindings}
		for _, kind := range kinds {
			if limit := kind.Of(limits); limit != nil {
				o.slots[slotKey{p.Name, kind}] = usage(len(kind.Granted(&stored.Status, w.Namespace)), new(int(*limit)))
			}
		}
	}
	return o
}

// kinds are those of which policies limit how many there may be.
var kinds = []quota.Kind{quota.Instances, quota.Bindings}

// waits says whether an object waits for a slot.
func waits(o client.Object) bool {
	return env.ConditionOf(o, api.ConditionReady).Reason == policies.ReasonSlot
}

// ready says whether the broker has an object as its spec is.
func ready(o client.Object) bool {
	condition := env.ConditionOf(o, api.ConditionReady)
	return condition.Status == api.ConditionTrue && condition.ObservedGeneration == o.GetGeneration()
}

func instanceOf(name string) string { return "instance " + name }

func bindingOf(name string) string { return "binding " + name }

// bindingOf is how a binding stands.
func (w *world) bindingOf(plans plans, name string) object {
	w.Helper()
	stored := w.Binding(name, "")
	if w.Absent(stored) || stored.DeletionTimestamp != nil {
		return object{plan: gone, leaving: stored.DeletionTimestamp != nil}
	}
	one := object{}
	if ref := stored.Spec.ClusterServicePlanRef; ref != nil {
		one = plans.object(ref.Name)
	}
	one.generation, one.waits, one.ready = stored.Generation, waits(stored), ready(stored)
	edited := stored.DeepCopy()
	edited.Spec.Rotation = &api.Rotation{Requests: 1}
	err := w.Client().Update(w.Context(), edited, client.DryRunAll)
	if refused(err) {
		one.edit = answer{refusal: env.Said(err)}
		return one
	}
	require.NoError(w, err)
	one.edit = answer{plan: one.plan}
	return one
}

// bill adds what a plan costs.
func (o *observation) bill(plan *api.ClusterServicePlan) {
	switch {
	case plan == nil, plan.Spec.Free && len(plan.Status.Costs) == 0:
	case len(plan.Status.Costs) == 0:
		o.unpriced++
	default:
		amount, err := strconv.Atoi(plan.Status.Costs[0].Amount)
		if err != nil {
			panic(err) // worlds have whole amounts
		}
		o.costs += amount
	}
}

// plans are those of a world by their Kubernetes names.
type plans map[string]*api.ClusterServicePlan

func (w *world) readPlans() plans {
	w.Helper()
	list := api.ClusterServicePlanList{}
	require.NoError(w, w.Client().List(w.Context(), &list, client.MatchingFields{api.FieldClusterServiceBrokerName: w.registered.Name}))
	all := plans{}
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all
}

// title is a plan as CLASS/PLAN. The IDs of services are their names.
func (p plans) title(name string) string {
	if plan := p[name]; plan != nil {
		return plan.Spec.ClusterServiceClassRef.Name + "/" + plan.Spec.ExternalName
	}
	return name
}

// object is one that was decided on a plan.
func (p plans) object(name string) object {
	plan := p[name]
	return object{plan: p.title(name), lost: name != "" && (plan == nil || plan.Status.RemovedFromBrokerCatalog)}
}

func (w *world) answerOf(plans plans, tried *api.ServiceInstance, err error) answer {
	w.Helper()
	if refused(err) {
		return answer{refusal: env.Said(err)}
	}
	require.NoError(w, err)
	return answer{plan: plans.title(env.PlanOf(tried))}
}

// atRest waits until the keeper, the controller and the webhook have nothing left to do for
// any world.
func atRest(e *env.Env, worlds []*world) {
	e.Helper()
	last := ""
	e.Eventually(func() (bool, error) {
		for _, w := range worlds {
			if err := w.settled(); err != nil {
				return false, err
			}
		}
		now, busy, err := work(e)
		if err != nil {
			return true, err
		}
		was := last
		last = now
		if busy || now != was {
			return false, fmt.Errorf("%w: %s", errBusy, now)
		}
		return true, nil
	})
}

// blocked is the reason of an instance that is deleted once its bindings are.
const blocked = "DeprovisionBlockedByExistingCredentials"

// settled says what of a world is not observed yet.
func (w *world) settled() error {
	for _, name := range w.instances {
		stored := w.Instance(name)
		err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(stored), stored)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return err
		case err != nil, !stored.Spec.Decided(), env.ConditionOf(stored, api.ConditionReady).Reason == blocked:
		case stored.DeletionTimestamp != nil, stored.Status.ObservedGeneration != stored.Generation, stored.Status.CurrentOperation != "":
			return fmt.Errorf("%w: instance %s: %s", errBusy, name, env.StatusOf(stored))
		}
	}
	for _, name := range w.bindings {
		stored := w.Binding(name, "")
		err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(stored), stored)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return err
		case err == nil && (stored.DeletionTimestamp != nil || stored.Status.CurrentOperation != ""):
			return fmt.Errorf("%w: binding %s: %s", errBusy, name, env.StatusOf(stored))
		}
	}
	for _, p := range w.policies {
		stored := &api.ProvisioningPolicy{}
		err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(p), stored)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err == nil && stored.Status.ObservedGeneration != stored.Generation {
			return fmt.Errorf("%w: policy %s", errBusy, p.Name)
		}
	}
	return nil
}

// work is what the keeper and the controller have done so far, and whether they are at work.
func work(e *env.Env) (done string, busy bool, err error) {
	for _, url := range []string{e.Keeper().Metrics(), e.Controller().Metrics()} {
		text, err := e.Scrape(e.Context(), url)
		if err != nil {
			return "", false, err
		}
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "workqueue_depth{"), strings.HasPrefix(line, "controller_runtime_active_workers{"):
				busy = busy || !strings.HasSuffix(strings.TrimSpace(line), " 0")
			case strings.HasPrefix(line, "workqueue_adds_total{"):
				done += line
			}
		}
	}
	return done, busy, nil
}
