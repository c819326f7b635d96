package metrics

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb"
)

// The retired catalog's status of a call is a class, or that there was none.
func TestOldStatus(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"2xx": nil, "4xx": &osb.Error{StatusCode: 404}, "5xx": &osb.Error{StatusCode: 503},
		"client-error": &osb.Error{Kind: osb.NeverSent, Cause: errors.New("refused")},
	} {
		assert.Equal(t, want, oldStatus(err))
	}
}
