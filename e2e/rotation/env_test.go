package rotation_test

import (
	"testing"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A setting is what the broker of an environment is like.
type setting struct {
	osbtest.Options

	// service is the one that the catalog has, and plan its only plan, which rotates.
	service, plan env.Object
	// controller handles the broker; empty: the one without a name.
	controller string
	// except are the duties that are broken on purpose.
	except []string
}

// A testEnv is an environment with a broker of its own, and an instance of it that is
// Ready.
type testEnv struct {
	*env.Env

	broker   *osbtest.Broker
	instance *api.ServiceInstance
}

// plain has a plan that does not rotate.
func plain(s *setting) { delete(s.plan, "binding_rotatable") }

// fetchable has the credentials of a binding be asked for again.
func fetchable(s *setting) { s.service["bindings_retrievable"] = true }

// oneShot has the broker give credentials once only.
func oneShot(s *setting) { s.OneShot = true }

// crashing has the broker be one of the controller that is killed.
func crashing(s *setting) { s.controller, s.Crashes = mortalName, true }

func newEnv(t *testing.T, edits ...func(*setting)) *testEnv {
	t.Helper()
	e := &testEnv{Env: env.New(t)}
	set := setting{service: e.Service(), plan: e.Plan("small").With("binding_rotatable", true)}
	for _, edit := range edits {
		edit(&set)
	}
	set.Catalog = e.Catalog(set.service.With("plans", []env.Object{set.plan}))
	e.broker = e.StartBroker(set.Options)
	t.Cleanup(func() { e.broker.AssertDuties(t, set.except...) })
	e.Register(e.broker, func(b *api.ClusterServiceBroker) { b.Spec.ControllerName = set.controller })
	e.instance = e.CreateInstance("mydb", env.OfPlan(e.Name("db"), "small"))
	e.Ready(e.instance)
	return e
}

// bound is a binding that is Ready.
func (e *testEnv) bound(edits ...env.BindingEdit) *api.ServiceBinding {
	e.Helper()
	b := e.Binding("reader", e.instance.Name)
	b.Spec.Parameters = env.RawJSON(`{"user":"app"}`)
	b.Spec.SecretName = "reader-secret"
	for _, edit := range edits {
		edit(b)
	}
	e.Create(b)
	e.Ready(b)
	return b
}

// request asks for new credentials now.
func (e *testEnv) request(b *api.ServiceBinding) {
	e.Helper()
	e.Change(b, func() {
		if b.Spec.Rotation == nil {
			b.Spec.Rotation = &api.Rotation{}
		}
		b.Spec.Rotation.Requests++
	})
}
