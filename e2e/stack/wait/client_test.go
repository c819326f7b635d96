package wait_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A writer fails its first writes.
type writer struct {
	client.WithWatch

	failures []error
	writes   int
}

func (w *writer) write(write func() error) error {
	w.writes++
	if w.writes <= len(w.failures) {
		return w.failures[w.writes-1]
	}
	return write()
}

func (w *writer) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	return w.write(func() error { return w.WithWatch.Create(ctx, o, options...) })
}

func (w *writer) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	return w.write(func() error { return w.WithWatch.Update(ctx, o, options...) })
}

func (w *writer) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	return w.write(func() error { return w.WithWatch.Patch(ctx, o, patch, options...) })
}

func (w *writer) Apply(ctx context.Context, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	return w.write(func() error { return w.WithWatch.Apply(ctx, o, options...) })
}

func (w *writer) DeleteAllOf(ctx context.Context, o client.Object, options ...client.DeleteAllOfOption) error {
	return w.write(func() error { return w.WithWatch.DeleteAllOf(ctx, o, options...) })
}

func (w *writer) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return w.write(func() error { return w.WithWatch.Delete(ctx, o, options...) })
}

// A write that failed only because the machine is busy is made again, and another one is not.
func TestClient(t *testing.T) {
	t.Parallel()
	busy := apierrors.NewInternalError(errors.New(`failed calling webhook "a": failed to call webhook: context deadline exceeded`))
	refused := apierrors.NewBadRequest("no")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "o"}}
	for name, write := range map[string]func(client.WithWatch) error{
		"Create": func(c client.WithWatch) error { return c.Create(t.Context(), object.DeepCopy()) },
		"Update": func(c client.WithWatch) error { return c.Update(t.Context(), object.DeepCopy()) },
		"Delete": func(c client.WithWatch) error { return c.Delete(t.Context(), object.DeepCopy()) },
		"Patch": func(c client.WithWatch) error {
			return c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"b"}}`)))
		},
		"Apply": func(c client.WithWatch) error {
			return c.Apply(t.Context(), corev1ac.ConfigMap("o", "n"), client.FieldOwner("test"))
		},
		"DeleteAllOf": func(c client.WithWatch) error {
			return c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, failures := range [][]error{{busy}, {busy, busy, refused}, {refused}} {
				there := fake.NewClientBuilder()
				if name != "Create" {
					there.WithObjects(object.DeepCopy())
				}
				w := &writer{WithWatch: there.Build(), failures: failures}
				err := write(wait.Client(w))
				if last := failures[len(failures)-1]; errors.Is(last, refused) {
					assert.Equal(t, last, err)
					assert.Equal(t, len(failures), w.writes)
					continue
				}
				assert.NoError(t, err)
				assert.Equal(t, len(failures)+1, w.writes)
			}
		})
	}
}
