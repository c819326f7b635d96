package apiclient

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errUnsupported is of what no controller asks of the client.
var errUnsupported = errors.New("this is not done offline")

// Status writes the status of objects.
func (c *Client) Status() client.SubResourceWriter { return statusWriter{c} }

// SubResource is not there, except the status.
func (c *Client) SubResource(string) client.SubResourceClient { return nil }

// DeleteAllOf is not done offline.
func (*Client) DeleteAllOf(_ context.Context, object client.Object, _ ...client.DeleteAllOfOption) error {
	return fmt.Errorf("cannot delete all of %T: %w", object, errUnsupported)
}

// Apply is not done offline: Patch applies.
func (*Client) Apply(_ context.Context, _ runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	return fmt.Errorf("cannot apply a configuration: %w", errUnsupported)
}

// A statusWriter writes the status of objects.
type statusWriter struct{ client *Client }

// Create is not done offline: a status is created with its object.
func (statusWriter) Create(_ context.Context, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return fmt.Errorf("cannot create the status of %T: %w", object, errUnsupported)
}

// Update replaces the status of an object, which becomes what is stored.
func (s statusWriter) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	asked := (&client.SubResourceUpdateOptions{}).ApplyOptions(options)
	return s.client.update(ctx, object, asked.FieldManager, len(asked.DryRun) > 0, true)
}

// Patch patches the status of an object, which becomes what is stored.
func (s statusWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	asked := (&client.SubResourcePatchOptions{}).ApplyOptions(options)
	return s.client.patch(ctx, object, patch, &asked.PatchOptions, true)
}

// Apply is not done offline: Patch applies.
func (statusWriter) Apply(_ context.Context, _ runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	return fmt.Errorf("cannot apply a configuration: %w", errUnsupported)
}
