package get

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// names are what a list is narrowed by.
type names struct {
	serviceType, class, plan, broker string
	kubeName                         bool
}

// slip is the error of a name to narrow by that means nothing, for a list that came
// out empty. What else keeps it from being found, such as a missing right, is no slip.
func (l *listing) slip(ctx context.Context) error {
	// What is in a namespace may be of the cluster's.
	finder := catalog.Finder{Reader: l.client, Scope: l.scope, KubeName: l.by.kubeName}
	finder.Scope.Cluster = true
	if l.by.broker != "" {
		if _, err := finder.Broker(ctx, l.by.broker); isUnknown(err) {
			return err
		}
	}
	if l.by.class != "" {
		if _, err := finder.Class(ctx, l.by.class); isUnknown(err) {
			return err
		}
	}
	if l.by.plan != "" {
		if _, err := finder.Plan(ctx, l.by.class, l.by.plan); isUnknown(err) {
			return err
		}
	}
	return nil
}

func isUnknown(err error) bool {
	name, ok := errors.AsType[*catalog.NameError](err)
	return ok && len(name.Fits) == 0
}

// nearType is the type that was probably meant, where there is none of that name; who
// may not list types is told none.
func (l *listing) nearType(ctx context.Context) string {
	if l.by.serviceType == "" {
		return ""
	}
	var known []string
	at := l.scope
	at.Cluster = true
	for _, scope := range at.Split() {
		_ = catalog.Types(ctx, l.client, catalog.Query{Scope: scope}, func(t catalog.Type) error {
			known = append(known, t.Object.GetName())
			return nil
		})
	}
	if near := catalog.Nearest(l.by.serviceType, known); near != l.by.serviceType {
		return near
	}
	return ""
}

// readable loads what the scope has; of cluster and namespace only the one that the
// user may read, if he may not read both, and says so.
func (l *listing) readable(ctx context.Context, load loader) (rows, error) {
	found, err := load(l.scope)
	scopes := l.scope.Split()
	if !apierrors.IsForbidden(err) || len(scopes) < 2 {
		return found, err
	}
	for i, scope := range scopes {
		found, scopeErr := load(scope)
		if apierrors.IsForbidden(scopeErr) {
			continue
		}
		// So it is the other one that was forbidden.
		if err := l.notShown(ctx, scopes[1-i], err); err != nil {
			return nil, err
		}
		l.scope = scope
		return found, scopeErr
	}
	return nil, err
}
