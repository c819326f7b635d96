package render_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRenderReadsFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "a/catalog.yml", catalog)
	write(t, folder, "a/README.md", "no manifest")
	write(t, folder, "instance.json", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"mydb"},"spec":{"serviceType":"mysql","parameters":{"big":9007199254740993}}}]}`)
	got := run(t, "", "-R", "-f", folder)
	require.Zero(t, got.code, got.err)
	assert.Contains(t, got.out, "big: 9007199254740993\n")
}

// The folder may be a link, as those of a volume are.
func TestRenderFollowsALink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "catalog/catalog.yaml", catalog)
	link := filepath.Join(folder, "link")
	require.NoError(t, os.Symlink("catalog", link))
	got := run(t, stream(instance, refused), "-f", link, "-f", "-")
	assert.Contains(t, got.err, "refused: 1 of 2 objects")
	write(t, folder, "catalog/bad.yaml", "a")
	got = run(t, instance, "-f", link, "-f", "-")
	assert.Contains(t, got.err, filepath.Join(link, "bad.yaml")+", document 1", "by the name that was given")
}
