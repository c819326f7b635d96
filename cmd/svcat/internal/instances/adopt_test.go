package instances

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdoptRequiresExternalID(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, (&provision{adopts: true}).requireExternalID(), "--external-id")
	require.NoError(t, (&provision{adopts: true, externalID: "e-1"}).requireExternalID())
	require.NoError(t, (&provision{}).requireExternalID())
}
