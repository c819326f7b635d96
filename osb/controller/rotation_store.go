package controller

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A partial subject is a part of its object: at its end the object stays, without it.
type partial interface {
	without(o client.Object) client.Object
	// judge changes an outcome before it is stored and told.
	judge(outcome *lifecycle.Outcome, facts *lifecycle.Facts)
}

// errStale is of an object that was changed since it was read.
var errStale = errors.New("it was changed since it was read")

// end lets the object of a subject go, or takes the subject off it.
func (w store) end(ctx context.Context, s subject, o client.Object) error {
	part, is := s.(partial)
	if !is {
		return w.release(ctx, o)
	}
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(w.client.Status().Patch(ctx, part.without(o), patch, client.FieldOwner(v1beta1.FieldOwnerController)))
}

// ended does so after a call, as long as the status is the same.
func (w store) ended(ctx context.Context, s subject, stored client.Object) error {
	return w.patiently(ctx, stored, func(o client.Object) error { return w.end(ctx, s, o) })
}
