package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWithoutCredentials: nothing of a password is left, whatever it has.
func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://broker.example.com/osb":                  "https://broker.example.com/osb",
		"https://admin:s3cret@broker.example.com":         "https://broker.example.com",
		"https://admin:s3@cret@broker.example.com/osb":    "https://broker.example.com/osb",
		`Get "https://a:b@one": no http://c:d@two/x, e@f`: `Get "https://one": no http://two/x, e@f`,
	} {
		assert.Equal(t, want, WithoutCredentials(address))
	}
}
