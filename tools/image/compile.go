package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// versionVariable is where a program reads its version.
const versionVariable = "github.com/defaultplan/defaultplan/cmd/internal/version.version"

// compile builds programs of cmd for linux on a processor into the folder out. Nothing of
// the machine, of the folder or of the environment gets into a binary; only the version
// of Go does.
func compile(ctx context.Context, p *plan, processor, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("cannot find the folder %q: %w", out, err)
	}
	args := []string{
		"build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X " + versionVariable + "=" + p.source.version,
		"-o", out + string(filepath.Separator),
	}
	for _, program := range p.programs {
		args = append(args, "./cmd/"+program)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.root
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH="+processor, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %v for %s: %w: %s", p.programs, processor, err, output)
	}
	return nil
}
