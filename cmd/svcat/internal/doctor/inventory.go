package doctor

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// named is how many of many a finding names.
const named = 5

// An inventory looks at what users and operators put into the cluster: brokers, types and
// instances. It reads all namespaces, or the current one for a user who may not.
type inventory struct {
	reader client.Reader
	clock  clock.PassiveClock
	// namespace is the current one.
	namespace string
	// reasonsOnly says that messages of conditions, which may quote brokers, are not told.
	reasonsOnly bool
}

// A reading is what one check read: it starts from nothing for each scope, so what a forbidden
// read left behind is dropped.
type reading func(ctx context.Context, scope cli.Scope) error

// check reads as much as the user may read, and judges it. where is the place in a sentence if
// that is not everything, else empty.
func (v inventory) check(ctx context.Context, check, what string, read reading, judge func(where string) []finding) []finding {
	scope, where := cli.Scope{Cluster: true, Namespaces: true}, ""
	err := read(ctx, scope)
	limited := apierrors.IsForbidden(err)
	if limited {
		scope.Namespace = v.namespace
		where = fmt.Sprintf(" (in the cluster and namespace %q; you may not read others)", v.namespace)
		err = read(ctx, scope)
	}
	if err != nil {
		return []finding{unread(check, what, err)}
	}
	findings := judge(where)
	for i := range findings {
		findings[i].Partly = limited
	}
	return findings
}

// A place is how findings speak of a scope: the cluster or one namespace.
type place struct {
	// name is an object there by its name, and within follows a noun in a sentence.
	name, within string
	// find are svcat's flags for reading there.
	find string
	// down is the finding about a broker there that is not ready: the cluster's is part of
	// the installation, a namespace's is its owner's affair.
	down func(check, do, format string, args ...any) finding
}

// placeOf is the place of an object.
func placeOf(namespace, name string) place {
	return v1beta1.PerScope(namespace, place{name: name, find: "--scope cluster", down: failedf},
		place{name: namespace + "/" + name, within: fmt.Sprintf(" in namespace %q", namespace), find: "--scope namespace -n " + namespace, down: warningf})
}

// some are the first of many names.
func some(names []string) string {
	if len(names) > named {
		return strings.Join(names[:named], ", ") + fmt.Sprintf(" and %d more", len(names)-named)
	}
	return strings.Join(names, ", ")
}
