package requests

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Timeout is that of one request to the API server, including
// client-go's retries. It is independent of the timeout of a call to a broker.
// rest.Config.Timeout is no alternative, because it also ends watches.
const Timeout = 30 * time.Second

// within makes one request to the API server. Its error is an APIError.
func within(ctx context.Context, request func(context.Context) error) error {
	own, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := request(own)
	switch {
	case err == nil:
		return nil
	case own.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return &lifecycle.APIError{Text: fmt.Sprintf("the API server did not answer within %s", Timeout), Err: err}
	}
	return &lifecycle.APIError{Err: err}
}

// Bound adds Timeout to the clients of a manager. Reads from the cache
// have no timeout: they wait for its sync.
func Bound(mgr manager.Manager) manager.Manager { return boundManager{mgr} }

type boundManager struct{ manager.Manager }

// GetClient gives a client that reads from the cache.
func (m boundManager) GetClient() client.Client { return Client(m.Manager.GetClient()) }

// GetAPIReader gives a reader of the API server.
func (m boundManager) GetAPIReader() client.Reader { return Reader(m.Manager.GetAPIReader()) }

// Client bounds the writes of a client.
func Client(c client.Client) client.Client { return boundClient{c} }

// Reader bounds the reads of the API server.
func Reader(r client.Reader) client.Reader { return boundReader{r} }

// A boundReader reads from the API server.
type boundReader struct{ client.Reader }

// Get reads one object.
func (r boundReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return within(ctx, func(ctx context.Context) error { return r.Reader.Get(ctx, key, o, options...) })
}

// List reads objects.
func (r boundReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return within(ctx, func(ctx context.Context) error { return r.Reader.List(ctx, list, options...) })
}

// A boundClient writes to the API server, and reads as the client below it does.
type boundClient struct{ client.Client }

// Apply writes what is owned of an object.
func (c boundClient) Apply(ctx context.Context, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	return within(ctx, func(ctx context.Context) error { return c.Client.Apply(ctx, o, options...) })
}

// Create makes an object.
func (c boundClient) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	return within(ctx, func(ctx context.Context) error { return c.Client.Create(ctx, o, options...) })
}

// Delete deletes an object.
func (c boundClient) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return within(ctx, func(ctx context.Context) error { return c.Client.Delete(ctx, o, options...) })
}

// Update replaces an object.
func (c boundClient) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	return within(ctx, func(ctx context.Context) error { return c.Client.Update(ctx, o, options...) })
}

// Patch changes an object.
func (c boundClient) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	return within(ctx, func(ctx context.Context) error { return c.Client.Patch(ctx, o, patch, options...) })
}

// DeleteAllOf deletes objects of a kind.
func (c boundClient) DeleteAllOf(ctx context.Context, o client.Object, options ...client.DeleteAllOfOption) error {
	return within(ctx, func(ctx context.Context) error { return c.Client.DeleteAllOf(ctx, o, options...) })
}

// Status writes statuses.
func (c boundClient) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource reads and writes a part of objects.
func (c boundClient) SubResource(name string) client.SubResourceClient {
	return boundSubResource{c.Client.SubResource(name)}
}

type boundSubResource struct{ client.SubResourceClient }

// Get reads the part of an object.
func (s boundSubResource) Get(ctx context.Context, o, part client.Object, options ...client.SubResourceGetOption) error {
	return within(ctx, func(ctx context.Context) error { return s.SubResourceClient.Get(ctx, o, part, options...) })
}

// Create makes the part of an object.
func (s boundSubResource) Create(ctx context.Context, o, part client.Object, options ...client.SubResourceCreateOption) error {
	return within(ctx, func(ctx context.Context) error { return s.SubResourceClient.Create(ctx, o, part, options...) })
}

// Update replaces the part of an object.
func (s boundSubResource) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	return within(ctx, func(ctx context.Context) error { return s.SubResourceClient.Update(ctx, o, options...) })
}

// Patch changes the part of an object.
func (s boundSubResource) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return within(ctx, func(ctx context.Context) error { return s.SubResourceClient.Patch(ctx, o, patch, options...) })
}

// Apply writes what is owned of the part of an object.
func (s boundSubResource) Apply(ctx context.Context, o runtime.ApplyConfiguration, options ...client.SubResourceApplyOption) error {
	return within(ctx, func(ctx context.Context) error { return s.SubResourceClient.Apply(ctx, o, options...) })
}
