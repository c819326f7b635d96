package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// How long the keeper is given to take the annotations off that were replaced, how
// often that is looked at, and after how long a person is told.
const (
	patience = 3 * time.Second
	glance   = 50 * time.Millisecond
	silence  = time.Second
)

// follow has the annotations follow the record: the plan's own on, the others' off.
// None of it decides anything, so that a refusal is told and fails nothing.
func (s *Switch) follow(ctx context.Context, before *standing, plan catalog.Plan) error {
	name := plan.Object.GetName()
	if entry := before.plan(name); entry == nil || !entry.Default {
		if over := s.annotate(ctx, before, plan); over {
			return nil
		}
	}
	others := before.others(name)
	if len(others) == 0 {
		return nil
	}
	return s.outlive(ctx, before, plan, others)
}

// annotate puts the annotation on. It is refused if another switch came in between,
// which is then the end of this one.
func (s *Switch) annotate(ctx context.Context, before *standing, plan catalog.Plan) (over bool) {
	err := cli.Whole(context.WithoutCancel(ctx), "", func(ctx context.Context) error {
		return s.mark(ctx, planAt(client.ObjectKeyFromObject(plan.Object)), "true")
	})
	if err == nil {
		return false
	}
	if s.superseded(ctx, before, plan) {
		return true
	}
	warnf(s.Env, "the plan could not be annotated; the record decides, and the keeper annotates it: %s", cli.Message(err))
	return false
}

// superseded says, and tells, that the record names another plan by now.
func (s *Switch) superseded(ctx context.Context, before *standing, plan catalog.Plan) bool {
	now, err := lookAt(context.WithoutCancel(ctx), s.Client, before.at, plan.Object.GetName())
	if err != nil || now.recorded == plan.Object.GetName() {
		return false
	}
	if now.recorded == "" {
		notef(s.Env, "then the default plan for %s was cleared by somebody else", before.at.Name)
		return true
	}
	notef(s.Env, "then %s was made the default plan for %s by another switch", now.title(now.recorded), before.at.Name)
	return true
}

// outlive waits until the keeper took off the annotations of others. It does so
// itself only if no keeper does: another switch may make one of them the default
// again, and the keeper, which alone confirms a default, would take an annotation
// that somebody else takes off then for the wish to have no default.
func (s *Switch) outlive(ctx context.Context, before *standing, plan catalog.Plan, others []string) error {
	began, told, superseded := time.Now(), false, false
	left := others
	err := wait.PollUntilContextTimeout(ctx, glance, patience, true, func(ctx context.Context) (bool, error) {
		recorded, err := s.recorded(ctx, before.at)
		if superseded = err == nil && recorded != plan.Object.GetName(); err != nil || superseded {
			return true, err
		}
		still, err := s.marked(ctx, before.at.Namespace, left)
		if err != nil || len(still) == 0 {
			return true, err
		}
		left = still
		if !told && time.Since(began) > silence {
			told = true
			notef(s.Env, "Waiting for the keeper to take the annotation off %s", before.title(left[0]))
		}
		return false, nil
	})
	switch {
	case superseded:
		s.superseded(ctx, before, plan)
		return nil
	case err == nil:
		return nil
	case ctx.Err() == nil && !wait.Interrupted(err):
		warnf(s.Env, "the annotation of %s is left to the keeper: %s", before.title(others[0]), cli.Message(err))
		return nil
	case ctx.Err() != nil:
		return leftToKeeper(before, others[0])
	}
	return s.unmark(ctx, before, plan, left)
}

// unmark takes off the annotations of others where no keeper did.
func (s *Switch) unmark(ctx context.Context, before *standing, plan catalog.Plan, others []string) error {
	for _, name := range others {
		if s.superseded(ctx, before, plan) {
			return nil
		}
		other := planAt(client.ObjectKey{Namespace: before.at.Namespace, Name: name})
		err := cli.Whole(ctx, "the annotation of "+before.title(name)+" was taken off", func(ctx context.Context) error { return s.mark(ctx, other, nil) })
		if _, interrupted := errors.AsType[*cli.Failure](err); interrupted {
			return leftToKeeper(before, name)
		}
		if client.IgnoreNotFound(err) != nil {
			warnf(s.Env, "the annotation of %s could not be taken off; the record decides, and a keeper will do it: %s", before.title(name), cli.Message(err))
		}
	}
	return nil
}

// leftToKeeper is the error of a switch that was interrupted after the record was
// written.
func leftToKeeper(before *standing, other string) error {
	return &cli.Failure{Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted: the switch is made, and the keeper takes the annotation off %s", before.title(other))}
}

// recorded is the plan that a type's object names.
func (s *Switch) recorded(ctx context.Context, at client.ObjectKey) (string, error) {
	kept := typeAt(at)
	if err := s.Client.Get(ctx, at, kept); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	view, _ := catalog.TypeOf(kept)
	return view.Record().Plan.Name, nil
}

// marked are those of the plans that are annotated still.
func (s *Switch) marked(ctx context.Context, namespace string, plans []string) ([]string, error) {
	var still []string
	for _, name := range plans {
		object := planAt(client.ObjectKey{Namespace: namespace, Name: name})
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return nil, err
		}
		if plan, _ := catalog.PlanOf(object); plan.PlanEntry().Default {
			still = append(still, name)
		}
	}
	return still, nil
}

// mark puts the default annotation on a plan, or with nil takes it off.
func (s *Switch) mark(ctx context.Context, plan client.Object, value any) error {
	return s.patch(ctx, plan, map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta1.AnnotationDefaultPlan: value}}})
}
