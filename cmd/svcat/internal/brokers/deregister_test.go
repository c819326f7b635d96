package brokers

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// TestConfirmWithoutRights: a user who may delete a broker and not list what it offers is asked
// without the numbers.
func TestConfirmWithoutRights(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("x").GroupResource(), "", errors.New("no"))
	isClasses := func(list client.ObjectList) bool { _, is := list.(*v1beta1.ServiceClassList); return is }
	for name, tc := range map[string]struct {
		reason string
		list   func(client.ObjectList) error
		asks   string
		wrong  string
	}{
		"All":  {"with the numbers", func(client.ObjectList) error { return nil }, `Delete broker "mine" (no classes, no plans)? [y/N]: `, ""},
		"None": {"neither may be listed", func(client.ObjectList) error { return forbidden }, `Delete broker "mine" (you may not list its classes and plans)? [y/N]: `, ""},
		"Classes": {"half of it says too little", func(list client.ObjectList) error {
			if isClasses(list) {
				return nil
			}
			return forbidden
		}, `Delete broker "mine" (you may not list its classes and plans)? [y/N]: `, ""},
		"Broken": {"any other failure ends it", func(client.ObjectList) error { return errors.New("broken") }, "", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme, err := cli.Scheme()
			require.NoError(t, err)
			reader := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
					return tc.list(list)
				},
			}).Build()
			streams, _, _, told := genericiooptions.NewTestIOStreams()
			streams.In = strings.NewReader("y\n")
			d := &deregister{env: cli.NewEnv(streams)}
			err = d.confirm(t.Context(), reader, &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mine"}})
			if tc.wrong != "" {
				require.ErrorContains(t, err, tc.wrong, tc.reason)
			} else {
				require.NoError(t, err, tc.reason)
			}
			assert.Equal(t, tc.asks, told.String(), tc.reason)
		})
	}
}
