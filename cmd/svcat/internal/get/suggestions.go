package get

import (
	"context"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
)

// unknownName is the error of a name to narrow by that nothing has, for a list that came out
// empty. Whatever else keeps it from being found, such as a missing right, is no error.
func (l *listing) unknownName(ctx context.Context) error {
	// What is in a namespace may be of the cluster's.
	finder := catalog.Finder{Reader: l.client, Scope: l.scope, KubeName: l.by.kubeName}
	finder.Scope.Cluster = true
	if l.by.broker != "" {
		if _, err := finder.Broker(ctx, l.by.broker); catalog.IsNotFound(err) {
			return err
		}
	}
	if l.by.class != "" {
		if _, err := finder.Class(ctx, l.by.class); catalog.IsNotFound(err) {
			return err
		}
	}
	if l.by.plan != "" {
		if _, err := finder.Plan(ctx, l.by.class, l.by.plan); catalog.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// suggestType is the type that was probably meant, where there is none of that name; none
// for a user who may not list types.
func (l *listing) suggestType(ctx context.Context) string {
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
	if near := resolve.Nearest(l.by.serviceType, known); near != l.by.serviceType {
		return near
	}
	return ""
}
