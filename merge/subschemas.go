package merge

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A level is what a subschema applies one level down: one of either, and every one of always.
type level struct {
	either []*jsonschema.Schema
	always []*jsonschema.Schema
}

// inPlace are the subschemas that s applies to the very value that it is applied to itself.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	applied := slices.Concat(
		[]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else},
		s.AllOf, s.AnyOf, s.OneOf,
	)
	if s.DynamicRef != nil {
		applied = append(applied, s.DynamicRef.Ref)
	}
	for _, dependency := range s.Dependencies {
		if schema, ok := dependency.(*jsonschema.Schema); ok {
			applied = append(applied, schema)
		}
	}
	for _, schema := range s.DependentSchemas {
		applied = append(applied, schema)
	}
	return present(applied)
}

// ofProperties are the subschemas that s applies to the members of an object and to their names. Patterns may overlap with
// each other and with properties; additionalProperties has what is left.
func ofProperties(s *jsonschema.Schema) level {
	var l level
	for _, schema := range s.Properties {
		l.either = append(l.either, schema)
	}
	if schema, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		l.either = append(l.either, schema)
	}
	for _, schema := range s.PatternProperties {
		l.always = append(l.always, schema)
	}
	l.always = append(l.always, s.PropertyNames, s.UnevaluatedProperties)
	return level{either: present(l.either), always: present(l.always)}
}

// ofItems are the subschemas that s applies to the items of an array.
func ofItems(s *jsonschema.Schema) level {
	either := slices.Concat(s.PrefixItems, []*jsonschema.Schema{s.Items2020})
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		either = append(either, items)
	case []*jsonschema.Schema:
		either = append(either, items...)
	}
	if schema, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
		either = append(either, schema)
	}
	return level{either: present(either), always: present([]*jsonschema.Schema{s.Contains, s.UnevaluatedItems})}
}

// descend are all subschemas that s applies one level down.
func descend(s *jsonschema.Schema) []*jsonschema.Schema {
	keys, items := ofProperties(s), ofItems(s)
	return slices.Concat(keys.either, keys.always, items.either, items.always)
}

func present(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(schemas, func(s *jsonschema.Schema) bool { return s == nil })
}

// reachable are all subschemas that root can apply, each once.
func reachable(root *jsonschema.Schema) []*jsonschema.Schema {
	found := []*jsonschema.Schema{root}
	seen := map[*jsonschema.Schema]bool{root: true}
	for at := 0; at < len(found); at++ { // grows while it runs
		for _, s := range slices.Concat(inPlace(found[at]), descend(found[at])) {
			if !seen[s] {
				seen[s] = true
				found = append(found, s)
			}
		}
	}
	return found
}

// jumps says that a reference's target depends on the way that led to it.
func jumps(s *jsonschema.Schema) bool {
	return s.DynamicRef != nil && s.DynamicRef.Anchor != "" || s.RecursiveRef != nil && s.RecursiveRef.RecursiveAnchor
}

// relax leaves out of each subschema what only complete values can satisfy. It works on the compiled schema, where a property
// that is called "required", or an enum that holds one, cannot be taken for the keyword, and where what a $ref leads to is
// found even inside of a combinator.
func relax(schemas []*jsonschema.Schema) {
	for _, s := range schemas {
		s.Required, s.MinProperties = nil, nil
		s.Dependencies, s.DependentRequired, s.DependentSchemas = nil, nil, nil
		s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil
		s.If, s.Then, s.Else = nil, nil, nil
		// What the combinators would have evaluated is not known any more.
		s.UnevaluatedProperties, s.UnevaluatedItems = nil, nil
		if s.Enum != nil && slices.ContainsFunc(s.Enum.Values, isObject) {
			s.Enum = nil
		}
		if s.Const != nil && isObject(*s.Const) {
			s.Const = nil
		}
	}
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}
