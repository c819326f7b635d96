package get

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
)

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
	whose, where := "the cluster's "+plural, ""
	if scope.Namespaces {
		whose, where = "the "+plural+" of "+scope.String(), " there (--cluster does not ask for them)"
	}
	text := fmt.Sprintf("not shown: %s: you may not list %s%s", whose, resource, where)
	if grant := rights.Grant(user, "list", resource, scope); grant != "" {
		text += "; an administrator grants it: " + grant
	}
	return text
}

// user is who the user is for the API server.
func (l *listing) user(ctx context.Context) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := l.client.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return "USER"
	}
	return review.Status.UserInfo.Username
}
