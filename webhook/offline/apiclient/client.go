package apiclient

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	kjson "sigs.k8s.io/json"

	definitions "github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

// A Client reads and writes an offline cluster. It is not for use from two goroutines at
// once.
type Client struct {
	client.Reader

	cluster *offline.Cluster
	user    authenticationv1.UserInfo
	manager string
	clock   clock.PassiveClock
	scheme  *runtime.Scheme
}

var _ client.Client = (*Client)(nil)

// Options say who writes, and how the client reads.
type Options struct {
	// User writes.
	User authenticationv1.UserInfo
	// Manager owns the fields of writes that name no field owner.
	Manager string
	// Reader reads: the cluster's Reader or Cache.
	Reader client.Reader
	// Clock says when objects are created and deleted.
	Clock clock.PassiveClock
	// Scheme has the kinds that are read and written.
	Scheme *runtime.Scheme
}

// New returns a client of a cluster.
func New(cluster *offline.Cluster, options Options) *Client {
	return &Client{
		Reader: options.Reader, cluster: cluster, user: options.User, manager: options.Manager, clock: options.Clock, scheme: options.Scheme,
	}
}

// Create creates an object, which becomes what is stored.
func (c *Client) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	asked := (&client.CreateOptions{}).ApplyOptions(options)
	w, err := c.writeOf(object, asked.FieldManager, len(asked.DryRun) > 0)
	if err != nil {
		return err
	}
	sent, err := w.encode(object)
	if err != nil {
		return err
	}
	return w.create(ctx, w.owner.updated(nil, sent, w.manager, false))
}

// Update replaces an object, which becomes what is stored.
func (c *Client) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	asked := (&client.UpdateOptions{}).ApplyOptions(options)
	return c.update(ctx, object, asked.FieldManager, len(asked.DryRun) > 0, false)
}

func (c *Client) update(ctx context.Context, object client.Object, manager string, dry, status bool) error {
	w, err := c.writeOf(object, manager, dry)
	if err != nil {
		return err
	}
	w.status = status
	sent, err := w.encode(object)
	if err != nil {
		return err
	}
	return w.update(ctx, w.owner.updated(w.live, sent, w.manager, status))
}

// Patch patches an object, which becomes what is stored.
func (c *Client) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	asked := (&client.PatchOptions{}).ApplyOptions(options)
	return c.patch(ctx, object, patch, asked, false)
}

func (c *Client) patch(ctx context.Context, object client.Object, patch client.Patch, asked *client.PatchOptions, status bool) error {
	w, err := c.writeOf(object, asked.FieldManager, len(asked.DryRun) > 0)
	if err != nil {
		return err
	}
	w.status = status
	data, err := patch.Data(object)
	if err != nil {
		return fmt.Errorf("cannot encode a patch of %s %q: %w", w.kind.Kind, object.GetName(), err)
	}
	return w.patch(ctx, patch.Type(), data, asked.Force != nil && *asked.Force)
}

// Delete deletes an object.
func (c *Client) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	asked := (&client.DeleteOptions{}).ApplyOptions(options)
	w, err := c.writeOf(object, "", len(asked.DryRun) > 0)
	if err != nil {
		return err
	}
	named := w.named()
	if only := asked.Preconditions; only != nil {
		if only.UID != nil {
			named.SetUID(*only.UID)
		}
		if only.ResourceVersion != nil {
			named.SetResourceVersion(*only.ResourceVersion)
		}
	}
	result, err := c.cluster.Delete(ctx, offline.Request{Object: named, User: c.user, At: c.now(), DryRun: w.dry})
	if err == nil && result.Denied != nil {
		err = result.Denied
	}
	return err
}

func (c *Client) now() metav1.Time { return metav1.Time{Time: c.clock.Now()}.Rfc3339Copy() }

// writeOf is a write to an object that is not sent yet.
func (c *Client) writeOf(object client.Object, manager string, dry bool) (*write, error) {
	kind, err := apiutil.GVKForObject(object, c.scheme)
	if err != nil {
		return nil, fmt.Errorf("cannot write %T: %w", object, err)
	}
	w := &write{Client: c, into: object, manager: manager, dry: dry}
	if manager == "" {
		w.manager = c.manager
	}
	if w.kind, w.live, err = c.cluster.Stored(kind, client.ObjectKeyFromObject(object)); err != nil {
		return nil, err
	}
	w.owner, err = ownerOf(w.kind)
	return w, err
}

// Scheme has the kinds of the client.
func (c *Client) Scheme() *runtime.Scheme { return c.scheme }

// RESTMapper is not there: nothing maps kinds offline.
func (*Client) RESTMapper() meta.RESTMapper { return nil }

// GroupVersionKindFor is the kind of an object.
func (c *Client) GroupVersionKindFor(object runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, c.scheme) //nolint:wrapcheck // it names the type
}

// IsObjectNamespaced says whether an object's kind is in namespaces.
func (c *Client) IsObjectNamespaced(object runtime.Object) (bool, error) {
	kind, err := c.GroupVersionKindFor(object)
	if err != nil {
		return false, err
	}
	of, _, err := c.cluster.Stored(kind, client.ObjectKey{})
	if err != nil {
		return false, err
	}
	return of.Namespaced, nil
}

// read makes an object what is stored.
func read(kind *definitions.Kind, stored *unstructured.Unstructured, into client.Object) error {
	raw, err := stored.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot encode %s %q: %w", kind.Kind, stored.GetName(), err)
	}
	// What is decoded into an object does not empty it first.
	if err := empty(into); err != nil {
		return err
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, into) != nil {
		return fmt.Errorf("cannot read %s %q: a field is not of its type", kind.Kind, stored.GetName())
	}
	return nil
}
