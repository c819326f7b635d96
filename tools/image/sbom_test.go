package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listSchema is the schema of CycloneDX, which its library brings along.
func listSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		content, err := os.Open(filepath.Join(strings.TrimSpace(string(folder)), "schema", file))
		require.NoError(t, err)
		schema, err := jsonschema.UnmarshalJSON(content)
		require.NoError(t, err)
		require.NoError(t, content.Close())
		require.NoError(t, compiler.AddResource("http://cyclonedx.org/schema/"+name, schema))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	return schema
}

// readList validates a list against the schema, and reads it.
func readList(t *testing.T, path string) cyclonedx.BOM {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(content)))
	require.NoError(t, err)
	require.NoError(t, listSchema(t).Validate(instance))
	var list cyclonedx.BOM
	require.NoError(t, json.Unmarshal(content, &list))
	return list
}

// A list is valid, and has what is in the image though it is in no go.mod.
func TestListOfATinyProgram(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	p := planOf(tiny(t), out)
	p.platforms = []string{"amd64"}
	mustBuild(t, p)
	list := readList(t, filepath.Join(out, "webhook-linux-amd64.cdx.json"))
	assert.Equal(t, "v1.2.3+x", list.Metadata.Component.Version)
	assert.Equal(t, "2023-11-14T22:13:20Z", list.Metadata.Timestamp)
	require.NotNil(t, list.Components)
	names := []string{}
	for _, component := range *list.Components {
		names = append(names, component.Name)
		assert.NotEqual(t, unknown, component.Version, component.Name)
	}
	assert.Equal(t, []string{"std", rootsModule}, names)
}

// The list identifies the binary.
func TestListKnowsTheBinary(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	require.NoError(t, err)
	content, err := os.ReadFile(binary)
	require.NoError(t, err)
	encoded, err := listOf(&source{}, "webhook", binary)
	require.NoError(t, err)
	var list cyclonedx.BOM
	require.NoError(t, json.Unmarshal(encoded, &list))
	sum := sha256.Sum256(content)
	assert.Equal(t, &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}, list.Metadata.Component.Hashes)
}

func TestListOfNoProgram(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "webhook")
	require.NoError(t, os.WriteFile(binary, []byte("a script"), 0o600))
	_, err := listOf(&source{}, "webhook", binary)
	require.ErrorContains(t, err, `cannot read what the binary "webhook" was built from`)
	_, err = listOf(&source{}, "webhook", binary+"-absent")
	require.ErrorContains(t, err, `cannot read the binary "webhook"`)
}
