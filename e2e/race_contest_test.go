package e2e_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/resolve"
)

// contestants are how many plans a contest has.
const contestants = 10

// settleTimeout bounds how long a contest may take to settle: longer than the
// Lease of a keeper that was killed lasts.
const settleTimeout = time.Minute

// A contest is a type whose plans are to be its default, several at a time. Every
// second plan has the type by its class.
type contest struct {
	*world
	scope

	// kind is the type; the plans are Kubernetes names.
	kind  string
	plans []string
	class resolve.ClassEntry
	// history is what happened to all that.
	history *history
}

func newContest(w *world, s scope) *contest {
	w.Helper()
	c := &contest{world: w, scope: s, kind: w.name("race")}
	at := ""
	if s.namespaced {
		at = w.namespace
	}
	typed := class{namespace: at, name: w.name("typed"), serviceType: c.kind}
	var plans []plan
	for i := range contestants {
		name := w.name(fmt.Sprintf("plan-%d", i))
		c.plans = append(c.plans, name)
		own := ""
		if i%2 == 0 {
			own = c.kind
		}
		plans = append(plans, plan{name: name, serviceType: own})
	}
	w.addPlans(typed, plans...)
	c.class = resolve.ClassEntry{Ref: resolve.Ref{Namespace: at, Name: typed.name}, ExternalName: typed.name, ExternalID: typed.name, Type: c.kind}
	c.history = watchHistory(c)
	c.settles("the type is kept", func(now glance) bool { return now.kept })
	return c
}

// planObject is a plan of the contest, to write to.
func (c *contest) planObject(name string) client.Object {
	return plan{namespace: c.class.Namespace, name: name}.object()
}

// typeObject is the type, to write to.
func (c *contest) typeObject() client.Object {
	return record(c.class.Namespace, c.kind, "")
}

// settles waits until the contest looks so; what that is completes the sentence
// "it is expected that".
func (c *contest) settles(what string, is func(glance) bool) glance {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), settleTimeout)
	defer cancel()
	var now glance
	err := stack.Eventually(ctx, func() (bool, error) {
		var err error
		if now, err = c.glanceAt(c.scope, c.kind); err != nil {
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
	c.settles("there is no default once the annotation is taken off", func(now glance) bool {
		for _, name := range now.annotated {
			// Refusals are told by what remains.
			_ = c.annotate(name, false)
		}
		return now.record == "" && len(now.annotated) == 0
	})
}

// annotate sets the default annotation of a plan, or takes it off, by a patch.
func (c *contest) annotate(name string, on bool) error {
	value := "null"
	if on {
		value = `"true"`
	}
	return c.tryPatch(c.planObject(name), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":`+value+`}}}`)
}
