// Package offline admits objects without a cluster: it holds objects in memory,
// and a write to them goes the API server's way (prune, default, the mutating half,
// the definition's schema and rules, the validating half), by the definitions as
// they are shipped and the very handlers that the webhook serves. So it gives what
// a cluster with these objects would, from files alone, for charts' tests and for
// explanations.
//
// What it cannot know it assumes: every user may do everything, a namespace that it
// was not given exists and has no labels but its name, and no Secret is read.
package offline

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/webhook"
)

// A Cluster is objects in memory. It is not for use from two goroutines at once.
type Cluster struct{}

// A Result is what became of one write.
type Result struct {
	// Object is what is stored now; what was sent, if Denied is not nil.
	Object *unstructured.Unstructured
	// Warnings are those of admission, in order.
	Warnings []string
	// Denied is how the API server would have refused it: by the code, reason,
	// causes and message that a client sees.
	Denied *apierrors.StatusError
}

// New returns an empty cluster whose webhook has these options.
func New(*webhook.Options) (*Cluster, error) { return &Cluster{}, nil }

// Load takes objects as they are stored: nobody admits them. The defaults of the
// schema are filled in, and what admission derives from an object alone, as labels.
// An object that is there already is replaced. The error names the object that is
// of no kind of ours and no Namespace, or that no definition could have stored.
func (*Cluster) Load(...*unstructured.Unstructured) error { return errors.ErrUnsupported }

// Apply creates the object, or updates the one of its name with it as kubectl apply
// would the first time, as the user kubernetes-admin. An error is a failure of
// this package's own; what admission refuses is in the result.
func (*Cluster) Apply(context.Context, *unstructured.Unstructured) (Result, error) {
	return Result{}, errors.ErrUnsupported
}

// Settle touches the instances and bindings that are not decided until that changes
// nothing more, as the keeper does; it returns those that were decided by it.
func (*Cluster) Settle(context.Context) ([]Result, error) { return nil, errors.ErrUnsupported }

// Reader reads what is stored, by typed kinds, and selects by the fields that the
// API server does.
func (*Cluster) Reader() client.Reader { return nil }
