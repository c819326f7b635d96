package ui

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A filter is one choice by which a table of plans is narrowed. It is a parameter of the
// page's address, so that it works without a script and can be kept as a bookmark.
type filter struct {
	// Name is the parameter, and Value what it asks for; empty for everything.
	Name, Label, Value string
	Options            []option

	// open says that other values than those of the options are not wrong: they only
	// fit nothing.
	open bool
	of   func(*offer) string
}

// A filterError is about a value that no filter has.
type filterError struct{ filter *filter }

// Error names the parameter and what is allowed. It does not repeat the value, which whatever
// linked to this page has written.
func (e *filterError) Error() string {
	var allowed []string
	for _, one := range e.filter.Options {
		allowed = append(allowed, one.Value)
	}
	return fmt.Sprintf("The parameter %q of the address is none of %s.\n→ Leave it out to see all plans.", e.filter.Name, strings.Join(allowed, ", "))
}

// filtersOf are the filters for plans; the types to choose from are those of the plans.
func filtersOf(rows []offer) []filter {
	answers := []option{{Value: "yes", Label: "yes"}, {Value: "no", Label: "no"}}
	return []filter{
		{Name: "free", Label: "Free", Options: answers, of: func(o *offer) string { return yesOrNo(o.Free) }},
		{Name: "bindable", Label: "Can be bound", Options: answers, of: func(o *offer) string { return yesOrNo(o.Bindable) }},
		{Name: "type", Label: "Type", Options: typesOf(rows), open: true, of: func(o *offer) string { return o.Type }},
		{
			Name: "scope", Label: "Scope", of: scopeOf,
			Options: []option{{Value: ofCluster, Label: "cluster"}, {Value: ofNamespace, Label: "this namespace"}},
		},
	}
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// scopeOf is the scope of a plan as it stands in addresses.
func scopeOf(o *offer) string {
	scope, _, _ := strings.Cut(strings.TrimPrefix(o.Link, plansPath), "/")
	return scope
}

func typesOf(rows []offer) []option {
	var names []string
	for i := range rows {
		if rows[i].Type != "" {
			names = append(names, rows[i].Type)
		}
	}
	slices.Sort(names)
	var options []option
	for _, name := range slices.Compact(names) {
		options = append(options, option{Value: name, Label: name})
	}
	return options
}

// filtered are the filters as a page's address sets them, and the plans that fit all of them.
func filtered(rows []offer, asked url.Values) (filters []filter, fit []offer, err error) {
	filters, fit = filtersOf(rows), rows
	for i := range filters {
		one := &filters[i]
		one.Value = asked.Get(one.Name)
		if one.Value == "" {
			continue
		}
		if !one.choose() {
			return nil, nil, &filterError{one}
		}
		fit = slices.DeleteFunc(slices.Clone(fit), func(o offer) bool { return one.of(&o) != one.Value })
	}
	return filters, fit, nil
}

// choose marks the option that is asked for; false if there is none.
func (f *filter) choose() bool {
	f.Options = slices.Clone(f.Options)
	at := slices.IndexFunc(f.Options, func(o option) bool { return o.Value == f.Value })
	if at < 0 && f.open {
		at, f.Options = len(f.Options), append(f.Options, option{Value: f.Value, Label: f.Value})
	}
	if at < 0 {
		return false
	}
	f.Options[at].Chosen = true
	return true
}
