package keeper_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// terminating is what the API server answers to a create in a namespace that is
// being deleted.
func terminating(object client.Object) error {
	err := apierrors.NewForbidden(v1beta1.Resource("servicetypes"), object.GetName(), nil)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause, Message: "the namespace is being terminated"}}
	return err
}

// counted is how many writes of that kind had that result.
func (r *registry) counted(write, result string) int {
	r.t.Helper()
	families, err := r.registry.Gather()
	require.NoError(r.t, err)
	for _, family := range families {
		if family.GetName() != "defaultplan_keeper_default_writes_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := metric.GetLabel()
			if labels[0].GetValue() == result && labels[1].GetValue() == write {
				return int(metric.GetCounter().GetValue())
			}
		}
	}
	return -1
}

func TestWithTheGateOffNothingIsRecorded(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
		options := r.options()
		options.ServiceTypes = false
		r.house.keep(ctx, options)
		r.annotate(ctx, "a")
		r.pass(time.Minute)
		assert.Equal(t, "no object, a annotated", r.defaults(ctx, "mysql"))
	})
}

// Users, brokers, other hooks and the death of keepers at random: a type settles
// as soon as it is left alone, whatever was refused meanwhile.
func TestNoTypeIsEverStuck(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			atRegistry(t, offering("", "a", "b", "c"), func(ctx context.Context, r *registry) {
				// The hooks' source is their own: they answer while the test goes on.
				random, moody := rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 3))
				r.refuse(func(string, client.Object) error {
					if moody.IntN(10) < 3 {
						return status(403, metav1.StatusReasonForbidden)
					}
					return nil
				})
				end := r.keep(ctx)
				for range 40 {
					r.disturb(ctx, random)
					r.pass(time.Duration(random.IntN(40)) * time.Millisecond)
					if random.IntN(8) == 0 {
						end()
						end = r.keep(ctx)
					}
					if random.IntN(4) == 0 {
						r.pass(time.Minute)
						r.agrees(ctx)
					}
				}
				r.pass(time.Minute)
				r.agrees(ctx)
			})
		})
	}
}

func (r *registry) disturb(ctx context.Context, random *rand.Rand) {
	name := []string{"a", "b", "c"}[random.IntN(3)]
	switch random.IntN(6) {
	case 0, 1:
		r.annotate(ctx, name)
	case 2:
		r.takeOff(ctx, name)
	case 3:
		if spec, _, _ := r.typeStatus(ctx, "mysql"); spec != nil {
			r.record(ctx, name)
		}
	case 4:
		r.retype(ctx, name, []string{"", "redis"}[random.IntN(2)])
	case 5:
		r.remove(ctx, planAt("", name))
		r.add(ctx, planAt("", name))
	}
}

// agrees fails unless the record of each type names the one plan of that type that
// is annotated, or neither is there.
func (r *registry) agrees(ctx context.Context) {
	r.t.Helper()
	var plans v1beta1.ClusterServicePlanList
	require.NoError(r.t, r.WithWatch.List(ctx, &plans))
	annotated := map[string][]string{"mysql": {}, "redis": {}}
	for i := range plans.Items {
		serviceType := plans.Items[i].Spec.ServiceType
		if serviceType == "" {
			serviceType = "mysql"
		}
		if isAnnotated(&plans.Items[i]) {
			annotated[serviceType] = append(annotated[serviceType], plans.Items[i].Name)
		}
	}
	for serviceType, names := range annotated {
		recorded := []string{}
		if spec, status, generation := r.typeStatus(ctx, serviceType); spec != nil && spec.DefaultPlanRef != nil {
			recorded = append(recorded, spec.DefaultPlanRef.Name)
			require.True(r.t, status.Confirmed && status.ObservedGeneration == generation)
		}
		require.Equal(r.t, names, recorded, serviceType)
	}
}

// What hooks answer may quote what is not ours to repeat.
func TestWhatADefaultRecorderLogs(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
		options := r.options()
		said := &lines{}
		options.Log = said.logger()
		r.refuse(func(string, client.Object) error {
			return fmt.Errorf("hook of another: hunter2 is too short: %w", status(403, metav1.StatusReasonForbidden))
		})
		r.annotate(ctx, "a")
		r.house.keep(ctx, options)
		r.pass(time.Minute)
		r.refuse(func(string, client.Object) error { return nil })
		r.pass(time.Minute)
		r.record(ctx, "x")
		r.pass(time.Minute)
		assert.Contains(t, said.all(), `"msg"="service type not settled; to be tried again" "type"="/mysql" "code"=403 "reason"="Forbidden"`)
		assert.Contains(t, said.all(), `"level"=1 "msg"="default kept" "type"="/mysql" "plan"="a" "write"="record"`)
		assert.Contains(t, said.all(), `"level"=0 "msg"="default repaired" "type"="/mysql" "plan"="a" "write"="record" "why"="it does not exist"`)
		assert.NotContains(t, said.all(), "hunter2")
	})
}

// A relist may write ten thousand plans one after the other. A default among them is
// recorded at once all the same.
func TestARelistIsCounted(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
		r.keep(ctx)
		r.pass(time.Minute)
		r.forget()
		r.looks.Store(0)
		const plans, every = 60, 150 * time.Millisecond
		for i := range plans {
			p := clusterPlan([]string{"", "mysql"}[i%2])
			p.Name = fmt.Sprintf("p%03d", i)
			r.add(ctx, p)
			if i == plans/2 {
				r.annotate(ctx, "a")
				r.pass(every / 2)
				assert.Equal(t, "a recorded and confirmed, a annotated", r.defaults(ctx, "mysql"))
			}
			r.pass(every)
		}
		seconds := int(plans * every / time.Second)
		assert.InDelta(t, seconds, len(r.written("ClusterServiceType", "mysql")), 3, "about once a second")
		assert.Less(t, int(r.looks.Load()), 10*seconds, "nor is it looked at much more often")
		r.pass(2 * time.Second)
		_, told, _ := r.typeStatus(ctx, "mysql")
		assert.EqualValues(t, plans+1, told.Plans)
		writes := r.written("ClusterServiceType", "mysql")
		r.pass(time.Hour)
		assert.Equal(t, writes, r.written("ClusterServiceType", "mysql"), "and no more")
	})
}

// The next keeper goes on from what is stored.
func TestTheNextKeeperGoesOn(t *testing.T) {
	t.Parallel()
	for writes := range 5 {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			t.Parallel()
			atRegistry(t, offering("", "a", "b"), func(ctx context.Context, r *registry) {
				end := r.keep(ctx)
				r.annotate(ctx, "a")
				r.pass(time.Minute)
				left := writes
				r.refuse(func(string, client.Object) error {
					if left--; left < 0 {
						return status(500, metav1.StatusReasonInternalError)
					}
					return nil
				})
				r.record(ctx, "b")
				r.pass(time.Minute)
				end()
				r.refuse(func(string, client.Object) error { return nil })
				r.keep(ctx)
				r.pass(time.Minute)
				assert.Equal(t, "b recorded and confirmed, b annotated", r.defaults(ctx, "mysql"))
			})
		})
	}
}

// Who lost the lease writes nothing.
func TestADefaultRecorderWithoutTheLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
		end := r.keep(ctx)
		r.pass(time.Minute)
		end()
		r.wrote()
		r.annotate(ctx, "a")
		r.pass(time.Hour)
		assert.Empty(t, r.wrote())
	})
}
