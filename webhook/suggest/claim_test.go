package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Ways{Svcat: "svcat bind NAME --type TYPE -n dev", Kubectl: "kubectl explain servicebinding.spec.serviceType"}, Claim("dev"))
}
