package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A volume's files change together, and those that are no more go.
func TestVolumeIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	v := &volume{dir: t.TempDir()}
	content := func() map[string]string {
		entries, err := os.ReadDir(v.dir)
		require.NoError(t, err)
		found := map[string]string{}
		for _, entry := range entries {
			if entry.Name()[0] == '.' {
				continue
			}
			text, err := os.ReadFile(filepath.Join(v.dir, entry.Name()))
			require.NoError(t, err)
			found[entry.Name()] = string(text)
		}
		return found
	}
	require.NoError(t, v.write(map[string][]byte{"tls.crt": []byte("one"), "tls.key": []byte("1")}, "1"))
	assert.Equal(t, map[string]string{"tls.crt": "one", "tls.key": "1"}, content())
	require.NoError(t, v.write(map[string][]byte{"tls.crt": []byte("two")}, "2"))
	assert.Equal(t, map[string]string{"tls.crt": "two"}, content())
	require.NoError(t, v.write(map[string][]byte{"tls.crt": []byte("unseen")}, "2"))
	assert.Equal(t, map[string]string{"tls.crt": "two"}, content(), "the same version is not written again")
	versions, err := filepath.Glob(filepath.Join(v.dir, "..20*"))
	require.NoError(t, err)
	assert.Len(t, versions, 1, "the old version is removed")
}
