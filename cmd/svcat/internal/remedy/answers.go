package remedy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
)

// refused is what an answer of the API server means for each command.
func refused(at cli.Cluster, status *apierrors.StatusError) []fault {
	switch {
	case apierrors.IsUnauthorized(status):
		return []fault{{do: []string{
			"the credentials of " + user(at) + " are wrong or expired: log in again, or see what they are: kubectl config view --minify" + at.Flags,
		}}}
	case apierrors.IsForbidden(status):
		missing, _ := rights.MissingIn(status)
		var do []string
		for _, right := range missing {
			do = append(do, right.Remedy())
		}
		return []fault{{do: do}}
	case IsNotInstalled(status):
		details := status.ErrStatus.Details
		return []fault{notInstalled(at, cli.Message(status), strings.TrimPrefix(details.Kind+"."+details.Group, "."))}
	}
	return nil
}

// IsNotInstalled says that the API server has no resource of the catalog's that was asked
// for, rather than not the object.
func IsNotInstalled(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || !apierrors.IsNotFound(status) || status.ErrStatus.Details == nil {
		return false
	}
	details := status.ErrStatus.Details
	return details.Group == v1beta1.GroupName &&
		slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return cause.Type == metav1.CauseTypeUnexpectedServerResponse })
}

// unmatched is the same as client-go notices it itself.
func unmatched(at cli.Cluster, err error, group, what string) []fault {
	if group != v1beta1.GroupName {
		return nil
	}
	return []fault{notInstalled(at, err.Error(), strings.TrimPrefix(what, "."))}
}

func notInstalled(at cli.Cluster, found, what string) fault {
	return fault{
		found: found, says: fmt.Sprintf("defaultplan is not installed in the cluster%s: the API server %s does not serve %s", ofContext(at), at.Server, what),
		do: []string{
			"a cluster administrator installs it: kubectl apply --server-side" + at.Flags + " -f deploy/install.yaml (docs/install.md has other ways); then: svcat check",
			another(at),
		},
	}
}

// another is the way to another cluster.
func another(at cli.Cluster) string {
	return "for another cluster: --context NAME, one of kubectl config get-contexts" + at.File
}

// user is whose credentials are sent.
func user(at cli.Cluster) string {
	if at.User == "" {
		return "the request" + ofContext(at)
	}
	return fmt.Sprintf("user %q%s", at.User, ofContext(at))
}

// ofContext follows what belongs to the context.
func ofContext(at cli.Cluster) string {
	if at.Context == "" {
		return ""
	}
	return fmt.Sprintf(" of context %q", at.Context)
}
