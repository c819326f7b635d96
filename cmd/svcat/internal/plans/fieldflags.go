package plans

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// fieldFlags are the flags that give fields of classes and plans their values.
type fieldFlags struct {
	values map[string]*string
}

// usages are what help says of them.
var usages = map[string]string{
	"type":             "The service type, such as mysql; null: that of the class, or none",
	"provision-params": "Default parameters of instances: a JSON or YAML object, @FILE, - for standard input, or null",
	"bind-params":      "Default parameters of bindings, likewise",
	"secret-transform": "Default transforms of bindings' Secrets: a JSON or YAML list, @FILE, - or null",
	"weight":           "The weight among plans that a selector matches: the heaviest wins",
}

// bind adds the flags to a command about a class or a plan.
func (f *fieldFlags) bind(env *cli.Env, cmd *cobra.Command, plan bool) {
	f.values = map[string]*string{}
	for _, one := range fields {
		if one.name == "weight" && !plan {
			continue
		}
		f.values[one.flag] = cmd.Flags().String(one.flag, "", usages[one.flag])
	}
	// Values are typed, files begin with @: there is nothing to propose but types.
	complete.Flags(cmd, map[string]complete.Func{
		"type": complete.Types(env), "provision-params": cobra.NoFileCompletions, "bind-params": cobra.NoFileCompletions,
		"secret-transform": cobra.NoFileCompletions, "weight": cobra.NoFileCompletions,
	})
}

// edits are what the given flags say, validated.
func (f *fieldFlags) edits(cmd *cobra.Command, stdin io.Reader) ([]*edit, error) {
	var edits []*edit
	if err := f.stdinOnce(); err != nil {
		return nil, err
	}
	from := &reader{stdin: stdin}
	for _, one := range fields {
		if value := f.values[one.flag]; value != nil && cmd.Flags().Changed(one.flag) {
			e, err := one.read(from, one, *value)
			if err != nil {
				return nil, err
			}
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// stdinOnce refuses to read two flags from standard input.
func (f *fieldFlags) stdinOnce() error {
	var flags []string
	for _, one := range fields {
		if value := f.values[one.flag]; value != nil && *value == fromStdin {
			flags = append(flags, "--"+one.flag)
		}
	}
	if len(flags) > 1 {
		return cli.Usagef("%s cannot all be read from standard input; give all but one as @FILE", strings.Join(flags, " and "))
	}
	return nil
}

// editable are the fields of a class or plan that edits write to.
type editable struct {
	defaults    *v1beta1.Defaults
	serviceType *string
	// weight is nil for a class.
	weight *int32
}

func editableClass(c catalog.Class) editable {
	return editable{&c.Spec.Defaults, &c.Spec.ServiceType, nil}
}

func editablePlan(p catalog.Plan) editable {
	return editable{&p.Spec.Defaults, &p.Spec.ServiceType, &p.Spec.Weight}
}

// told are edits in a sentence.
func told(edits []*edit) string {
	words := make([]string, len(edits))
	for i, e := range edits {
		words[i] = e.String()
	}
	return strings.Join(words, ", ")
}

// An operation is one of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// patchOf replaces each field whole, and no other, whatever is stored: a merge patch
// would merge objects key by key. What is cleared is put there first, since only what
// is there can be removed.
func patchOf(edits []*edit) (client.Patch, error) {
	var operations []operation
	for _, e := range edits {
		path := "/spec/" + e.name
		if e.value == nil {
			operations = append(operations, operation{"add", path, json.RawMessage(`""`)}, operation{Op: "remove", Path: path})
			continue
		}
		operations = append(operations, operation{"add", path, e.value})
	}
	data, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a patch: %w", err)
	}
	return client.RawPatch(types.JSONPatchType, data), nil
}
