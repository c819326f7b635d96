package plans

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// How long the keeper is given to confirm a default, how often that is looked at, and
// after how long a person is told.
const (
	patience = 3 * time.Second
	glance   = 50 * time.Millisecond
	silence  = time.Second
)

// follow annotates the plan that is recorded now. The annotations of others are the
// keeper's alone: another switch may make one of them the default again, and the
// keeper, which confirms a default, would take an annotation that another user takes
// off then for the wish to have none. While the record names this plan, they mean
// nothing. Nor does this one decide anything, so that a refusal is told and fails
// nothing.
func (s *Switch) follow(ctx context.Context, before *standing, plan catalog.Plan) error {
	if entry := before.plan(plan.Object.GetName()); entry != nil && entry.Default {
		return nil
	}
	err := cli.Whole(ctx, "", func(ctx context.Context) error {
		return s.mark(ctx, planAt(client.ObjectKeyFromObject(plan.Object)), "true")
	})
	title := before.title(plan.Object.GetName())
	_, interrupted := errors.AsType[*cli.Failure](err)
	switch {
	case err == nil:
		return nil
	case interrupted:
		return &cli.Failure{Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted: the switch is made, and the keeper annotates %s", title)}
	case apierrors.IsNotFound(err):
		return fmt.Errorf("plan %s was deleted meanwhile, so that it is not the default plan for %s", title, before.kind())
	case !s.superseded(ctx, before, plan):
		warnf(s.Env, "the plan could not be annotated; the record decides, and the keeper annotates it: %s", cli.Message(err))
	}
	return nil
}

// superseded says, and tells, that the record names another plan by now: the annotation
// is refused then.
func (s *Switch) superseded(ctx context.Context, before *standing, plan catalog.Plan) bool {
	now, err := lookAt(ctx, s.Client, before.at, plan.Object.GetName())
	if err != nil || now.recorded == plan.Object.GetName() {
		return false
	}
	if now.recorded == "" {
		notef(s.Env, "then the default plan for %s was cleared by another user", before.kind())
		return true
	}
	notef(s.Env, "then %s was made the default plan for %s by another switch", now.title(now.recorded), before.kind())
	return true
}

// mark puts the default annotation on a plan, or with nil takes it off.
func (s *Switch) mark(ctx context.Context, plan client.Object, value any) error {
	return s.patch(ctx, plan, map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta1.AnnotationDefaultPlan: value}}})
}
