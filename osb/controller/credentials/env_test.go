package credentials

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// An env has one binding, b in namespace n, and an API server that can be told to fail.
type env struct {
	*testing.T

	client  client.WithWatch
	secrets Secrets
	binding *v1beta1.ServiceBinding
	// requests are the writes, such as "create Secret", in order.
	requests []string
	// fail has the next write of that name fail.
	fail map[string]error
	// sees is told of writes before they are made.
	sees func(request string)
}

func newEnv(t *testing.T, edits ...func(*v1beta1.ServiceBinding)) *env {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, v1beta1.AddToScheme(scheme))
	w := &env{T: t, fail: map[string]error{}, client: fake.NewClientBuilder().WithScheme(scheme).Build()}
	w.binding = &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "binding-uid"}}
	for _, edit := range edits {
		edit(w.binding)
	}
	server := interceptor.NewClient(w.client, w.faults())
	w.secrets = Secrets{owned.Objects{Client: server, Live: server, Scheme: scheme}, wait.Backoff{Steps: 3}}
	return w
}

// write notes a write, and returns how it is to fail.
func (w *env) write(verb string, o client.Object) error {
	request := verb + " " + reflect.TypeOf(o).Elem().Name()
	w.requests = append(w.requests, request)
	if w.sees != nil {
		w.sees(request)
	}
	err := w.fail[request]
	delete(w.fail, request)
	return err
}

func (w *env) faults() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if err := w.write("create", o); err != nil {
				return err
			}
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if err := w.write("update", o); err != nil {
				return err
			}
			return c.Update(ctx, o, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if err := w.write("delete", o); err != nil {
				return err
			}
			return c.Delete(ctx, o, options...)
		},
	}
}

// secret is the Secret that is there now.
func (w *env) secret(name string) *corev1.Secret {
	w.Helper()
	var secret corev1.Secret
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKey{Namespace: "n", Name: name}, &secret))
	return &secret
}

// configMap is the ConfigMap that is there now; nil: none.
func (w *env) configMap() *corev1.ConfigMap {
	w.Helper()
	var c corev1.ConfigMap
	err := w.client.Get(w.Context(), client.ObjectKey{Namespace: "n", Name: "b"}, &c)
	require.NoError(w, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &c
}

func givenText(key, value string) *osb.Binding {
	text, _ := json.Marshal(value) //nolint:errchkjson // a text can be encoded
	return &osb.Binding{Credentials: map[string]json.RawMessage{key: text}}
}
