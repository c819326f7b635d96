package get

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// viewer is the role that may read the catalog: deploy/rbac/aggregated_roles.yaml.
const viewer = "servicecatalog-view"

// notShown says which scope is left out, why, and who can change that.
func (l *listing) notShown(ctx context.Context, scope cli.Scope, denied error) error {
	resource := l.plural
	if status, ok := errors.AsType[*apierrors.StatusError](denied); ok && status.ErrStatus.Details != nil {
		resource = status.ErrStatus.Details.Kind
	}
	_, err := fmt.Fprintln(l.env.ErrOut, missingRight(scope, l.plural, resource, l.user(ctx)))
	return err
}

// missingRight is the sentence of a scope that the user may not read.
func missingRight(scope cli.Scope, plural, resource, user string) string {
	whose, where, binding := "the cluster's "+plural, "", "clusterrolebinding "+viewer+"-"+user
	if scope.Namespaces {
		whose, where = "the "+plural+" of "+scope.String(), " there (--cluster does not ask for them)"
	}
	if scope.Namespaces && !scope.EveryNamespace() {
		binding = "rolebinding " + viewer + "-" + user + " --namespace=" + scope.Namespace
	}
	return fmt.Sprintf("not shown: %s: you may not list %s%s; an administrator grants it: kubectl create %s --clusterrole=%s --user=%s",
		whose, resource, where, binding, viewer, user)
}

// user is who the user is for the API server.
func (l *listing) user(ctx context.Context) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := l.client.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return "USER"
	}
	return review.Status.UserInfo.Username
}
