package relist

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb"
)

// A Suggestion is a field for which a catalog proposes a value. The relist owns
// all of the field or nothing.
type Suggestion struct {
	// At is where, such as spec, serviceType.
	At []string
	// Value is ready for JSON.
	Value any
}

// path is the field as managedFields name it.
func (s *Suggestion) path() string { return pathOf(s.At...) }

// field is the field as a conflict names it.
func (s *Suggestion) field() string { return "." + strings.Join(s.At, ".") }

const (
	inSpec        = "spec"
	inMetadata    = "metadata"
	inLabels      = "labels"
	inAnnotations = "annotations"

	fieldServiceType         = "serviceType"
	fieldWeight              = "weight"
	fieldProvisionParameters = "defaultProvisionParameters"
	fieldBindParameters      = "defaultBindParameters"
	fieldSecretTransforms    = "defaultSecretTransforms"
)

func classSuggestions(of tags, metadata json.RawMessage, notes *notes) []Suggestion {
	notes.texts = append(notes.texts, of.notes...)
	return slices.Concat(typeSuggestion(of.serviceType), attributeSuggestions(of.attributes), defaultSuggestions(metadata, notes))
}

// planSuggestions of a plan always have its type, if there is any: with it, a plan
// is found without its class.
func planSuggestions(plan *readPlan, suggested bool, ofService tags) []Suggestion {
	plan.notes.texts = append(plan.notes.texts, plan.tags.notes...)
	serviceType := plan.tags.serviceType
	if serviceType == "" {
		serviceType = ofService.serviceType
	}
	all := typeSuggestion(serviceType)
	if suggested {
		all = append(all, Suggestion{[]string{inMetadata, inAnnotations, api.AnnotationSuggestedPlan}, yes})
	}
	if weight := plan.tags.weight; weight != nil && *weight != 0 {
		all = append(all, Suggestion{[]string{inSpec, fieldWeight}, int64(*weight)})
	}
	return slices.Concat(all, attributeSuggestions(plan.tags.attributes), defaultSuggestions(plan.Metadata, plan.notes))
}

func typeSuggestion(serviceType string) []Suggestion {
	if serviceType == "" {
		return nil
	}
	return []Suggestion{{[]string{inSpec, fieldServiceType}, serviceType}}
}

// keptOfClass is where a service's fields that were left out have suggestions, on the class and on its plans.
func keptOfClass(leftOut []osb.LeftOut) []string {
	if !isLeftOut(leftOut, "tags") {
		return nil
	}
	return []string{pathOf(inSpec, fieldServiceType), pathOf(inMetadata, inAnnotations, api.AnnotationSuggestedPlan)}
}

// keptOfPlan is where a plan's own fields that were left out have suggestions, and where a class's have. A plan's metadata may
// have tags, too.
func keptOfPlan(leftOut []osb.LeftOut) []string {
	var kept []string
	if isLeftOut(leftOut, "tags") || isLeftOut(leftOut, "metadata") {
		kept = append(kept, pathOf(inSpec, fieldWeight),
			pathOf(inMetadata, inLabels, api.LabelAttributePrefix), pathOf(inMetadata, inAnnotations, api.AnnotationAttributePrefix))
	}
	if isLeftOut(leftOut, "metadata") {
		kept = append(kept, pathOf(inSpec, fieldProvisionParameters), pathOf(inSpec, fieldBindParameters), pathOf(inSpec, fieldSecretTransforms))
	}
	return kept
}

func isLeftOut(leftOut []osb.LeftOut, field string) bool {
	return slices.ContainsFunc(leftOut, func(left osb.LeftOut) bool { return left.Field == field })
}

// attributeSuggestions are labels, or annotations where no label may have the value.
func attributeSuggestions(attributes []attribute) []Suggestion {
	var all []Suggestion
	for _, a := range attributes {
		at := []string{inMetadata, inLabels, api.LabelAttributePrefix + a.name}
		if len(validation.IsValidLabelValue(a.value)) > 0 {
			at = []string{inMetadata, inAnnotations, api.AnnotationAttributePrefix + a.name}
		}
		all = append(all, Suggestion{at, a.value})
	}
	return all
}

// defaultSuggestions are the defaults that metadata proposes.
func defaultSuggestions(metadata json.RawMessage, notes *notes) []Suggestion {
	var said map[string]json.RawMessage
	if len(metadata) == 0 || json.Unmarshal(metadata, &said) != nil {
		return nil
	}
	var all []Suggestion
	for _, field := range []string{fieldProvisionParameters, fieldBindParameters} {
		raw := said[field]
		values, err := merge.Decode(raw)
		if err != nil {
			notes.addf("its metadata.%s is left out: %s", field, cut(err.Error(), maxReason))
			continue
		}
		if len(values) == 0 {
			continue
		}
		value, err := decode(raw)
		if err != nil {
			notes.addf("its metadata.%s is left out: %s", field, err.Error())
			continue
		}
		all = append(all, Suggestion{[]string{inSpec, field}, value})
	}
	return append(all, transformSuggestions(said[fieldSecretTransforms], notes)...)
}
