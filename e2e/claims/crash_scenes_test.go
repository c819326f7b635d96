package claims_test

import (
	"net/http"
	"testing"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A crashScene is one claim, and the point of its life at which its controller is killed.
type crashScene struct {
	// goes says that it is killed while the claim is removed, and not made.
	goes bool
	// write is the write that it is killed at; nil: it is killed at a call of the verb.
	write func(*apiproxy.Write) bool
	verb  osbtest.Verb
	// after says that the write was applied, or the call acted on.
	after bool
}

const (
	ofInstances = "serviceinstances"
	ofBindings  = "servicebindings"
)

// request is a write that is none of a status.
func request(method, resource string) func(*apiproxy.Write) bool {
	return func(w *apiproxy.Write) bool {
		return w.Method == method && w.Resource == resource && w.Subresource == ""
	}
}

// says is a write of a status that sets a field; an empty value is any.
func says(resource, field, value string) func(*apiproxy.Write) bool {
	return func(w *apiproxy.Write) bool {
		set := w.Status()[field]
		return w.Resource == resource && set != nil && (value == "" || set == value)
	}
}

// The writes of a claim that is made, and of one that is removed: those of the binding
// and those of its instance.
var (
	writesToMake = map[string]func(*apiproxy.Write) bool{
		"InstanceMade": request(http.MethodPost, ofInstances), "InstanceNoted": says(ofBindings, "instanceRef", ""),
		"ProvisionIntent": says(ofInstances, "currentOperation", "Provision"), "ProvisionOutcome": says(ofInstances, "provisionStatus", "Provisioned"),
		"BindIntent": says(ofBindings, "currentOperation", "Bind"), "Secret": request(http.MethodPost, "secrets"), "BindOutcome": says(ofBindings, "binding", ""),
	}
	writesToRemove = map[string]func(*apiproxy.Write) bool{
		"UnbindIntent": says(ofBindings, "currentOperation", "Unbind"), "SecretGoes": request(http.MethodDelete, "secrets"),
		"UnbindOutcome": says(ofBindings, "unbindStatus", "Succeeded"), "InstanceDeleted": request(http.MethodDelete, ofInstances),
		"DeprovisionIntent": says(ofInstances, "currentOperation", "Deprovision"), "InstanceReleased": request(http.MethodPatch, ofInstances),
		"BindingReleased": request(http.MethodPatch, ofBindings),
	}
)

// crashScenes are all points of a claim's life.
func crashScenes() map[string]crashScene {
	scenes := map[string]crashScene{}
	add := func(name string, c crashScene) {
		scenes["Before"+name] = c
		c.after = true
		scenes["After"+name] = c
	}
	for name, write := range writesToMake {
		add(name, crashScene{write: write})
	}
	for name, write := range writesToRemove {
		add(name, crashScene{goes: true, write: write})
	}
	for name, verb := range map[string]osbtest.Verb{"Provision": osbtest.Provision, "Bind": osbtest.Bind} {
		add(name, crashScene{verb: verb})
	}
	for name, verb := range map[string]osbtest.Verb{"Unbind": osbtest.Unbind, "Deprovision": osbtest.Deprovision} {
		add(name, crashScene{goes: true, verb: verb})
	}
	return scenes
}

// reach begins what the scene is about, and returns when the controller is held at its
// point. The function is called when that one is dead.
func (c *crashScene) reach(t *testing.T, g *crashStack, s *shop, b *api.ServiceBinding) (late func()) {
	t.Helper()
	begin := func() { s.Create(b) }
	if c.goes {
		begin = func() { s.Delete(b) }
	}
	if c.write == nil {
		return c.reachCall(t, s, begin)
	}
	held := g.proxy.Hold(func(w *apiproxy.Write) bool { return w.Namespace == s.Namespace && c.write(w) })
	begin()
	arrivesAt(t, held.Arrived, "the write was never made")
	if c.after {
		held.Apply()
		arrivesAt(t, held.Applied, "the write was never applied")
	}
	return func() {}
}

// reachCall is reach of a call: of one that the broker never acts on, or acts on and never
// answers.
func (c *crashScene) reachCall(t *testing.T, s *shop, begin func()) (late func()) {
	t.Helper()
	cut := c.after
	s.broker.On(func(call osbtest.Call) osbtest.Fault {
		if cut || call.Verb != c.verb {
			return osbtest.Fault{}
		}
		cut = true
		return osbtest.CutBefore()
	})
	held := s.broker.Hold(c.verb)
	begin()
	arrivesAt(t, held.Arrived, "the call never came")
	if !c.after {
		return held.Act
	}
	held.Act()
	arrivesAt(t, held.Acted, "the call was never acted on")
	return held.Answer
}
