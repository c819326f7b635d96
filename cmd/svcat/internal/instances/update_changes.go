package instances

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// changes are what an update changes: names, never a value.
type changes struct {
	set, unset []string
	// plan is the change of the plan in words, empty for none.
	plan string
}

func (c changes) none() bool { return len(c.set) == 0 && len(c.unset) == 0 && c.plan == "" }

// String is one line: names of parameters and plans are those that others gave.
func (c changes) String() string {
	var parts []string
	if len(c.set) > 0 {
		parts = append(parts, parametersNamed(c.set)+" set")
	}
	if len(c.unset) > 0 {
		parts = append(parts, parametersNamed(c.unset)+" taken away")
	}
	if c.plan != "" {
		parts = append(parts, c.plan)
	}
	return termtext.Line(strings.Join(parts, "; "))
}

func parametersNamed(names []string) string {
	if len(names) == 1 {
		return "parameter " + names[0]
	}
	return "parameters " + strings.Join(names, ", ")
}

// A specPatch is the JSON patch that makes the fields of an instance's spec those of another.
// A merge patch could set no null, and would round large numbers.
type specPatch struct{ before *v1beta1.ServiceInstance }

// Type is that of a JSON patch.
func (specPatch) Type() types.PatchType { return types.JSONPatchType }

// Data is the patch. It replaces the resourceVersion by the one that was read: the API server
// refuses that as a conflict if another client wrote since.
func (p specPatch) Data(object client.Object) ([]byte, error) {
	after, is := object.(*v1beta1.ServiceInstance)
	if !is {
		return nil, fmt.Errorf("cannot make a patch of %T", object)
	}
	was, err := fieldsOf(&p.before.Spec)
	if err != nil {
		return nil, err
	}
	now, err := fieldsOf(&after.Spec)
	if err != nil {
		return nil, err
	}
	type operation struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value,omitempty"`
	}
	version, err := json.Marshal(p.before.ResourceVersion)
	if err != nil {
		return nil, err
	}
	operations := []operation{{"replace", "/metadata/resourceVersion", version}}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, stays := now[name]; !stays {
			operations = append(operations, operation{Op: "remove", Path: "/spec/" + name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !bytes.Equal(was[name], now[name]) {
			operations = append(operations, operation{"add", "/spec/" + name, now[name]})
		}
	}
	return json.Marshal(operations)
}

// fieldsOf are the fields of a spec as JSON.
func fieldsOf(spec *v1beta1.ServiceInstanceSpec) (fields map[string]json.RawMessage, err error) {
	text, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	return fields, err
}
