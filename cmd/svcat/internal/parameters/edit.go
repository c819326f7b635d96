package parameters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
)

// An Edit changes parameters that there are: it sets some, takes some away, and leaves the
// others as they are.
type Edit struct {
	set   map[string]any
	unset []string
}

// NewEdit is the edit that sets what the flags give, and takes away what unset names.
func NewEdit(flags *Flags, unset []string) (*Edit, error) {
	given, err := flags.Parameters()
	if err != nil {
		return nil, err
	}
	e := &Edit{unset: unset}
	if e.set, err = membersOf(given); err != nil {
		return nil, err
	}
	for _, name := range unset {
		if _, both := e.set[name]; both {
			return nil, cli.Usagef("--unset %s: the same parameter is set; give one of the two", name)
		}
	}
	return e, nil
}

// Apply changes parameters, and returns the names of those that it set to something else, and
// of those that it took away, sorted. What --unset names must be there: no value is in the error.
func (e *Edit) Apply(parameters **runtime.RawExtension) (set, unset []string, err error) {
	members, err := membersOf(*parameters)
	if err != nil {
		return nil, nil, err
	}
	if members == nil {
		members = map[string]any{}
	}
	for _, name := range e.unset {
		if _, there := members[name]; !there {
			return nil, nil, cli.Usagef("--unset: no parameter %q; %s", name, those(name, members))
		}
	}
	for _, name := range e.unset {
		delete(members, name)
	}
	for name, value := range e.set {
		if was, there := members[name]; !there || !merge.Equal(was, value) {
			members[name] = value
			set = append(set, name)
		}
	}
	if len(set) == 0 && len(e.unset) == 0 {
		return nil, nil, nil
	}
	slices.Sort(set)
	unset = slices.Compact(slices.Sorted(slices.Values(e.unset)))
	*parameters, err = rawOf(members)
	return set, unset, err
}

// those are the names of parameters, after the one that was probably meant.
func those(name string, members map[string]any) string {
	names := slices.Sorted(maps.Keys(members))
	if len(names) == 0 {
		return "there are none"
	}
	text := "parameters: " + strings.Join(names, ", ")
	if near := resolve.Nearest(name, names); near != "" {
		text = fmt.Sprintf("did you mean %s? %s", near, text)
	}
	return termtext.Line(text)
}

// membersOf are the members of an object, numbers as they are written.
func membersOf(object *runtime.RawExtension) (map[string]any, error) {
	if object == nil {
		return nil, nil
	}
	return merge.Decode(object.Raw)
}
