package plans

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// findClass finds a class to write to or to copy. If no flag names the scope, which is
// loose, the name may mean but one: nothing is guessed where something is written.
func findClass(ctx context.Context, finder catalog.Finder, loose bool, name string) (catalog.Class, error) {
	found, err := finder.Class(ctx, name)
	if err != nil || !loose || found.Object.GetNamespace() == "" {
		return found, err
	}
	finder.Scope = cli.ScopeOf("")
	other, err := finder.Class(ctx, name)
	return found, onlyOne("class", name, found.Object, other.Object, err)
}

// findPlan is as findClass.
func findPlan(ctx context.Context, finder catalog.Finder, loose bool, class, name string) (catalog.Plan, error) {
	found, err := finder.Plan(ctx, class, name)
	if err != nil || !loose || found.Object.GetNamespace() == "" {
		return found, err
	}
	finder.Scope = cli.ScopeOf("")
	other, err := finder.Plan(ctx, class, name)
	return found, onlyOne("plan", name, found.Object, other.Object, err)
}

// onlyOne is the error of a name that was found in a namespace, and in the cluster as
// other, or with an error that says otherwise.
func onlyOne(kind, name string, found, other client.Object, err error) error {
	_, isName := errors.AsType[*catalog.NameError](err)
	cluster := "several in the cluster"
	switch {
	case catalog.IsNotFound(err), apierrors.IsForbidden(err):
		return nil // Who may not read the cluster's does not mean them.
	case err == nil:
		cluster = what(other)
	case !isName:
		return err
	}
	return cli.Usagef("%s %q may be %s or %s; say which: --namespace %s or --cluster", kind, name, what(found), cluster, found.GetNamespace())
}
