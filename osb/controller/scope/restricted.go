package scope

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Restrict limits the reads of a manager to a scope: others fail with a
// BeyondError, so that no request is sent that the API server would deny.
func Restrict(mgr manager.Manager, s Scope) manager.Manager {
	if !s.Restricted() {
		return mgr
	}
	return restrictedManager{mgr, s}
}

type restrictedManager struct {
	manager.Manager

	scope Scope
}

// GetClient gives a client that reads from the cache, but for namespaces.
func (m restrictedManager) GetClient() client.Client {
	c := m.Manager.GetClient()
	return restrictedClient{Client: c, reads: restrictedReader{m.scope, c, m.Manager.GetAPIReader(), c.Scheme(), c.RESTMapper()}}
}

// GetAPIReader gives a reader of the API server.
func (m restrictedManager) GetAPIReader() client.Reader {
	live, c := m.Manager.GetAPIReader(), m.Manager.GetClient()
	return restrictedReader{m.scope, live, live, c.Scheme(), c.RESTMapper()}
}

// GetFieldIndexer gives an indexer that leaves out what is not in the cache.
func (m restrictedManager) GetFieldIndexer() client.FieldIndexer {
	return restrictedIndexer{m.Manager.GetFieldIndexer(), m.GetClient()}
}

type restrictedIndexer struct {
	client.FieldIndexer

	client client.Client
}

// IndexField adds an index of a kind that is in namespaces.
func (i restrictedIndexer) IndexField(ctx context.Context, o client.Object, field string, value client.IndexerFunc) error {
	namespaced, err := i.client.IsObjectNamespaced(o)
	if err != nil || !namespaced {
		return err
	}
	return i.FieldIndexer.IndexField(ctx, o, field, value)
}

type restrictedClient struct {
	client.Client

	reads restrictedReader
}

// Get reads one object.
func (c restrictedClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return c.reads.Get(ctx, key, o, options...)
}

// List reads those of a kind that are in the scope.
func (c restrictedClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.reads.List(ctx, list, options...)
}

// A restrictedReader reads the namespaces of a scope. Of cluster-scoped objects
// it only reads policies, and those namespaces themselves, one by one, as
// permissions within them allow.
type restrictedReader struct {
	scope        Scope
	reader, live client.Reader
	scheme       *runtime.Scheme
	mapper       meta.RESTMapper
}

// Get reads one object.
func (r restrictedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	kind, namespaced, err := r.kind(o)
	if err != nil {
		return err
	}
	_, isNamespace := o.(*corev1.Namespace)
	switch {
	case isNamespace && r.scope.Holds(key.Name):
		// No permission within a namespace allows watching the namespace.
		return r.live.Get(ctx, key, o, options...)
	case namespaced && r.scope.Holds(key.Namespace), r.policies(kind):
		return r.reader.Get(ctx, key, o, options...)
	case namespaced:
		return &BeyondError{fmt.Sprintf("%s %s", kind, key), r.scope}
	}
	return &BeyondError{fmt.Sprintf("%s %q", kind, key.Name), r.scope}
}

// List reads those of a kind that are in the scope, from each namespace by itself.
func (r restrictedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, namespaced, err := r.kind(list)
	if err != nil {
		return err
	}
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	switch {
	case r.policies(kind):
		return r.reader.List(ctx, list, options...)
	case r.scope.IgnoreQuotas && isPolicy(kind):
		return nil
	case !namespaced:
		return &BeyondError{kind + " objects", r.scope}
	case asked.Namespace == "":
		return r.listAll(ctx, list, options)
	case !r.scope.Holds(asked.Namespace):
		return &BeyondError{fmt.Sprintf("%s objects of namespace %q", kind, asked.Namespace), r.scope}
	}
	return r.reader.List(ctx, list, options...)
}

// listAll concatenates the lists of all namespaces.
func (r restrictedReader) listAll(ctx context.Context, list client.ObjectList, options []client.ListOption) error {
	var all []runtime.Object
	for _, namespace := range r.scope.Namespaces {
		part, _ := list.DeepCopyObject().(client.ObjectList)
		if err := r.reader.List(ctx, part, append(slices.Clip(options), client.InNamespace(namespace))...); err != nil {
			return err
		}
		items, err := meta.ExtractList(part)
		if err != nil {
			return fmt.Errorf("cannot read a list of namespace %q: %w", namespace, err)
		}
		all = append(all, items...)
	}
	return meta.SetList(list, all)
}

// kind is that of an object, or of a list's objects.
func (r restrictedReader) kind(o runtime.Object) (kind string, namespaced bool, err error) {
	gvk, err := apiutil.GVKForObject(o, r.scheme)
	if err != nil {
		return "", false, fmt.Errorf("cannot find out the kind of %T: %w", o, err)
	}
	if _, many := o.(client.ObjectList); many {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	namespaced, err = apiutil.IsGVKNamespaced(gvk, r.mapper)
	if err != nil {
		return "", false, fmt.Errorf("cannot find out where %s objects are: %w", gvk.Kind, err)
	}
	return gvk.Kind, namespaced, nil
}

// policies says whether a kind is that of policies which are read.
func (r restrictedReader) policies(kind string) bool { return isPolicy(kind) && !r.scope.IgnoreQuotas }

// isPolicy says whether a kind is one of the policies that the controller
// observes.
func isPolicy(kind string) bool { return kind == "ProvisioningPolicy" || kind == "BindingPolicy" }

// CheckPolicies prevents the start of a controller that may not read policies,
// and so would ignore them.
func CheckPolicies(ctx context.Context, live client.Reader, s Scope) error {
	if !s.Restricted() || s.IgnoreQuotas {
		return nil
	}
	for _, policies := range []client.ObjectList{&v1beta1.ProvisioningPolicyList{}, &v1beta1.BindingPolicyList{}} {
		err := live.List(ctx, policies, client.Limit(1))
		if apierrors.IsForbidden(err) {
			return fmt.Errorf("cannot read ProvisioningPolicies and BindingPolicies, so that they would not hold: "+
				"allow the controller's user to get, list and watch both (it is the one right that it needs beyond its namespaces), or set --ignore-quotas: %w", err)
		}
		if err != nil {
			return fmt.Errorf("cannot read policies: %w", err)
		}
	}
	return nil
}
