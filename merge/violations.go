package merge

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	// maxViolations is how many a report shows: enough to mend, and no longer than a terminal.
	maxViolations = 8
	// maxPlaces is how many places a report has.
	maxPlaces = 256
	// maxListed is how many allowed values a message lists.
	maxListed = 10
)

// A finding is a violation whose pointer is not written yet: there may be 100,000 of them below one long key.
type finding struct {
	tokens []string
	Violation
}

func (f *finding) compare(other *finding) int {
	return cmp.Or(slices.Compare(f.tokens, other.tokens), cmp.Compare(f.Keyword, other.Keyword), cmp.Compare(f.Message, other.Message))
}

// report flattens the validator's tree of errors. The validator walks maps, so only sorting makes two runs agree; the same
// violation found on two ways through the schema counts once.
func report(err *jsonschema.ValidationError) Report {
	all := flatten(nil, err)
	slices.SortFunc(all, func(a, b finding) int { return a.compare(&b) })
	all = slices.CompactFunc(all, func(a, b finding) bool { return a.compare(&b) == 0 })
	found := Report{Total: len(all)}
	for i := 0; i < len(all) && len(found.Places) < maxPlaces; i++ {
		at := pointer(all[i].tokens)
		if i == 0 || at != found.Places[len(found.Places)-1] {
			found.Places = append(found.Places, at)
		}
		if i < maxViolations {
			all[i].Pointer = at
			found.Violations = append(found.Violations, all[i].Violation)
		}
	}
	return found
}

// flatten appends the violations of one error. Where alternatives failed, the place of the choice is what a user can act on:
// what each alternative missed is not shown.
func flatten(all []finding, err *jsonschema.ValidationError) []finding {
	at := err.InstanceLocation
	switch k := err.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range err.Causes {
			all = flatten(all, cause)
		}
		return all
	case *kind.Required:
		return missing(all, at, k.Missing, Violation{Keyword: "required", Message: "is required"})
	case *kind.Dependency:
		return missing(all, at, k.Missing, Violation{Keyword: "dependencies", Message: "is required " + beside(k.Prop)})
	case *kind.DependentRequired:
		return missing(all, at, k.Missing, Violation{Keyword: "dependentRequired", Message: "is required " + beside(k.Prop)})
	case *kind.AdditionalProperties:
		return missing(all, at, k.Properties, Violation{Keyword: "additionalProperties", Message: "is not a property that the schema allows"})
	case *kind.PropertyNames:
		return missing(all, at, []string{k.Property}, Violation{Keyword: "propertyNames", Message: "has a name that the schema does not allow"})
	default:
		return append(all, finding{at, describe(k)})
	}
}

// missing makes one violation for each of an object's properties.
func missing(all []finding, at, properties []string, v Violation) []finding {
	for _, property := range properties {
		all = append(all, finding{append(slices.Clip(at), property), v})
	}
	return all
}

func beside(property string) string {
	return "where " + strconv.Quote(shorten(property)) + " is given"
}

func pointer(tokens []string) Pointer {
	at := Pointer("")
	for _, token := range tokens {
		at = at.Child(token)
	}
	return at
}

// describe says what is allowed, from the schema alone: the error's value is never looked at. The place is the caller's to set.
func describe(k jsonschema.ErrorKind) Violation {
	switch k := k.(type) {
	case *kind.Type:
		return Violation{Keyword: "type", Message: "must be of type " + strings.Join(k.Want, " or ") + ", not " + k.Got}
	case *kind.Enum:
		return Violation{Keyword: "enum", Message: "must be one of " + listed(k.Want)}
	case *kind.Const:
		return Violation{Keyword: "const", Message: "must be " + listed([]any{k.Want})}
	case *kind.Format:
		if k.Want == "regex" {
			return Violation{Keyword: "format", Message: fmt.Sprintf("must be a pattern of the RE2 syntax, of at most %d instructions once its repeats are unrolled", maxPattern)}
		}
		return Violation{Keyword: "format", Message: "must be a valid " + shorten(k.Want)}
	case *kind.Pattern:
		return Violation{Keyword: "pattern", Message: "must match the pattern " + strconv.Quote(shorten(k.Want))}
	case *kind.AnyOf:
		return Violation{Keyword: "anyOf", Message: "must match at least one of the schema's alternatives"}
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return Violation{Keyword: "oneOf", Message: "must match exactly one of the schema's alternatives, and matches more"}
		}
		return Violation{Keyword: "oneOf", Message: "must match exactly one of the schema's alternatives, and matches none"}
	case *kind.Not:
		return Violation{Keyword: "not", Message: "must not match what the schema excludes"}
	case *kind.FalseSchema:
		return Violation{Keyword: "false", Message: "is not allowed by the schema"}
	default:
		return bounds(k)
	}
}

