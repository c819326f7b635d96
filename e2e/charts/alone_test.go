package charts_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// aloneChart writes a chart of one instance, as an author starts.
func (e *testEnv) aloneChart(serviceType string) string {
	e.Helper()
	return e.chartOf(fmt.Sprintf(`(dict "root" . "name" "db" "type" %q "given" .Values)`, serviceType))
}

// chartOf writes a chart that depends on the library and has one template: an instance by
// a call with these arguments.
func (e *testEnv) chartOf(arguments string) string {
	e.Helper()
	dir := filepath.Join(e.TempDir(), "alone")
	library := filepath.Join(dir, "charts", "servicecatalog-lib")
	require.NoError(e, os.MkdirAll(filepath.Join(dir, "templates"), 0o700))
	require.NoError(e, os.CopyFS(library, os.DirFS(filepath.Join(chartFolder, "servicecatalog-lib"))))
	for name, content := range map[string]string{
		"Chart.yaml":              "apiVersion: v2\nname: alone\nversion: 0.1.0\n",
		"templates/database.yaml": `{{ include "servicecatalog.instance" ` + arguments + ` }}`,
	} {
		require.NoError(e, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}
