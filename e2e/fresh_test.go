package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// rounds is how often what must always work is tried.
const rounds = 200

// byKubectl is every how many rounds kubectl is used; it is slow to start.
const byKubectl = 20

// playing is held by the scenario whose rounds are played: several at once only wait
// for the same few cores, until a hook has no time left.
var playing sync.Mutex

// everyTime runs try for each round, several at a time: the API server and both
// webhook processes see them interleaved.
func everyTime(t *testing.T, try func(round int) error) {
	t.Helper()
	playing.Lock()
	defer playing.Unlock()
	group, _ := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for round := range rounds {
		group.Go(func() error { return try(round) })
	}
	require.NoError(t, group.Wait())
}

// apply stores objects in their order without a pause: most rounds by requests
// of their own, some by one kubectl apply -f.
func (w *world) apply(round int, objects ...client.Object) error {
	return w.applyBy(round, []string{"apply", "-f", "-"}, objects...)
}

// applyBy is apply with the command of kubectl.
func (w *world) applyBy(round int, command []string, objects ...client.Object) error {
	if round%byKubectl != 0 {
		for _, object := range objects {
			if err := w.put(object); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	}
	documents := make([]string, len(objects))
	for i, object := range objects {
		kinds, _, err := w.client.Scheme().ObjectKinds(object)
		if err != nil {
			return err
		}
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		documents[i] = string(text)
	}
	stdout, stderr, err := w.Kubectl(w.Context(), strings.Join(documents, "---\n"), command...)
	if err != nil {
		return fmt.Errorf("round %d: %w: %s%s", round, err, stdout, stderr)
	}
	last := objects[len(objects)-1]
	return w.client.Get(w.Context(), client.ObjectKeyFromObject(last), last)
}

// decidedOn is an error unless the instance was decided on the plan.
func decidedOn(round int, instance *api.ServiceInstance, plan string) error {
	if got := planOf(instance); got != plan {
		return fmt.Errorf("round %d: instance %s has plan %q, want %q", round, instance.Name, got, plan)
	}
	return nil
}

// TestAPlanAndItsInstanceInOneFile: the instance comes right behind the plan it
// needs, whichever way it asks for it, and no cache may stand in between.
func TestAPlanAndItsInstanceInOneFile(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, crowded.start(t))
	w.addCatalog(class{name: w.name("house")}, class{namespace: w.namespace, name: w.name("local")})
	everyTime(t, func(round int) error {
		serviceType, name := w.name(fmt.Sprintf("type%d", round)), w.name(fmt.Sprintf("plan%d", round))
		added := plan{name: name, class: w.name("house"), serviceType: serviceType, isDefault: true, labels: map[string]string{"round": serviceType}}
		objects := []client.Object{}
		var asks edit
		switch round % 5 {
		case 0:
			asks = ofType(serviceType)
		case 1:
			asks = ofPlan(w.name("house"), name)
		case 2:
			asks = withSelector(added.labels)
		case 3:
			added.namespace, added.class = w.namespace, w.name("local")
			asks = ofType(serviceType)
		case 4:
			// Its class comes in the same file, too.
			added.class = name
			objects = append(objects, class{name: name}.object())
			asks = ofPlan(name, "")
		}
		instance := w.instance(fmt.Sprintf("db%d", round), asks)
		if err := w.apply(round, append(objects, added.object(), instance)...); err != nil {
			return err
		}
		return decidedOn(round, instance, name)
	})
}

// TestADefaultInTheSameFileBeatsAnOlderSuggestion: the suggestion is in every
// cache, the default in none yet.
func TestADefaultInTheSameFileBeatsAnOlderSuggestion(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, crowded.start(t))
	w.addCatalog(class{name: w.name("house")})
	typeOf := func(round int) string { return w.name(fmt.Sprintf("type%d", round)) }
	everyTime(t, func(round int) error {
		suggested := plan{name: "suggested-" + typeOf(round), class: w.name("house"), serviceType: typeOf(round), isSuggested: true}
		return w.client.Create(w.Context(), suggested.object())
	})
	everyTime(t, func(round int) error {
		chosen := plan{name: "default-" + typeOf(round), class: w.name("house"), serviceType: typeOf(round), isDefault: true}
		instance := w.instance(fmt.Sprintf("db%d", round), ofType(typeOf(round)))
		if err := w.apply(round, chosen.object(), instance); err != nil {
			return err
		}
		return decidedOn(round, instance, chosen.name)
	})
}

