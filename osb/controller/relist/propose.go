package relist

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A proposal has the suggestions of an object that are to be applied.
type proposal struct {
	fields []Suggestion
	// needed says that it differs from what is stored.
	needed bool
}

// propose leaves out what another manager owns, or what was written without
// managedFields. No write is needed if the relist owns exactly the rest, with
// their values.
func propose(live *found, object *Object) proposal {
	mine := appliedBy(live.GetManagedFields(), api.FieldOwnerSuggestions)
	suggestions := append(slices.Clone(object.Suggestions), kept(live, mine, object)...)
	if len(suggestions) == 0 {
		return proposal{needed: len(mine) > 0}
	}
	others := ownedByOthers(live.GetManagedFields(), api.FieldOwnerSuggestions)
	var p proposal
	wanted := fieldSet{}
	for i := range suggestions {
		s := &suggestions[i]
		stored := live.value(s.At)
		if others.holds(s.path()) || stored != nil && !mine[s.path()] {
			continue
		}
		p.fields = append(p.fields, *s)
		wanted[s.path()] = true
		p.needed = p.needed || !sameValue(stored, s.Value)
	}
	p.needed = p.needed || !mine.equal(wanted)
	return p
}

// kept are the stored suggestions whose source in the catalog could not be
// read: it is unknown whether the catalog still makes them.
func kept(live *found, mine fieldSet, object *Object) []Suggestion {
	said := fieldSet{}
	for i := range object.Suggestions {
		said[object.Suggestions[i].path()] = true
	}
	var stay []Suggestion
	for _, path := range slices.Sorted(maps.Keys(mine)) {
		if said[path] || !slices.ContainsFunc(object.Kept, func(at string) bool { return strings.HasPrefix(path, at) }) {
			continue
		}
		s := Suggestion{At: namesOf(path)}
		if s.Value = live.value(s.At); s.Value != nil {
			stay = append(stay, s)
		}
	}
	return stay
}

func sameValue(a, b any) bool { return a != nil && bytes.Equal(applied(a), applied(b)) }

// without leaves out the fields that a conflict names; false if it names none.
func (p proposal) without(conflict error) (proposal, bool) {
	status := apierrors.APIStatus(nil)
	if !errors.As(conflict, &status) || status.Status().Details == nil {
		return p, false
	}
	foreign := map[string]bool{}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			foreign[cause.Field] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(p.fields), func(s Suggestion) bool { return foreign[s.field()] })
	return proposal{fields: left, needed: true}, len(left) < len(p.fields)
}

// withType keeps the stored type: if the type affects a default, a change
// requires a permission.
func (p proposal) withType(live *found) proposal {
	mine := appliedBy(live.GetManagedFields(), api.FieldOwnerSuggestions)
	at := []string{inSpec, fieldServiceType}
	kept := Suggestion{at, live.serviceType}
	left := slices.DeleteFunc(slices.Clone(p.fields), func(s Suggestion) bool { return s.path() == kept.path() })
	if mine[kept.path()] {
		left = append(left, kept)
	}
	return proposal{fields: left, needed: true}
}

// typeIn is the type that is to be applied; empty if none is.
func (p proposal) typeIn() string {
	for i := range p.fields {
		if p.fields[i].path() == pathOf(inSpec, fieldServiceType) {
			suggested, _ := p.fields[i].Value.(string)
			return suggested
		}
	}
	return ""
}

// ofType says that admission forbids the type of a plan: its refusal names the field.
func ofType(err error) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Field == inSpec+"."+fieldServiceType
	})
}
