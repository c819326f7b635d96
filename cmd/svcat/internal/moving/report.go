package moving

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// A Result is what became of an object.
type Result string

// The results.
const (
	Moved          Result = "moved"
	Unchanged      Result = "unchanged"
	WouldMove      Result = "would move"
	Waiting        Result = "waiting"
	Conflict       Result = "conflict"
	NotMoved       Result = "not moved"
	Released       Result = "released"
	WouldRelease   Result = "would release"
	NotReleased    Result = "not released"
	Note           Result = "note"
	ReleasedBefore Result = "released before"
)

// unfinished are the results of what is not where it should be.
var unfinished = []Result{Waiting, Conflict, NotMoved, NotReleased}

// A Row is what became of one object.
type Row struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// NewNamespace is where it is on the new side, if that has another name.
	NewNamespace string `json:"newNamespace,omitempty"`
	// NewName is its name on the new side, if that is another one.
	NewName string `json:"newName,omitempty"`
	Result  Result `json:"result"`
	Reason  string `json:"reason,omitempty"`
}

// A Report is what became of all objects, in the order of the file.
type Report struct {
	Objects []Row `json:"objects"`
	// DryRun says that nothing was written.
	DryRun bool `json:"dryRun,omitempty"`
}

// Add notes what became of an object. The reason may be an error as svcat prints it.
func (r *Report) Add(object client.Object, names *Names, result Result, reason string) {
	row := Row{Kind: KindOf(object), Namespace: object.GetNamespace(), Name: object.GetName(), Result: result, Reason: cli.WithoutCredentials(strings.TrimPrefix(reason, "error: "))}
	place := names.Place(object)
	if place.Namespace != row.Namespace {
		row.NewNamespace = place.Namespace
	}
	if place.Name != row.Name {
		row.NewName = place.Name
	}
	r.Objects = append(r.Objects, row)
}

// AddNamespace notes what became of a namespace that the file's objects come into.
func (r *Report) AddNamespace(name, reason string) {
	r.Objects = append(r.Objects, Row{Kind: "Namespace", Name: name, Result: Note, Reason: reason})
}

// Print prints the report as a table, or as JSON.
func (r *Report) Print(env *cli.Env, output string) error {
	if output == "json" {
		encoder := json.NewEncoder(env.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	table := printer.New("kind", "namespace", "name", "result", "reason")
	for i := range r.Objects {
		row := &r.Objects[i]
		table.Add(row.Kind, became(row.Namespace, row.NewNamespace), became(row.Name, row.NewName), string(row.Result), row.Reason)
	}
	if table.Len() > 0 {
		if err := table.Write(env.Out); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(env.Out, r.summary())
	return err
}

// became is a name, with the new one if there is one.
func became(old, renamed string) string {
	if renamed == "" {
		return old
	}
	return old + " → " + renamed
}

// summary counts the results.
func (r *Report) summary() string {
	var order []Result
	counts := map[Result]int{}
	for i := range r.Objects {
		result := r.Objects[i].Result
		if counts[result]++; counts[result] == 1 {
			order = append(order, result)
		}
	}
	parts := make([]string, len(order))
	for i, result := range order {
		parts[i] = strconv.Itoa(counts[result]) + " " + string(result)
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "nothing to do: the file has no objects"
	}
	if r.DryRun {
		text += " (dry run: nothing was written)"
	}
	return text
}

// Failure ends the command with 1 if anything is not where it should be; the report said what.
func (r *Report) Failure() error {
	if slices.ContainsFunc(r.Objects, func(row Row) bool { return slices.Contains(unfinished, row.Result) }) {
		return &cli.Failure{Code: cli.ExitFailed}
	}
	return nil
}
