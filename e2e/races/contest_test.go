package races_test

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/resolve"
)

// contestants are how many plans a contest has.
const contestants = 10

// A contest is a type whose plans are to be its default, several at a time. Every
// second plan has the type by its class.
type contest struct {
	*env.Env
	offering.Scope

	// kind is the type; the plans are Kubernetes names.
	kind  string
	plans []string
	class resolve.ClassEntry
	// history is what happened to all that.
	history *history
}

func newContest(e *env.Env, s offering.Scope) *contest {
	e.Helper()
	c := &contest{Env: e, Scope: s, kind: e.Name("race")}
	at := ""
	if s.Namespaced {
		at = e.Namespace
	}
	typed := env.Class{Namespace: at, Name: e.Name("typed"), ServiceType: c.kind}
	var plans []env.Plan
	for i := range contestants {
		name := e.Name(fmt.Sprintf("plan-%d", i))
		c.plans = append(c.plans, name)
		own := ""
		if i%2 == 0 {
			own = c.kind
		}
		plans = append(plans, env.Plan{Name: name, ServiceType: own})
	}
	e.AddPlans(typed, plans...)
	c.class = resolve.ClassEntry{Ref: resolve.Ref{Namespace: at, Name: typed.Name}, ExternalName: typed.Name, ExternalID: typed.Name, Type: c.kind}
	c.history = watchHistory(c)
	c.settles("the type is kept", func(now offering.Glance) bool { return now.Kept })
	return c
}

// planObject is a plan of the contest, to write to.
func (c *contest) planObject(name string) client.Object {
	return env.Plan{Namespace: c.class.Namespace, Name: name}.Object()
}

// typeObject is the type, to write to.
func (c *contest) typeObject() client.Object {
	return env.TypeWithDefault(c.class.Namespace, c.kind, "")
}

// settles waits until the contest looks so; what that is completes the sentence
// "it is expected that".
func (c *contest) settles(what string, is func(offering.Glance) bool) offering.Glance {
	c.Helper()
	var now offering.Glance
	err := wait.EventuallyWithin(c.Context(), offering.SettleTimeout, func() (bool, error) {
		var err error
		if now, err = offering.GlanceAt(c.Env, c.Scope, c.kind); err != nil {
			return false, err
		}
		if is(now) {
			return true, nil
		}
		return false, fmt.Errorf("it is %+v", now)
	})
	require.NoError(c, err, "it is expected that %s", what)
	return now
}

// clear takes the annotation off until there is no default. Whatever others do,
// that it is off stays so.
func (c *contest) clear() {
	c.Helper()
	c.settles("there is no default once the annotation is taken off", func(now offering.Glance) bool {
		for _, name := range now.Annotated {
			// Refusals are told by what remains.
			_ = c.annotate(name, false)
		}
		return now.Record == "" && len(now.Annotated) == 0
	})
}

// annotate sets the default annotation of a plan, or takes it off, by a patch.
func (c *contest) annotate(name string, on bool) error {
	value := "null"
	if on {
		value = `"true"`
	}
	return c.TryPatch(c.planObject(name), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":`+value+`}}}`)
}