// TestARecordedDefaultThatNoCacheHasYet: record and plan, and every second time
// its class, are as new as the instance that needs them.
func TestARecordedDefaultThatNoCacheHasYet(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, crowded.start(t))
	w.addCatalog(class{name: w.name("house")})
	// Between the request by which kubectl looks for the type and that by which it
	// creates it, the keeper may have made it; this way there is only one.
	command := []string{"apply", "--server-side", "-f", "-"}
	everyTime(t, func(round int) error {
		serviceType := w.name(fmt.Sprintf("type%d", round))
		chosen := plan{name: "recorded-" + serviceType, class: w.name("house"), serviceType: serviceType}
		objects := []client.Object{}
		if round%2 == 1 {
			chosen.class = "house-" + serviceType
			objects = append(objects, class{name: chosen.class, serviceType: serviceType}.object())
			chosen.serviceType = ""
		}
		instance := w.instance(fmt.Sprintf("db%d", round), ofType(serviceType))
		objects = append(objects, chosen.object(), record("", serviceType, chosen.name), instance)
		if err := w.applyBy(round, command, objects...); err != nil {
			return err
		}
		return decidedOn(round, instance, chosen.name)
	})
}

// TestAfterASwitchReturnedEveryCreateGetsTheNewPlan switches a type's default to
// and fro. Whatever is created after a switch returned gets the plan that it
// switched to, whichever webhook process is asked.
func TestAfterASwitchReturnedEveryCreateGetsTheNewPlan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		recorded bool
		rule     string
	}{
		"Recorded":  {"one compare-and-swap of the record", true, "cluster-default"},
		"Annotated": {"no record, as no keeper ever ran: the annotation moves", false, "cluster-default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shared
			if !tc.recorded {
				s = startStack(t, func(o *stack.Options) { o.Webhooks, o.WebhookArgs = 2, []string{"--keeper=off"} })
			}
			w := newWorldOn(t, s)
			serviceType := w.name("db")
			plans := []string{w.name("x"), w.name("y")}
			w.addPlans(class{name: w.name("house"), serviceType: serviceType}, plan{name: plans[0], isDefault: !tc.recorded}, plan{name: plans[1]})
			if tc.recorded {
				w.create(record("", serviceType, plans[0]))
			}
			const switches = 20
			for turn := range switches {
				from, to := plans[turn%2], plans[(turn+1)%2]
				if tc.recorded {
					w.swapRecord(serviceType, from, to)
				} else {
					w.moveAnnotation(from, to)
				}
				w.createAtOnce(rounds/switches, fmt.Sprintf("turn%d", turn), to, serviceType)
			}
			decided := w.decidedBy(tc.rule)
			assert.Equal(t, rounds, decided[0]+decided[1], "%s: each is decided once, by the rule", tc.reason)
			assert.Positive(t, decided[0], "both processes were asked")
			assert.Positive(t, decided[1], "both processes were asked")
		})
	}
}

// createAtOnce creates n instances of a type at the same time, which all must be
// decided on the plan.
func (w *world) createAtOnce(n int, prefix, plan, serviceType string) {
	w.Helper()
	group, _ := errgroup.WithContext(w.Context())
	for i := range n {
		group.Go(func() error {
			instance := w.instance(fmt.Sprintf("%s-%d", prefix, i), ofType(serviceType))
			if err := w.client.Create(w.Context(), instance); err != nil {
				return err
			}
			return decidedOn(i, instance, plan)
		})
	}
	require.NoError(w, group.Wait())
}

// swapRecord moves a recorded default by one compare-and-swap.
func (w *world) swapRecord(serviceType, from, to string) {
	w.Helper()
	patch := fmt.Sprintf(`[{"op":"test","path":"/spec/defaultPlanRef/name","value":%q},{"op":"replace","path":"/spec/defaultPlanRef/name","value":%q}]`, from, to)
	target := record("", serviceType, "")
	require.NoError(w, w.client.Patch(w.Context(), target, client.RawPatch(types.JSONPatchType, []byte(patch))))
}

// moveAnnotation takes the default annotation off one plan, then puts it on the
// other.
func (w *world) moveAnnotation(from, to string) {
	w.Helper()
	for _, step := range []struct{ plan, value string }{{from, "null"}, {to, `"true"`}} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, api.AnnotationDefaultPlan, step.value)
		require.NoError(w, w.client.Patch(w.Context(), plan{name: step.plan}.object(), client.RawPatch(types.MergePatchType, []byte(patch))))
	}
}
