package requests

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A clientManager has a client and a reader, and nothing else of a manager.
type clientManager struct {
	manager.Manager

	client client.Client
}

func (m clientManager) GetClient() client.Client    { return m.client }
func (m clientManager) GetAPIReader() client.Reader { return m.client }

// hanging is a client whose requests are never answered.
func hanging(cache client.WithWatch) client.Client {
	wait := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(24 * time.Hour):
			return nil
		}
	}
	return interceptor.NewClient(cache, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return wait(ctx)
		},
		List: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList, _ ...client.ListOption) error {
			return wait(ctx)
		},
		Create: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.CreateOption) error {
			return wait(ctx)
		},
		Update: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.UpdateOption) error {
			return wait(ctx)
		},
		Patch: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ client.Patch, _ ...client.PatchOption) error {
			return wait(ctx)
		},
		Apply: func(ctx context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			return wait(ctx)
		},
		Delete: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.DeleteOption) error {
			return wait(ctx)
		},
		DeleteAllOf: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.DeleteAllOfOption) error {
			return wait(ctx)
		},
		SubResourceGet: func(ctx context.Context, _ client.Client, _ string, _, _ client.Object, _ ...client.SubResourceGetOption) error {
			return wait(ctx)
		},
		SubResourceCreate: func(ctx context.Context, _ client.Client, _ string, _, _ client.Object, _ ...client.SubResourceCreateOption) error {
			return wait(ctx)
		},
		SubResourceUpdate: func(ctx context.Context, _ client.Client, _ string, _ client.Object, _ ...client.SubResourceUpdateOption) error {
			return wait(ctx)
		},
		SubResourcePatch: func(ctx context.Context, _ client.Client, _ string, _ client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			return wait(ctx)
		},
		SubResourceApply: func(ctx context.Context, _ client.Client, _ string, _ runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
			return wait(ctx)
		},
	})
}

// Each request to the API server ends after a while, whatever it asks for, and says that it
// was the API server that did not answer.
func TestRequestsEnd(t *testing.T) {
	t.Parallel()
	mgr := Bound(clientManager{client: hanging(fake.NewClientBuilder().Build())})
	live, c, o := mgr.GetAPIReader(), mgr.GetClient(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}}
	part := c.SubResource("part")
	for name, request := range map[string]func(context.Context) error{
		"Get":               func(ctx context.Context) error { return live.Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopy()) },
		"List":              func(ctx context.Context) error { return live.List(ctx, &corev1.SecretList{}) },
		"Create":            func(ctx context.Context) error { return c.Create(ctx, o.DeepCopy()) },
		"Update":            func(ctx context.Context) error { return c.Update(ctx, o.DeepCopy()) },
		"Patch":             func(ctx context.Context) error { return c.Patch(ctx, o.DeepCopy(), client.MergeFrom(o)) },
		"Apply":             func(ctx context.Context) error { return c.Apply(ctx, nil) },
		"Delete":            func(ctx context.Context) error { return c.Delete(ctx, o.DeepCopy()) },
		"DeleteAllOf":       func(ctx context.Context) error { return c.DeleteAllOf(ctx, o.DeepCopy()) },
		"Status":            func(ctx context.Context) error { return c.Status().Patch(ctx, o.DeepCopy(), client.MergeFrom(o)) },
		"SubResourceGet":    func(ctx context.Context) error { return part.Get(ctx, o.DeepCopy(), o.DeepCopy()) },
		"SubResourceCreate": func(ctx context.Context) error { return part.Create(ctx, o.DeepCopy(), o.DeepCopy()) },
		"SubResourceUpdate": func(ctx context.Context) error { return part.Update(ctx, o.DeepCopy()) },
		"SubResourceApply":  func(ctx context.Context) error { return part.Apply(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := request(t.Context())
				assert.Equal(t, Timeout, time.Since(began))
				require.ErrorAs(t, err, new(*lifecycle.APIError))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.EqualError(t, err, "the API server did not answer within 30s")

				shorter, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.EqualError(t, request(shorter), "context deadline exceeded", "it was not the API server that took too long")
			})
		})
	}
}

// What the API server answers is what it was.
func TestRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}}
	mgr := Bound(clientManager{client: fake.NewClientBuilder().WithObjects(o).Build()})
	require.NoError(t, mgr.GetAPIReader().Get(t.Context(), client.ObjectKeyFromObject(o), o))
	err := mgr.GetAPIReader().Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "other"}, o)
	assert.True(t, apierrors.IsNotFound(err))
	assert.EqualError(t, err, `secrets "other" not found`)
	assert.True(t, apierrors.IsAlreadyExists(mgr.GetClient().Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}})))
}