// bounds describes the keywords that are numbers.
func bounds(k jsonschema.ErrorKind) Violation {
	switch k := k.(type) {
	case *kind.Minimum:
		return Violation{Keyword: "minimum", Message: "must be at least " + decimal(k.Want)}
	case *kind.Maximum:
		return Violation{Keyword: "maximum", Message: "must be at most " + decimal(k.Want)}
	case *kind.ExclusiveMinimum:
		return Violation{Keyword: "exclusiveMinimum", Message: "must be more than " + decimal(k.Want)}
	case *kind.ExclusiveMaximum:
		return Violation{Keyword: "exclusiveMaximum", Message: "must be less than " + decimal(k.Want)}
	case *kind.MultipleOf:
		return Violation{Keyword: "multipleOf", Message: "must be a multiple of " + decimal(k.Want)}
	case *kind.MinLength:
		return Violation{Keyword: "minLength", Message: fmt.Sprintf("must have at least %d characters", k.Want)}
	case *kind.MaxLength:
		return Violation{Keyword: "maxLength", Message: fmt.Sprintf("must have at most %d characters", k.Want)}
	case *kind.MinProperties:
		return Violation{Keyword: "minProperties", Message: fmt.Sprintf("must have at least %d properties", k.Want)}
	case *kind.MaxProperties:
		return Violation{Keyword: "maxProperties", Message: fmt.Sprintf("must have at most %d properties", k.Want)}
	default:
		return ofArrays(k)
	}
}

func ofArrays(k jsonschema.ErrorKind) Violation {
	switch k := k.(type) {
	case *kind.MinItems:
		return Violation{Keyword: "minItems", Message: fmt.Sprintf("must have at least %d items", k.Want)}
	case *kind.MaxItems:
		return Violation{Keyword: "maxItems", Message: fmt.Sprintf("must have at most %d items", k.Want)}
	case *kind.AdditionalItems:
		return Violation{Keyword: "additionalItems", Message: fmt.Sprintf("must have %d items less", k.Count)}
	case *kind.UniqueItems:
		return Violation{Keyword: "uniqueItems", Message: fmt.Sprintf("must not have equal items, as at %d and %d", k.Duplicates[0], k.Duplicates[1])}
	case *kind.Contains:
		return Violation{Keyword: "contains", Message: "must have an item that the schema asks for"}
	case *kind.MinContains:
		return Violation{Keyword: "minContains", Message: fmt.Sprintf("must have at least %d items that the schema asks for", k.Want)}
	case *kind.MaxContains:
		return Violation{Keyword: "maxContains", Message: fmt.Sprintf("must have at most %d items that the schema asks for", k.Want)}
	default:
		return Violation{Keyword: strings.Join(k.KeywordPath(), "/"), Message: "does not satisfy the schema"}
	}
}

// listed names allowed values as JSON, sorted, and as many as a message can hold.
func listed(allowed []any) string {
	texts := make([]string, 0, len(allowed))
	for _, value := range allowed {
		text, err := Canonical(value)
		if err == nil {
			texts = append(texts, shorten(string(text)))
		}
	}
	slices.Sort(texts)
	if len(texts) <= maxListed {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:maxListed], ", "), len(texts)-maxListed)
}

// decimal writes a schema's number as people do: 0.1, not 1/10.
func decimal(r *big.Rat) string {
	digits, _ := r.FloatPrec()
	return shorten(r.FloatString(digits))
}
