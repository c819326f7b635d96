package controller

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// differs lists how an instance at the broker differs from what is desired, by
// names and never by values. What the broker does not report counts as equal,
// and what it adds is ignored. Another maintenance version is no difference: it
// is recorded, and updated when the spec asks for it.
func (q *instanceRequest) differs(found *osb.Instance) string {
	var differences []string
	if found.ServiceID != "" && found.ServiceID != q.desired.ClassExternalID {
		differences = append(differences, "it is of another class")
	}
	if found.PlanID != "" && found.PlanID != q.desired.PlanExternalID {
		differences = append(differences, "it is of another plan")
	}
	return strings.Join(append(differences, otherValues(q.parameters.Values, found.Parameters)...), "; ")
}

// otherValues names the parameters that have another value at the broker than is desired.
func otherValues(desired map[string]any, found json.RawMessage) []string {
	if len(found) == 0 {
		return nil
	}
	told, err := merge.Decode(found)
	if err != nil {
		return nil
	}
	var differences []string
	for _, key := range slices.Sorted(maps.Keys(desired)) {
		has, is := told[key]
		if is && !equalJSON(has, desired[key]) {
			differences = append(differences, fmt.Sprintf("its parameter %q has another value", key))
		}
	}
	const most = 10
	if more := len(differences) - most; more > 0 {
		return append(differences[:most], fmt.Sprintf("and so have %d more", more))
	}
	return differences
}

// toAdopt says whether the instance is to be adopted: nothing is provisioned,
// the spec is only compared.
func toAdopt(thing *lifecycle.Resource) bool { return thing.Adopts() && !thing.Record.Exists }

// equalJSON compares the meaning of JSON: 1 equals 1.0, because brokers are
// written in many languages.
func equalJSON(a, b any) bool {
	x, errX := plain(a)
	y, errY := plain(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// plain is a value as encoding/json decodes it into an any.
func plain(value any) (read any, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a parameter: %w", err)
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("cannot decode a parameter: %w", err)
	}
	return read, nil
}
