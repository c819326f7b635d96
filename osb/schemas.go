package osb

import (
	"encoding/json"
	"errors"
)

// UnmarshalJSON reads the specification's "Schemas Object", with null or nothing in
// any place.
func (s *Schemas) UnmarshalJSON(data []byte) error {
	wrong := ""
	outer := reading{fields: map[string]json.RawMessage{"schemas": data}, wrong: &wrong}
	*s = Schemas{}
	if read := outer.schemas(); read != nil {
		*s = *read
	}
	if wrong != "" {
		return errors.New("cannot read the schemas: " + wrong)
	}
	return nil
}

// MarshalJSON writes the specification's "Schemas Object"; what is nil is left out.
func (s Schemas) MarshalJSON() ([]byte, error) {
	type (
		parameters struct {
			Parameters json.RawMessage `json:"parameters"`
		}
		methods struct {
			Create *parameters `json:"create,omitempty"`
			Update *parameters `json:"update,omitempty"`
		}
	)
	of := func(schema json.RawMessage) *parameters {
		if schema == nil {
			return nil
		}
		return &parameters{schema}
	}
	return json.Marshal(struct {
		Instance methods `json:"service_instance,omitzero"`
		Binding  methods `json:"service_binding,omitzero"`
	}{
		Instance: methods{Create: of(s.InstanceCreate), Update: of(s.InstanceUpdate)},
		Binding:  methods{Create: of(s.BindingCreate)},
	})
}
