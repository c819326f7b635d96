package offline

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// field is what an object has at a path of the names of its fields, as a selector of fields
// sees it: empty for nothing.
func (s *stored) field(path []string) string {
	value := reflect.ValueOf(s.typed).Elem()
	for _, name := range path {
		for value.Kind() == reflect.Pointer {
			if value.IsNil() {
				return ""
			}
			value = value.Elem()
		}
		if value.Kind() != reflect.Struct {
			return ""
		}
		at, has := fieldsOf(value.Type())[name]
		if !has {
			return ""
		}
		value = value.FieldByIndex(at)
	}
	return fmt.Sprint(value.Interface())
}

// known are the fields of the types that were asked for: looking them up for each of ten
// thousand objects would take long.
var known sync.Map

// fieldsOf are the fields of a type by their names in JSON, those of inlined structs among
// them.
func fieldsOf(of reflect.Type) map[string][]int {
	if fields, is := known.Load(of); is {
		return fields.(map[string][]int) //nolint:forcetypeassert // nothing else is stored
	}
	fields := map[string][]int{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			fields[name] = []int{i}
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			for inner, at := range fieldsOf(field.Type) {
				fields[inner] = append([]int{i}, at...)
			}
		}
	}
	known.Store(of, fields)
	return fields
}
