package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// versionVariable is where a program reads its version.
const versionVariable = "github.com/defaultplan/defaultplan/cmd/internal/version.version"

// A target is programs of one module, for one system and processor.
type target struct {
	system, processor string
	// module is the folder of the module, below that of the project.
	module   string
	packages []string
	// variables are set by the linker, each as NAME=VALUE.
	variables []string
}

// programsOf are programs of cmd, for one system and processor.
func programsOf(s *source, system, processor string, programs ...string) *target {
	t := &target{system: system, processor: processor, variables: []string{versionVariable + "=" + s.version}}
	for _, program := range programs {
		t.packages = append(t.packages, "./cmd/"+program)
	}
	return t
}

// compile builds a target into the folder out. Nothing of the machine, of the folder or of
// the environment gets into a binary; only the version of Go does. GOFLAGS is not empty, since
// an empty one would be that of go env -w.
func compile(ctx context.Context, root string, t *target, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("cannot find the folder %q: %w", out, err)
	}
	link := strings.Join(append([]string{"-s -w -buildid="}, t.variables...), " -X ")
	// As make compiles, so that what it has compiled is taken: nothing for a debugger, which the linker would drop.
	args := append([]string{"build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", link, "-o", out + string(filepath.Separator)}, t.packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(root, t.module)
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.processor, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-buildvcs=false", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", toolchain())
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %s for %s/%s: %w: %s", strings.Join(t.packages, ", "), t.system, t.processor, err, output)
	}
	return nil
}

// toolchain has all programs be built with the version of Go that the provenance names: that of this
// program.
func toolchain() string {
	if !strings.HasPrefix(runtime.Version(), "go1.") { // a development version
		return "GOTOOLCHAIN=local"
	}
	return "GOTOOLCHAIN=" + runtime.Version()
}
