package freshness_test

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
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// rounds is how often what must always work is tried: as the environment variable
// FRESH_ROUNDS says, at least 20 times.
func rounds(t *testing.T) int {
	t.Helper()
	asked := suite.Rounds(t, "FRESH_ROUNDS", 60, 120)
	require.GreaterOrEqual(t, asked, 20, "FRESH_ROUNDS")
	return asked
}

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
	for round := range rounds(t) {
		group.Go(func() error { return try(round) })
	}
	require.NoError(t, group.Wait())
}

// applyFile stores objects in their order without a pause: most rounds by requests
// of their own, some by one kubectl apply -f.
func applyFile(e *env.Env, round int, objects ...client.Object) error {
	return applyBy(e, round, []string{"apply", "-f", "-"}, objects...)
}

// applyBy is applyFile with the command of kubectl.
func applyBy(e *env.Env, round int, command []string, objects ...client.Object) error {
	if round%byKubectl != 0 {
		for _, object := range objects {
			if err := e.Put(object); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	}
	documents := make([]string, len(objects))
	for i, object := range objects {
		kinds, _, err := e.Client().Scheme().ObjectKinds(object)
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
	err := wait.Eventually(e.Context(), func() (bool, error) {
		stdout, stderr, err := e.Stack.Kubectl(e.Context(), strings.Join(documents, "---\n"), command...)
		if err != nil {
			return !wait.WebhookTimedOut(stderr), fmt.Errorf("round %d: %w: %s%s", round, err, stdout, stderr)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	last := objects[len(objects)-1]
	return e.Client().Get(e.Context(), client.ObjectKeyFromObject(last), last)
}

// decidedOn is an error unless the instance was decided on the plan.
func decidedOn(round int, instance *api.ServiceInstance, plan string) error {
	if got := env.PlanOf(instance); got != plan {
		return fmt.Errorf("round %d: instance %s has plan %q, want %q", round, instance.Name, got, plan)
	}
	return nil
}

// TestAPlanAndItsInstanceInOneFile: the instance comes right behind the plan it
// needs, whichever way it asks for it, and no cache may stand in between.
func TestAPlanAndItsInstanceInOneFile(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddCatalog(env.Class{Name: e.Name("house")}, env.Class{Namespace: e.Namespace, Name: e.Name("local")})
	everyTime(t, func(round int) error {
		serviceType, name := e.Name(fmt.Sprintf("type%d", round)), e.Name(fmt.Sprintf("plan%d", round))
		added := env.Plan{Name: name, Class: e.Name("house"), ServiceType: serviceType, Default: true, Labels: map[string]string{"round": serviceType}}
		objects := []client.Object{}
		var asks env.InstanceEdit
		switch round % 5 {
		case 0:
			asks = env.OfType(serviceType)
		case 1:
			asks = env.OfPlan(e.Name("house"), name)
		case 2:
			asks = env.WithSelector(added.Labels)
		case 3:
			added.Namespace, added.Class = e.Namespace, e.Name("local")
			asks = env.OfType(serviceType)
		case 4:
			// Its class comes in the same file, too.
			added.Class = name
			objects = append(objects, env.Class{Name: name}.Object())
			asks = env.OfPlan(name, "")
		}
		instance := e.Instance(fmt.Sprintf("db%d", round), asks)
		if err := applyFile(e, round, append(objects, added.Object(), instance)...); err != nil {
			return err
		}
		return decidedOn(round, instance, name)
	})
}

// TestADefaultInTheSameFileBeatsAnOlderSuggestion: the suggestion is in every
// cache, the default and its record in none yet.
func TestADefaultInTheSameFileBeatsAnOlderSuggestion(t *testing.T) {
	t.Parallel()
	beatsSuggestion(t, env.New(t), func(e *env.Env, round int, chosen env.Plan, instance *api.ServiceInstance) error {
		record := env.TypeWithDefault("", chosen.ServiceType, chosen.Name)
		return applyBy(e, round, []string{"apply", "--server-side", "-f", "-"}, chosen.Object(), record, instance)
	})
}

// TestAnAnnotatedDefaultBeatsAnOlderSuggestion: once the keeper recorded it, or, where no keeper
// is, at once: then no process takes its cache for current.
func TestAnAnnotatedDefaultBeatsAnOlderSuggestion(t *testing.T) {
	t.Parallel()
	t.Run("Recorded", func(t *testing.T) {
		t.Parallel()
		beatsSuggestion(t, env.New(t), func(e *env.Env, round int, chosen env.Plan, instance *api.ServiceInstance) error {
			if err := applyFile(e, round, chosen.Object()); err != nil {
				return err
			}
			if err := wait.Eventually(e.Context(), func() (bool, error) { return isRecorded(e, chosen) }); err != nil {
				return err
			}
			return applyFile(e, round, instance)
		})
	})
	t.Run("WithoutKeeper", func(t *testing.T) {
		t.Parallel()
		e := env.On(t, suite.New(t, stack.Options{Webhooks: 2, WebhookArgs: []string{"--keeper=off"}, Releaser: true}))
		beatsSuggestion(t, e, func(e *env.Env, round int, chosen env.Plan, instance *api.ServiceInstance) error {
			return applyFile(e, round, chosen.Object(), instance)
		})
	})
}

// isRecorded says whether a plan is recorded as its type's default.
func isRecorded(e *env.Env, plan env.Plan) (bool, error) {
	var record api.ClusterServiceType
	err := e.Client().Get(e.Context(), client.ObjectKey{Name: plan.ServiceType}, &record)
	recorded := record.Spec.DefaultPlanRef != nil && record.Spec.DefaultPlanRef.Name == plan.Name
	return recorded, client.IgnoreNotFound(err)
}

// beatsSuggestion applies a default and an instance of its type, for which every cache has a
// suggestion, and expects the default.
func beatsSuggestion(t *testing.T, e *env.Env, apply func(e *env.Env, round int, chosen env.Plan, instance *api.ServiceInstance) error) {
	t.Helper()
	e.AddCatalog(env.Class{Name: e.Name("house")})
	typeOf := func(round int) string { return e.Name(fmt.Sprintf("type%d", round)) }
	everyTime(t, func(round int) error {
		suggested := env.Plan{Name: "suggested-" + typeOf(round), Class: e.Name("house"), ServiceType: typeOf(round), Suggested: true}
		return e.Put(suggested.Object())
	})
	everyTime(t, func(round int) error {
		chosen := env.Plan{Name: "default-" + typeOf(round), Class: e.Name("house"), ServiceType: typeOf(round), Default: true}
		instance := e.Instance(fmt.Sprintf("db%d", round), env.OfType(typeOf(round)))
		if err := apply(e, round, chosen, instance); err != nil {
			return err
		}
		return decidedOn(round, instance, chosen.Name)
	})
}

// TestARecordedDefaultThatNoCacheHasYet: record and plan, and every second time
// its class, are as new as the instance that needs them.
func TestARecordedDefaultThatNoCacheHasYet(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddCatalog(env.Class{Name: e.Name("house")})
	// Between the request by which kubectl looks for the type and that by which it
	// creates it, the keeper may have made it; this way there is only one.
	command := []string{"apply", "--server-side", "-f", "-"}
	everyTime(t, func(round int) error {
		serviceType := e.Name(fmt.Sprintf("type%d", round))
		chosen := env.Plan{Name: "recorded-" + serviceType, Class: e.Name("house"), ServiceType: serviceType}
		objects := []client.Object{}
		if round%2 == 1 {
			chosen.Class = "house-" + serviceType
			objects = append(objects, env.Class{Name: chosen.Class, ServiceType: serviceType}.Object())
			chosen.ServiceType = ""
		}
		instance := e.Instance(fmt.Sprintf("db%d", round), env.OfType(serviceType))
		objects = append(objects, chosen.Object(), env.TypeWithDefault("", serviceType, chosen.Name), instance)
		if err := applyBy(e, round, command, objects...); err != nil {
			return err
		}
		return decidedOn(round, instance, chosen.Name)
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
			s := suite.Shared(t)
			if !tc.recorded {
				s = suite.New(t, stack.Options{Webhooks: 2, WebhookArgs: []string{"--keeper=off"}, Releaser: true})
			}
			e := env.On(t, s)
			serviceType := e.Name("db")
			plans := []string{e.Name("x"), e.Name("y")}
			e.AddPlans(env.Class{Name: e.Name("house"), ServiceType: serviceType}, env.Plan{Name: plans[0], Default: !tc.recorded}, env.Plan{Name: plans[1]})
			if tc.recorded {
				e.Create(env.TypeWithDefault("", serviceType, plans[0]))
			}
			const switches = 20
			creates := rounds(t) / switches
			for turn := range switches {
				from, to := plans[turn%2], plans[(turn+1)%2]
				if tc.recorded {
					swapRecord(e, serviceType, from, to)
				} else {
					moveAnnotation(e, from, to)
				}
				createAtOnce(e, creates, fmt.Sprintf("turn%d", turn), to, serviceType)
			}
			decided := decidedBy(e, tc.rule)
			assert.Equal(t, switches*creates, decided[0]+decided[1], "%s: each is decided once, by the rule", tc.reason)
			assert.Positive(t, decided[0], "both processes were asked")
			assert.Positive(t, decided[1], "both processes were asked")
		})
	}
}

// createAtOnce creates n instances of a type at the same time, which all must be
// decided on the plan.
func createAtOnce(e *env.Env, n int, prefix, plan, serviceType string) {
	e.Helper()
	group, _ := errgroup.WithContext(e.Context())
	for i := range n {
		group.Go(func() error {
			instance := e.Instance(fmt.Sprintf("%s-%d", prefix, i), env.OfType(serviceType))
			if err := e.Put(instance); err != nil {
				return err
			}
			return decidedOn(i, instance, plan)
		})
	}
	require.NoError(e, group.Wait())
}

// swapRecord moves a recorded default by one compare-and-swap.
func swapRecord(e *env.Env, serviceType, from, to string) {
	e.Helper()
	patch := fmt.Sprintf(`[{"op":"test","path":"/spec/defaultPlanRef/name","value":%q},{"op":"replace","path":"/spec/defaultPlanRef/name","value":%q}]`, from, to)
	target := env.TypeWithDefault("", serviceType, "")
	require.NoError(e, e.Client().Patch(e.Context(), target, client.RawPatch(types.JSONPatchType, []byte(patch))))
}

// moveAnnotation takes the default annotation off one plan, then puts it on the
// other.
func moveAnnotation(e *env.Env, from, to string) {
	e.Helper()
	for _, step := range []struct{ plan, value string }{{from, "null"}, {to, `"true"`}} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, api.AnnotationDefaultPlan, step.value)
		require.NoError(e, e.Client().Patch(e.Context(), env.Plan{Name: step.plan}.Object(), client.RawPatch(types.MergePatchType, []byte(patch))))
	}
}

// decidedBy counts, for each of both webhook processes, the creations in the
// namespace that it decided by rule.
func decidedBy(e *env.Env, rule string) [2]int {
	e.Helper()
	var counts [2]int
	for i := range counts {
		for _, line := range e.Decisions(i) {
			if line.Phase == "mutate" && line.Operation == "CREATE" && line.Rule == rule && line.Outcome == "allowed" {
				counts[i]++
			}
		}
	}
	return counts
}
