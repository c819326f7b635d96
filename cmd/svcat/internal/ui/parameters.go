package ui

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/merge"
)

// parameters are values with where they came from.
type parameters struct {
	Rows []explain.Parameter
	// Secrets are those with more of them, as NAME, key KEY. They are not read.
	Secrets []string
	// Unknown says that it is not recorded where the rows came from.
	Unknown bool
	// Truncated says that not every origin fitted into the record.
	Truncated bool
}

// fromSecret is the origin of what only a Secret has.
const fromSecret = "Secret"

// parametersOf are the parameters of an admitted object. sent is what its broker was
// sent last, nil if nothing: it shows which names came from a Secret, and no value of
// one.
func parametersOf(meta *metav1.ObjectMeta, stored *runtime.RawExtension, from []v1beta1.ParametersFromSource, sent *runtime.RawExtension) parameters {
	rows, known := explain.ParametersOf(meta, stored)
	list := parameters{Rows: rows, Unknown: !known && len(rows) > 0}
	record, err := v1beta1.ParseAppliedDefaults(meta.Annotations[v1beta1.AnnotationAppliedDefaults])
	list.Truncated = err == nil && record.Truncated
	for _, source := range from {
		if ref := source.SecretKeyRef; ref != nil {
			list.Secrets = append(list.Secrets, ref.Name+", key "+ref.Key)
		}
	}
	for name, value := range metadataOf(sent) {
		if value == v1beta1.Redacted {
			list.redact(name)
		}
	}
	slices.SortFunc(list.Rows, func(a, b explain.Parameter) int { return strings.Compare(a.Pointer, b.Pointer) })
	return list
}

// redact says of a parameter that a Secret gave its value: one that no user wrote, or a
// default, which a Secret comes before.
func (p *parameters) redact(name string) {
	at := string(merge.Pointer("").Child(name))
	row := explain.Parameter{Pointer: at, From: fromSecret, Value: v1beta1.Redacted}
	for i := range p.Rows {
		switch {
		case p.Rows[i].Pointer == at && p.Rows[i].From != "user":
			p.Rows[i] = row
			return
		case p.Rows[i].Pointer == at, strings.HasPrefix(p.Rows[i].Pointer, at+"/"):
			return
		}
	}
	p.Rows = append(p.Rows, row)
}

// A withheld value stands in the place of one that is not shown.
type withheld struct{}

// MarshalText is what is shown of it inside of another value.
func (withheld) MarshalText() ([]byte, error) { return []byte("(not shown)"), nil }

// isWithheld says that a value is not shown.
func isWithheld(value any) bool {
	_, is := value.(withheld)
	return is
}

// withhold takes the values of secret parameters out, wherever a row shows them.
func (p *parameters) withhold(secrets []merge.Pointer) {
	for i := range p.Rows {
		row := &p.Rows[i]
		for _, secret := range secrets {
			at := string(secret)
			inside, within := strings.CutPrefix(at, row.Pointer+"/")
			switch {
			case row.Pointer == at || strings.HasPrefix(row.Pointer, at+"/"):
				row.Value = withheld{}
			case within:
				row.Value = without(row.Value, merge.Pointer("/"+inside).Tokens())
			}
		}
	}
}

// without is a value whose part under the tokens is withheld; the value itself stays as
// it is.
func without(value any, tokens []string) any {
	if len(tokens) == 0 {
		return withheld{}
	}
	object, is := value.(map[string]any)
	if !is {
		return value
	}
	inner, has := object[tokens[0]]
	if !has {
		return value
	}
	object = maps.Clone(object)
	object[tokens[0]] = without(inner, tokens[1:])
	return object
}
