package sharing_test

import (
	"os/exec"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// svcat runs svcat as the administrator, and returns what it printed; it must exit with 0.
func (w *world) svcat(args ...string) string {
	w.Helper()
	said, err := w.run(args)
	require.NoError(w, err, said)
	return said
}

// svcatFails is svcat that must not exit with 0.
func (w *world) svcatFails(args ...string) string {
	w.Helper()
	said, err := w.run(args)
	require.Error(w, err, said)
	return said
}

func (w *world) run(args []string) (string, error) {
	command := exec.CommandContext(w.Context(), filepath.Join(binFolder, "svcat"), args...)
	command.Env = w.Environment()
	said, err := command.CombinedOutput()
	return string(said), err
}
