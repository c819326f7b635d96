package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/options"
	"github.com/defaultplan/defaultplan/osb/controller/requests"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A hangingManager has a client that is not answered, and nothing else of a manager.
type hangingManager struct {
	manager.Manager

	client client.Client
}

func (m hangingManager) GetClient() client.Client    { return m.client }
func (m hangingManager) GetAPIReader() client.Reader { return m.client }

// The controllers have clients that are bounded: Setup reads with one of them.
func TestSetupEndsWithoutAnAPIServer(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	kinds := meta.NewDefaultRESTMapper(nil)
	kinds.Add(v1beta1.GroupVersion.WithKind("ProvisioningPolicy"), meta.RESTScopeNamespace)
	cache := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(kinds).Build()
	hanging := interceptor.NewClient(cache, interceptor.Funcs{
		List: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList, _ ...client.ListOption) error {
			<-ctx.Done()
			return ctx.Err()
		},
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := Setup(t.Context(), hangingManager{client: hanging}, &options.Options{Namespaces: []string{"n"}})
		assert.Equal(t, requests.Timeout, time.Since(began))
		require.ErrorAs(t, err, new(*lifecycle.APIError))
	})
}
