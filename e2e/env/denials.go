package env

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RequireInvalid asserts that err is a refusal with HTTP 422 that says text.
func RequireInvalid(t *testing.T, err error, text string) {
	t.Helper()
	require.Error(t, err)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	assert.Contains(t, err.Error(), text)
}

// RefusedAt asserts that err is a refusal, with HTTP 422 or 403, and by the field.
func (o *Objects) RefusedAt(err error, field, reason string) {
	o.Helper()
	require.Error(o, err, reason)
	require.True(o, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "%s: %v", reason, err)
	var status apierrors.APIStatus
	require.ErrorAs(o, err, &status, reason)
	require.NotNil(o, status.Status().Details, "%s: %v", reason, err)
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	assert.Contains(o, fields, field, "%s: %v", reason, err)
}

// Said is what a refusal says.
func Said(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}
