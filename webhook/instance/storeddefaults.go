package instance

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/parameters"
)

// storedDefaults are the parameters that are stored, and the layers that gave some of them, by
// pointer.
type storedDefaults struct {
	values map[string]any
	from   map[string]string
}

// readStored reads them from the stored object; what cannot be read has no defaults.
func readStored(given *runtime.RawExtension, annotations map[string]string) storedDefaults {
	from := parameters.Applied(annotations).From
	if len(from) == 0 {
		return storedDefaults{}
	}
	values, err := merge.Decode(parameters.Raw(given))
	if err != nil {
		return storedDefaults{}
	}
	return storedDefaults{values, from}
}

// encoded are the values that defaults gave, as JSON; empty for none.
func (s storedDefaults) encoded() []byte {
	given := map[string]any{}
	for _, pointer := range slices.Sorted(maps.Keys(s.from)) {
		if value, present := merge.Pointer(pointer).Get(s.values); present {
			merge.Set(given, merge.Pointer(pointer).Tokens(), value)
		}
	}
	text, err := merge.Canonical(given)
	if err != nil || len(given) == 0 {
		return nil
	}
	return text
}

// droppedBy are the defaults that new parameters lack, for people.
func (s storedDefaults) droppedBy(now *runtime.RawExtension) []string {
	if len(s.from) == 0 {
		return nil
	}
	after, err := merge.Decode(parameters.Raw(now))
	if err != nil {
		return nil
	}
	dropped := maps.Clone(s.from)
	maps.DeleteFunc(dropped, func(pointer, _ string) bool {
		return !lacks(after, merge.Pointer(pointer)) || lacks(s.values, merge.Pointer(pointer))
	})
	return parameters.PointerNames(dropped)
}

// lacks says that there is nothing at a pointer: neither a value, nor one in the place of an object on the way.
func lacks(values map[string]any, pointer merge.Pointer) bool {
	var at any = values
	for _, token := range pointer.Tokens() {
		object, is := at.(map[string]any)
		if !is {
			return false
		}
		if at, is = object[token]; !is {
			return true
		}
	}
	return false
}

// stillApplied is a record of defaults without what a write changes: a value that the user set is
// no longer a default. It says whether the write changes any parameter.
func stillApplied(record string, old, now *runtime.RawExtension) (string, bool) {
	if parameters.Same(old, now) {
		return "", false
	}
	applied, err := v1beta1.ParseAppliedDefaults(record)
	if err != nil {
		return "", false
	}
	after, err := merge.Decode(parameters.Raw(now))
	if err != nil {
		return "", false
	}
	// Of stored parameters that cannot be read, from before a limit, nothing is known to have stayed.
	before, _ := merge.Decode(parameters.Raw(old))
	changed := func(pointer string) bool { return !sameAt(before, after, merge.Pointer(pointer)) }
	maps.DeleteFunc(applied.From, func(pointer, _ string) bool { return changed(pointer) })
	applied.Removed = slices.DeleteFunc(applied.Removed, changed)
	return applied.String(), true
}

// sameAt says that two objects hold the same at a pointer.
func sameAt(a, b map[string]any, pointer merge.Pointer) bool {
	x, okX := pointer.Get(a)
	y, okY := pointer.Get(b)
	return okX == okY && reflect.DeepEqual(x, y)
}
