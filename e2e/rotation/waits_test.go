package rotation_test

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// becomes waits until a binding is as asked for.
func (s *stage) becomes(b *api.ServiceBinding, is func() bool) {
	s.Helper()
	s.Eventually(func() (bool, error) {
		if err := s.client.Get(s.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return true, err
		}
		if is() {
			return true, nil
		}
		return false, fmt.Errorf("it is not yet: %s", said(b))
	})
}

// rotated waits until a binding has other credentials than those of an ID, and those are
// gone at the broker.
func (s *stage) rotated(b *api.ServiceBinding, former string) {
	s.Helper()
	s.becomes(b, func() bool { return b.Status.ExternalID != former && b.Status.Rotation == nil })
	known := s.broker.Bindings()
	require.Len(s, known, 1, "%v", known)
	require.Contains(s, known, b.Status.ExternalID)
	password, _ := known[b.Status.ExternalID].Credentials["password"].(string)
	assert.Equal(s, password, string(s.secretOf(b).Data["password"]))
}

// unbound deletes a binding, of which nothing stays.
func (s *stage) unbound(b *api.ServiceBinding) {
	s.Helper()
	s.Delete(b)
	s.Gone(b)
	assert.Empty(s, s.broker.Bindings())
}

// becomesInstance waits until the instance is as asked for.
func (s *stage) becomesInstance(is func() bool) {
	s.Helper()
	s.Eventually(func() (bool, error) {
		err := s.client.Get(s.Context(), client.ObjectKeyFromObject(s.instance), s.instance)
		return is(), err
	})
}

func raw(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
