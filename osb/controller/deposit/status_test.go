package deposit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb/controller/events"
)

// However many keys there are, and however long: an event holds what is said of them.
func TestNotFoundIsBounded(t *testing.T) {
	t.Parallel()
	var missing []string
	for i := range 50 {
		missing = append(missing, fmt.Sprintf("secretTransforms[%d].publishKey.key %.64q", i, strings.Repeat("\U0010ffff", 253)))
	}
	says := notFound(missing)
	assert.LessOrEqual(t, len(says), events.MaxNote)
	assert.Contains(t, says, "secretTransforms[0].publishKey.key")
	assert.True(t, strings.HasSuffix(says, " and 49 more"), says)
}
