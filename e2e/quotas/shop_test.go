package quotas_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A shop is an environment with a broker of one class of two plans, small and large.
type shop struct {
	*env.Env

	broker *osbtest.Broker
}

func newShop(t *testing.T, edits ...func(*osbtest.Options)) *shop {
	t.Helper()
	e := env.New(t)
	service := e.Service(e.Plan("small").With("free", true), e.Plan("large").With("free", false))
	options := osbtest.Options{Catalog: e.Catalog(service), Crashes: true}
	for _, edit := range edits {
		edit(&options)
	}
	s := &shop{Env: e, broker: e.StartBroker(options)}
	s.Register(s.broker)
	return s
}

// remove deletes an object that may be gone already, and does not wait for it.
func (s *shop) remove(o client.Object) {
	s.Helper()
	require.NoError(s, client.IgnoreNotFound(s.Client().Delete(s.Context(), o)))
}

// waits waits until objects wait for slots, and returns what the last says of it.
func (s *shop) waits(objects ...client.Object) string {
	s.Helper()
	message := ""
	for _, o := range objects {
		message = s.HasCondition(o, api.ConditionReady, api.ConditionUnknown, "WaitingForSlot").Message
	}
	return message
}

// refusal waits until the creation of an object is forbidden, and returns why: the
// webhook's cache learns of slots by a watch.
func (s *shop) refusal(o client.Object) string {
	s.Helper()
	var err error
	s.Eventually(func() (bool, error) {
		err = s.Client().Create(s.Context(), o.DeepCopyObject().(client.Object), client.DryRunAll)
		return apierrors.IsForbidden(err), nil
	})
	return err.Error()
}

// db is an instance, not yet created.
func (s *shop) db(name, plan string) *api.ServiceInstance {
	return s.Instance(name, env.OfPlan(s.Name("db"), plan))
}

// dbs are several of a plan, not yet created.
func (s *shop) dbs(plan string, names ...string) []*api.ServiceInstance {
	all := make([]*api.ServiceInstance, len(names))
	for i, name := range names {
		all[i] = s.db(name, plan)
	}
	return all
}

// limit is a policy for plans of the shop's class, in its namespace; removed at the end.
func (s *shop) limit(name string, edit func(*api.ProvisioningPolicySpec), plans ...string) *api.ProvisioningPolicy {
	s.Helper()
	p := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.Name(name)}}
	p.Spec.Action, p.Spec.Message = api.PolicyLimit, "ask Ann for more"
	p.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{s.Namespace}}
	for _, plan := range plans {
		p.Spec.Subjects = append(p.Spec.Subjects, api.PolicySubject{PlanSubject: api.PlanSubject{ClassName: s.Name("db"), PlanName: plan}})
	}
	edit(&p.Spec)
	s.Create(p)
	s.Cleanup(func() {
		assert.NoError(s, client.IgnoreNotFound(s.Client().Delete(context.WithoutCancel(s.Context()), p)))
	})
	return p
}

func instances(n int32) func(*api.ProvisioningPolicySpec) {
	return func(s *api.ProvisioningPolicySpec) { s.MaxInstances = &n }
}

func bindings(n int32) func(*api.ProvisioningPolicySpec) {
	return func(s *api.ProvisioningPolicySpec) { s.MaxBindings = &n }
}

// slots are how many slots a policy granted in the namespace.
func (s *shop) slots(p *api.ProvisioningPolicy) (instances, bindings int) {
	s.Helper()
	s.Get(p)
	for _, granted := range p.Status.Slots {
		if granted.Namespace == s.Namespace {
			return len(granted.Instances), len(granted.Bindings)
		}
	}
	return 0, 0
}

// granted waits until a policy granted so many slots to instances.
func (s *shop) granted(p *api.ProvisioningPolicy, want int) {
	s.Helper()
	s.Eventually(func() (bool, error) {
		got, _ := s.slots(p)
		if got == want {
			return true, nil
		}
		return false, fmt.Errorf("%s granted %d slots, not %d", p.Name, got, want)
	})
}

// there are how many the broker has of plans.
func (s *shop) there(plans ...string) int {
	n := 0
	for _, i := range s.broker.Instances() {
		for _, plan := range plans {
			if i.PlanID == s.PlanID(plan) {
				n++
			}
		}
	}
	return n
}

// unkept stops both keepers; the function starts them again.
func (s *shop) unkept() (again func()) {
	s.Helper()
	for _, k := range keepers {
		require.NoError(s, k.Stop(s.Context(), syscall.SIGKILL))
	}
	return func() {
		s.Helper()
		require.NoError(s, keepers[0].Bury(s.Context()))
		for _, k := range keepers {
			require.NoError(s, k.Start(s.Context()))
		}
	}
}
