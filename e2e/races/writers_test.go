package races_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// An attempt is one write that is to make a plan the default, or to change which
// one it is, and what came of it.
type attempt struct {
	plan string
	// guarded says that it is void if what it writes to was written meanwhile.
	guarded bool
	// from and to are revisions before and after it.
	from, to int64
	err      error
}

// What came of an attempt.
type outcome string

const (
	accepted outcome = "accepted"
	// refused: there is a default already.
	refused outcome = "refused"
	// rejected: the other webhook would not have it.
	rejected outcome = "rejected"
	// unheard: a webhook was killed over it.
	unheard outcome = "unheard"
	// outdated: it was about a state that had passed.
	outdated outcome = "outdated"
)

// outcome says what came of it; an error is one that no writer should get.
func (a attempt) outcome() (outcome, error) {
	switch {
	case a.err == nil:
		return accepted, nil
	case strings.Contains(a.err.Error(), stack.RejectedAtRandom):
		return rejected, nil
	case apierrors.IsForbidden(a.err) && strings.Contains(a.err.Error(), "denied the request"):
		return refused, nil
	case apierrors.IsInternalError(a.err) && strings.Contains(a.err.Error(), "failed calling webhook"):
		return unheard, nil
	case apierrors.IsConflict(a.err):
		return outdated, nil
	}
	return "", a.err
}

// attempts makes writes at the same time, and returns what came of each.
func (c *contest) attempts(plans []string, write func(plan string) error) []attempt {
	made := make([]attempt, len(plans))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i, name := range plans {
		all.Go(func() {
			<-start
			made[i] = c.attempt(attempt{plan: name}, func() error { return write(name) })
		})
	}
	close(start)
	all.Wait()
	return made
}

// attempt makes a write, and returns the attempt with what came of it.
func (c *contest) attempt(a attempt, write func() error) attempt {
	var before, after error
	a.from, before = c.revision()
	a.err = write()
	a.to, after = c.revision()
	if reading := errors.Join(before, after); reading != nil {
		a.err = errors.Join(a.err, reading)
	}
	return a
}

// revision is one that all that is stored now is up to.
func (c *contest) revision() (int64, error) {
	_, serviceTypes := c.Lists()
	if err := c.Client().List(c.Context(), serviceTypes, client.InNamespace(c.class.Namespace), client.Limit(1)); err != nil {
		return 0, fmt.Errorf("cannot read the revision: %w", err)
	}
	return revisionOf(serviceTypes.GetResourceVersion()), nil
}

// turnOn makes a plan the default by annotation: every second plan by a patch,
// the others by an apply.
func (c *contest) turnOn(name string) error {
	for i, other := range c.plans {
		if name == other && i%4 >= 2 {
			return c.applyOn(name)
		}
	}
	return c.annotate(name, true)
}

// applyOn is a server-side apply of the annotation alone.
func (c *contest) applyOn(name string) error {
	kind := "ClusterServicePlan"
	if c.Namespaced {
		kind = "ServicePlan"
	}
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(api.GroupVersion.WithKind(kind))
	applied.SetNamespace(c.class.Namespace)
	applied.SetName(name)
	applied.SetAnnotations(map[string]string{api.AnnotationDefaultPlan: "true"})
	return c.Client().Apply(c.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("writer-"+name), client.ForceOwnership)
}

// draw are n different plans of the contest, in any order.
func (c *contest) draw(random *rand.Rand, n int) []string {
	drawn := make([]string, 0, n)
	for _, i := range random.Perm(len(c.plans))[:n] {
		drawn = append(drawn, c.plans[i])
	}
	return drawn
}

// namesHolder says what is wrong with a refusal: it must name a plan that was the
// default while it was made.
func (c *contest) namesHolder(a attempt) error {
	for _, m := range c.history.during(a.from, a.to) {
		for _, holder := range append([]string{m.Record}, m.Annotated...) {
			if holder != "" && holder != a.plan && strings.Contains(a.err.Error(), fmt.Sprintf("ServicePlan %q", holder)) {
				return nil
			}
		}
	}
	return fmt.Errorf("the refusal of %q names no plan that was the default: %w", a.plan, a.err)
}
