package cli

import (
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A goal is what an object is to become.
type goal int

const (
	ready goal = iota
	gone
)

// String ends the sentence "waiting for instance mydb …".
func (g goal) String() string {
	if g == gone {
		return "to be gone"
	}
	return "to be ready"
}

// unmet is what an object is that did not get there.
func (g goal) unmet() string {
	if g == gone {
		return "is still there"
	}
	return "stands but is not ready"
}

// A state is what matters of an object that is waited for.
type state struct {
	// kind is what people call it; empty: it cannot be waited for.
	kind       string
	conditions []v1beta1.Condition
	generation int64
}

func stateOf(object client.Object) state {
	s := state{generation: object.GetGeneration()}
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		s.kind, s.conditions = "instance", o.Status.Conditions
	case *v1beta1.ServiceBinding:
		s.kind, s.conditions = "binding", o.Status.Conditions
	case *v1beta1.ClusterServiceBroker:
		s.kind, s.conditions = "broker", o.Status.Conditions
	case *v1beta1.ServiceBroker:
		s.kind, s.conditions = "broker", o.Status.Conditions
	}
	return s
}

// shownTypes are the conditions that are reported as they change, in this order.
// CatalogComplete is reported only while it is not so.
var shownTypes = []string{v1beta1.ConditionReady, v1beta1.ConditionOrphanMitigation, v1beta1.ConditionCatalogComplete, v1beta1.ConditionCatalogShrank}

// current are the conditions to report: those that were derived from the object as
// its spec is now.
func (s state) current() []v1beta1.Condition {
	var found []v1beta1.Condition
	for _, typ := range shownTypes {
		c, ok := s.find(typ)
		if ok && (typ != v1beta1.ConditionCatalogComplete || c.Status == v1beta1.ConditionFalse) {
			found = append(found, c)
		}
	}
	return found
}

// find is the condition of a type that counts.
func (s state) find(typ string) (v1beta1.Condition, bool) {
	c, ok := v1beta1.FindCondition(s.conditions, typ)
	return c, ok && c.ObservedGeneration == s.generation
}

// text is the state in a few words.
func (s state) text() string {
	if c, ok := s.find(v1beta1.ConditionReady); ok {
		return textOf(c)
	}
	return "nothing was said of it yet as its spec is now; if that stays so, is the controller running?"
}

// textOf is a condition in one line: "Ready=False ProvisionCallFailed: the message".
func textOf(c v1beta1.Condition) string {
	text := fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
	if c.Message != "" {
		text += ": " + strings.Join(strings.Fields(c.Message), " ")
	}
	return text
}

// readiness says whether an object can be used, and if it never will by itself,
// why. Only what was observed of its present spec counts: an instance whose update
// has just been asked for is not ready because it was.
func readiness(object client.Object) (done bool, failure string) {
	s := stateOf(object)
	if object.GetDeletionTimestamp() != nil {
		return false, "is being deleted"
	}
	for _, typ := range []string{v1beta1.ConditionFailed, v1beta1.ConditionStalled} {
		if c, ok := s.find(typ); ok && c.Status == v1beta1.ConditionTrue {
			return false, "failed: " + strings.TrimSpace(c.Reason+": "+c.Message)
		}
	}
	c, ok := s.find(v1beta1.ConditionReady)
	return ok && c.Status == v1beta1.ConditionTrue, ""
}

// describing is the command that shows an object.
func describing(object client.Object) string {
	return "svcat describe " + strings.TrimSpace(stateOf(object).kind+" "+object.GetName()) + NamespaceFlag(object.GetNamespace())
}
