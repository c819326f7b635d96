package sharing_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A pair is an environment with a broker, whose namespace is a consumer's, and an owner's
// namespace with the instance mydb that is Ready.
type pair struct {
	*env.Env

	owner, consumer string
	broker          *osbtest.Broker
	instance        *api.ServiceInstance
}

// newPair makes one whose instance is shared as sharing says. At the end of the test
// the broker's duties must have been kept.
func newPair(t *testing.T, sharing *api.Sharing, options ...func(*osbtest.Options)) *pair {
	t.Helper()
	e := env.New(t)
	p := &pair{Env: e, consumer: e.Namespace, owner: e.AddNamespace()}
	settings := osbtest.Options{Catalog: e.Catalog(e.Service(e.Plan("small")))}
	for _, option := range options {
		option(&settings)
	}
	p.broker = e.StartBroker(settings)
	t.Cleanup(func() { p.broker.AssertDuties(t) })
	e.Register(p.broker)
	p.instance = p.database("mydb", sharing)
	p.Create(p.instance)
	p.Ready(p.instance)
	return p
}

// database is an instance of the owner, not yet created.
func (p *pair) database(name string, sharing *api.Sharing) *api.ServiceInstance {
	i := p.InNamespace(p.owner).Instance(name, env.OfPlan(p.Name("db"), "small"))
	i.Spec.Sharing = sharing
	return i
}

// binding is one of the consumer to an instance of the owner, not yet created.
func (p *pair) binding(name, instance string) *api.ServiceBinding {
	b := p.Binding(name, instance)
	b.Spec.InstanceRef.Namespace = p.owner
	return b
}

// bound is a binding to mydb that is Ready, made by the administrator.
func (p *pair) bound(name string) *api.ServiceBinding {
	p.Helper()
	b := p.binding(name, "mydb")
	p.Create(b)
	p.Ready(b)
	return b
}

// with is consent for namespaces.
func with(namespaces ...string) *api.Sharing { return &api.Sharing{Namespaces: namespaces} }

// thenUnbind says what becomes of those to whom it is consent no more.
func thenUnbind(sharing *api.Sharing) *api.Sharing {
	sharing.WhenWithdrawn = api.WithdrawnUnbind
	return sharing
}

// share makes the sharing of mydb another, in as many words.
func (p *pair) share(sharing *api.Sharing) {
	p.Helper()
	p.Change(p.instance, func() { p.instance.Spec.Sharing = sharing })
}

// edited tries to edit an object, as it is stored.
func (p *pair) edited(object client.Object, edit func()) error {
	p.Helper()
	p.Get(object)
	edit()
	return p.Client().Update(p.Context(), object)
}

// label gives the consumer's namespace a team.
func (p *pair) label(team string) {
	p.Helper()
	ns := namespace(p.consumer)
	p.Change(ns, func() { ns.Labels["team"] = team })
}

// unsaid waits until a binding has the condition Shared no more.
func (p *pair) unsaid(b *api.ServiceBinding) {
	p.Helper()
	p.Eventually(func() (bool, error) {
		if err := p.Client().Get(p.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return true, err
		}
		if _, has := api.FindCondition(b.Status.Conditions, api.ConditionShared); has {
			return false, fmt.Errorf("it says still: %s", env.StatusOf(b))
		}
		return true, nil
	})
}

// there says that a binding is there, and not being deleted.
func (p *pair) there(b *api.ServiceBinding) {
	p.Helper()
	p.Get(b)
	assert.Nil(p, b.DeletionTimestamp)
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
