package install_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// chart is the folder of defaultplan's chart.
var chart = filepath.Join(root, "deploy", "charts", "defaultplan")

// releaseName is the name that the tests give to the release.
const releaseName = "catalog"

// A helm is a Helm binary with which the administrator of a cluster works.
type helm struct {
	*cluster

	binary string
}

// try runs Helm and returns what it printed.
func (h *helm) try(ctx context.Context, args ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, h.Binary(h.binary), args...)
	cmd.Env = h.Environment()
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", h.binary, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// run runs Helm, which must succeed.
func (h *helm) run(args ...string) string {
	h.Helper()
	out, err := h.try(h.Context(), args...)
	require.NoError(h, err, "%s", out)
	return out
}

// on runs Helm for the release, with further arguments behind the verb's.
func (h *helm) on(verb string, args ...string) string {
	h.Helper()
	given := []string{verb, releaseName}
	if verb == "install" || verb == "upgrade" {
		given = append(given, chart)
	}
	return h.run(append(append(given, "--namespace="+system, "--wait", "--timeout=3m"), args...)...)
}
