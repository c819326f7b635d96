package ha_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A testEnv is an environment on a stack of which parts end.
type testEnv struct{ *env.Env }

func newEnv(t *testing.T, s *stack.Stack) *testEnv {
	t.Helper()
	return &testEnv{env.On(t, s)}
}

// patience bounds what is waited for: more than one Lease may have to run out first.
const patience = 90 * time.Second

// eventually polls until the condition is true; an error says why not yet.
func (e *testEnv) eventually(is func() (bool, error)) {
	e.Helper()
	require.NoError(e, wait.EventuallyWithin(e.Context(), patience, is))
}

// as is a client of a user who may do everything, and yet is no system:masters: the API
// server has its requests wait like those of others. It makes a write once, because what is
// tested is whether that fails.
func (e *testEnv) as(user string, groups ...string) client.Client {
	e.Helper()
	e.GrantClusterRole(user, "cluster-admin")
	return e.As(user, append(groups, "system:authenticated")...).Once()
}

// class is one that is the operator's: no broker offers it.
func (e *testEnv) class(name string) *api.ClusterServiceClass {
	return &api.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.ClusterServiceClassSpec{
		ClusterServiceBrokerName: "broker",
		CommonServiceClassSpec:   api.CommonServiceClassSpec{ExternalName: name, ExternalID: name, Description: "a class of a scenario", Bindable: true},
	}}
}

// plan is one of a class; serviceType may be empty.
func (e *testEnv) plan(name, class, serviceType string, isDefault bool) *api.ClusterServicePlan {
	p := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.ClusterServicePlanSpec{
		ClusterServiceBrokerName: "broker", ClusterServiceClassRef: api.ClusterObjectReference{Name: class},
		CommonServicePlanSpec: api.CommonServicePlanSpec{ExternalName: name, ExternalID: name, Description: "a plan of a scenario", ServiceType: serviceType},
	}}
	if isDefault {
		p.Annotations = map[string]string{api.AnnotationDefaultPlan: "true"}
	}
	return p
}

// A choice is a type with two plans, of which one is its recorded default.
type choice struct {
	*testEnv

	serviceType string
	plans       [2]string
}

// newChoice makes a type of that name, and waits until its first plan is recorded.
func (e *testEnv) newChoice(base string) choice {
	e.Helper()
	c := choice{testEnv: e, serviceType: e.Name(base), plans: [2]string{e.Name(base + "-x"), e.Name(base + "-y")}}
	e.Create(e.class(c.serviceType), e.plan(c.plans[0], c.serviceType, c.serviceType, true), e.plan(c.plans[1], c.serviceType, c.serviceType, false))
	c.recorded(0)
	return c
}

// recorded waits until record and annotation agree that a plan is the default.
func (c choice) recorded(plan int) {
	c.Helper()
	c.eventually(func() (bool, error) {
		record := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: c.serviceType}}
		if err := c.Client().Get(c.Context(), client.ObjectKeyFromObject(record), record); err != nil {
			return false, err
		}
		if ref := record.Spec.DefaultPlanRef; ref == nil || ref.Name != c.plans[plan] {
			return false, fmt.Errorf("type %s records %v, not %s", c.serviceType, ref, c.plans[plan])
		}
		for i, name := range c.plans {
			p := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := c.Client().Get(c.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				return false, err
			}
			if is := p.Annotations[api.AnnotationDefaultPlan] == "true"; is != (i == plan) {
				return false, fmt.Errorf("type %s: plan %s is annotated: %t", c.serviceType, name, is)
			}
		}
		return true, nil
	})
}

// switchTo records another plan, and leaves the annotations to the keeper.
func (c choice) switchTo(plan int) {
	c.Helper()
	record := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: c.serviceType}}
	patch := fmt.Appendf(nil, `{"spec": {"defaultPlanRef": {"name": %q}}}`, c.plans[plan])
	require.NoError(c, c.Client().Patch(c.Context(), record, client.RawPatch(types.MergePatchType, patch)))
}

// A term is who leads, and since when.
type term struct {
	holder      string
	since       time.Time
	transitions int32
}

// termOf reads a Lease of the installation.
func (e *testEnv) termOf(lease string) (term, error) {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "defaultplan-system", Name: lease}}
	if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(l), l); err != nil {
		return term{}, err
	}
	if l.Spec.HolderIdentity == nil || l.Spec.AcquireTime == nil || l.Spec.LeaseTransitions == nil {
		return term{}, nil
	}
	return term{holder: *l.Spec.HolderIdentity, since: l.Spec.AcquireTime.Time, transitions: *l.Spec.LeaseTransitions}, nil
}

// leads waits until another replica than the last leads.
func (e *testEnv) leads(lease, last string) term {
	e.Helper()
	var now term
	e.eventually(func() (bool, error) {
		var err error
		if now, err = e.termOf(lease); err != nil {
			return false, err
		}
		if now.holder == "" || now.holder == last {
			return false, fmt.Errorf("no replica but %q leads by %s", last, lease)
		}
		return true, nil
	})
	return now
}
