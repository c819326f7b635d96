package quotas_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	// fewObjects is what many are compared with.
	fewObjects = 10
	// seeders create objects at the same time.
	seeders = 16
	// looks is how often an admission is timed.
	looks = 20
)

// TestNeverOverWithMany: one limit counts 1,000 instances in its long form, and 10,000 in the soak. Below it the
// next is admitted, at it the next is refused; a slot that is freed is granted again; and
// refusing costs no memory that stays. How long it takes is told, and not judged here. No
// controller runs: what asks for a plan has a slot, whether it is at its broker or not.
func TestNeverOverWithMany(t *testing.T) {
	t.Parallel()
	most := suite.Rounds(t, "DEFAULTPLAN_QUOTA_OBJECTS", 100, 1_000)
	s := &shop{Env: env.On(t, suite.New(t, stack.Options{Webhooks: 1, Releaser: true}))}
	s.AddPlans(env.Class{Name: s.Name("db")}, env.Plan{Name: s.Name("small"), ExternalName: "small"})
	first := s.db("first", "small")
	s.Create(first)
	s.seed(first, fewObjects-1, "few")
	few := s.limit("few", instances(int32(most)), "small")
	s.granted(few, fewObjects)
	s.tell("with few", most)
	s.remove(few)
	s.Gone(few)
	s.seed(first, most-fewObjects-1, "many")

	began := time.Now()
	limit := s.limit("many", instances(int32(most)), "small")
	s.granted(limit, most-1)
	t.Logf("%d slots were granted in %s", most-1, time.Since(began).Round(time.Millisecond))
	s.tell("below the limit", most)
	last := s.db("last", "small")
	s.Create(last)
	for range 2 {
		s.granted(limit, most)
		refusal := s.refusal(s.db("over", "small"))
		assert.Contains(t, refusal, fmt.Sprintf("%d instances", most))
		assert.Contains(t, refusal, fmt.Sprintf("and %d have a slot", most))
		s.tell("at the limit", most)
		s.remove(last)
		s.Gone(last)
		s.granted(limit, most-1)
		last = s.db("last", "small")
		s.Eventually(func() (bool, error) { err := s.Client().Create(t.Context(), last); return err == nil, err })
	}
	s.granted(limit, most)
	s.refusesWithoutHoarding(most)
}

// seed stores copies of an instance past the webhook, as admission would have them stored.
func (s *shop) seed(of *api.ServiceInstance, count int, prefix string) {
	s.Helper()
	require.NoError(s, s.UninstallHooks(s.Context()))
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(seeders)
	for i := range count {
		group.Go(func() error {
			one := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
				Namespace: of.Namespace, Name: fmt.Sprintf("%s-%05d", prefix, i), Annotations: of.Annotations, Labels: of.Labels, Finalizers: of.Finalizers,
			}, Spec: *of.Spec.DeepCopy()}
			one.Spec.ExternalID = uuid.NewString()
			return s.Client().Create(ctx, one)
		})
	}
	require.NoError(s, group.Wait())
	require.NoError(s, s.InstallHooks(s.Context()))
}

// tell logs how long it takes to admit or refuse an instance, and what the webhook holds.
func (s *shop) tell(when string, most int) {
	s.Helper()
	took := make([]time.Duration, looks)
	for i := range took {
		began := time.Now()
		_ = s.Client().Create(s.Context(), s.db("asked", "small"), client.DryRunAll) // either answer is one
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	s.Logf("%s of %d: admission takes %s (median of %d), the webhook's heap is %d MiB, all of it %d MiB", when, most,
		took[looks/2].Round(100*time.Microsecond), looks, s.heap()>>20, int(s.Metric(0, "process_resident_memory_bytes"))>>20)
}

func (s *shop) heap() int { return int(s.Metric(0, "go_memstats_heap_inuse_bytes")) }

// refusesWithoutHoarding has many refused, each of which looks at all the slots, two at a
// time: each is held against the API server, which takes a while.
func (s *shop) refusesWithoutHoarding(most int) {
	s.Helper()
	const refusals, atOnce, twice, spare = 100, 2, 2, 64 << 20
	s.refusal(s.db("over", "small"))
	before := s.heap()
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(atOnce)
	for i := range refusals {
		group.Go(func() error {
			return wait.Eventually(ctx, func() (bool, error) {
				err := s.Client().Create(ctx, s.db(fmt.Sprintf("over-%d", i), "small"))
				return !wait.Overloaded(err), refusedAtLimit(err)
			})
		})
	}
	require.NoError(s, group.Wait())
	s.tell("after refusals", most)
	// What a refusal leaves is on the heap until it is collected.
	s.Eventually(func() (bool, error) {
		now := s.heap()
		if now < twice*before+spare {
			return true, nil
		}
		return false, fmt.Errorf("the heap was %d bytes, and is %d", before, now)
	})
}

// refusedAtLimit is nil where a creation was refused because all slots are granted.
func refusedAtLimit(err error) error {
	if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "have a slot") {
		return nil
	}
	return fmt.Errorf("not refused at the limit: %w", err)
}
