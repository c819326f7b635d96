package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

// files are what svcat is given.
type files struct {
	snapshot, policy, catalog string
	// megabytes are those of the snapshot, and lines those of the report.
	megabytes float64
	lines     int
}

const header = `{"kind":"CatalogSnapshot","version":"defaultplan/v1","taken":"2026-11-28T10:00:00Z","parameters":false,` +
	`"webhook":{"unresolved":"wait","schemaCheck":"warn","featureGates":{}},"lists":[]}` + "\n"

// write writes the files.
func write(ctx context.Context, dir string, size Size) (*files, error) {
	objects, err := stateOf(ctx, size)
	if err != nil {
		return nil, err
	}
	text := bytes.NewBufferString(header)
	for _, object := range objects {
		if err := json.NewEncoder(text).Encode(object.Object); err != nil {
			return nil, fmt.Errorf("cannot encode %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
	changed, err := listing(size, size.Changed)
	if err != nil {
		return nil, err
	}
	policy, err := json.Marshal(object("ProvisioningPolicy", "", "bench", map[string]any{
		"action": "Deny", "namespaces": map[string]any{"names": []string{namespaceOf(0), namespaceOf(1)}},
		"subjects": []any{map[string]any{"costs": map[string]any{"currency": "usd", "unit": "MONTHLY", "above": fmt.Sprint(high)}}},
	}))
	if err != nil {
		return nil, fmt.Errorf("cannot encode the policy: %w", err)
	}
	const perMegabyte = 1e6
	made := &files{
		snapshot: filepath.Join(dir, "snapshot"), policy: filepath.Join(dir, "policy.json"), catalog: filepath.Join(dir, "catalog.json"),
		megabytes: float64(text.Len()) / perMegabyte,
	}
	for path, content := range map[string][]byte{made.snapshot: text.Bytes(), made.policy: policy, made.catalog: changed} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("cannot write what svcat is given: %w", err)
		}
	}
	return made, nil
}

// errNothing is of a simulation that is not the one to measure.
var errNothing = errors.New("svcat simulate found nothing of what the changes do")

// A use is what a run used: seconds of processor time, and megabytes of memory.
type use struct{ seconds, peak float64 }

// run runs svcat once. It counts the lines of the report.
func run(ctx context.Context, svcat string, given *files) (use, error) {
	command := exec.CommandContext(ctx, svcat, "simulate", "--snapshot", given.snapshot, "--default", serviceOf(0)+"/"+planSuffix(1)[1:],
		"-f", given.policy, "--catalog", broker+"="+given.catalog, "-o", "json")
	// Nothing is read from a cluster.
	command.Env = append(os.Environ(), "KUBECONFIG=/dev/null")
	var report, problems bytes.Buffer
	command.Stdout, command.Stderr = &report, &problems
	if err := command.Start(); err != nil {
		return use{}, fmt.Errorf("cannot run svcat simulate: %w", err)
	}
	peak := watch(command.Process.Pid)
	err := command.Wait()
	used := use{command.ProcessState.UserTime().Seconds() + command.ProcessState.SystemTime().Seconds(), peak()}
	// 1 and 2 say that something changes, and that something is refused.
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || problems.Len() > 0) {
		return use{}, fmt.Errorf("cannot run svcat simulate: %w: %.500s", err, problems.String())
	}
	var found struct {
		Types []any
		Costs struct{ Now, Then json.RawMessage }
	}
	if err := json.Unmarshal(report.Bytes(), &found); err != nil {
		return use{}, fmt.Errorf("cannot read the report of svcat simulate: %w", err)
	}
	if len(found.Types) == 0 || bytes.Equal(found.Costs.Now, found.Costs.Then) {
		return use{}, errNothing
	}
	given.lines = bytes.Count(report.Bytes(), []byte("\n"))
	return used, nil
}

// often is how often memory is looked at.
const often = 5 * time.Millisecond

// watch follows the most memory that a process had, until the returned function is called. What the
// system says of a process that has ended does not do: that begins with the memory of its parent.
func watch(pid int) (stop func() float64) {
	ended, result := make(chan struct{}), make(chan float64)
	go func() {
		var peak float64
		ticker := time.NewTicker(often)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				result <- peak
				return
			case <-ticker.C:
				if now, err := measure.Memory(pid, measure.ResidentPeak); err == nil {
					peak = now
				}
			}
		}
	}()
	return func() float64 {
		close(ended)
		return <-result
	}
}
