package wait

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Client makes a client that makes a write again while it is Overloaded.
func Client(once client.WithWatch) client.WithWatch {
	again := func(ctx context.Context, write func() error) error {
		return Eventually(ctx, func() (bool, error) {
			err := write()
			return !Overloaded(err), err
		})
	}
	return interceptor.NewClient(once, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return again(ctx, func() error { return c.Create(ctx, o, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			return again(ctx, func() error { return c.Update(ctx, o, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			return again(ctx, func() error { return c.Patch(ctx, o, patch, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return again(ctx, func() error { return c.Apply(ctx, o, options...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteAllOfOption) error {
			return again(ctx, func() error { return c.DeleteAllOf(ctx, o, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return again(ctx, func() error { return c.Delete(ctx, o, options...) })
		},
	})
}
