package plans

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/merge"
)

// null is the value of a flag that clears its field.
const null = "null"

// maxWeight is the largest weight of a plan, either way.
const maxWeight = 100000

// A field is one that set changes, of a class or plan.
type field struct {
	// flag is without dashes, name that of the field in spec, and title in words.
	flag, name, title string
	// none is a value that stands for nothing: with it the field is there, and
	// another suggestion is not heard.
	none string
	// read reads the value of the flag; nil clears.
	read func(*reader, field, string) (*edit, error)
}

// fields are all of them, in the order in which they are told.
var fields = []field{
	{"type", "serviceType", "type", "", readType},
	{"provision-params", "defaultProvisionParameters", "default provision parameters", "{}", readParameters},
	{"bind-params", "defaultBindParameters", "default bind parameters", "{}", readParameters},
	{"secret-transform", "defaultSecretTransforms", "default secret transforms", "[]", readTransforms},
	{"weight", "weight", "weight", "0", readWeight},
}

// An edit is a field with its new value.
type edit struct {
	field

	// value is JSON; nil clears the field.
	value json.RawMessage
	// word is the value where it is one word that may be shown.
	word string
	// put writes it to an object.
	put func(editable)
}

// String says what is changed, for a sentence. No parameter is in it.
func (e *edit) String() string {
	switch {
	case e.value == nil:
		return e.title + " cleared"
	case e.word != "":
		return e.title + " " + e.word
	}
	return e.title + " set"
}

// wrong is the error of a value that does not fit the flag.
func (f field) wrong(format string, args ...any) error {
	return cli.Usagef("--%s: %w", f.flag, fmt.Errorf(format, args...))
}

func readType(_ *reader, f field, value string) (*edit, error) {
	if value == "" || value == null {
		return &edit{field: f, put: func(to editable) { *to.serviceType = "" }}, nil
	}
	if wrong := validation.IsDNS1123Label(value); len(wrong) > 0 {
		return nil, f.wrong("%q is no service type, which is a DNS label such as mysql: %s", value, strings.Join(wrong, "; "))
	}
	return &edit{field: f, value: quoted(value), word: value, put: func(to editable) { *to.serviceType = value }}, nil
}

func readParameters(from *reader, f field, value string) (*edit, error) {
	text, err := from.json(f, value)
	if err != nil {
		return nil, err
	}
	if text != nil && text[0] != '{' {
		return nil, f.wrong("expected an object such as {size: small}, or null")
	}
	values, err := merge.Decode(text)
	if err == nil {
		_, err = merge.Layers(merge.Layer{Name: "--" + f.flag, Values: values})
	}
	if err != nil {
		return nil, f.wrong("expected an object: %w", err)
	}
	var raw *runtime.RawExtension
	if text != nil {
		raw = &runtime.RawExtension{Raw: text}
	}
	put := func(to editable) { to.defaults.DefaultProvisionParameters = raw }
	if f.name == "defaultBindParameters" {
		put = func(to editable) { to.defaults.DefaultBindParameters = raw }
	}
	return &edit{field: f, value: text, put: put}, nil
}

func readTransforms(from *reader, f field, value string) (*edit, error) {
	text, err := from.json(f, value)
	if err != nil {
		return nil, err
	}
	transforms, err := transformsOf(text)
	if err != nil {
		return nil, f.wrong("expected a list of transforms such as [{renameKey: {from: a, to: b}}]: %w", err)
	}
	return &edit{field: f, value: text, put: func(to editable) { to.defaults.DefaultSecretTransforms = transforms }}, nil
}

// transformsOf decodes strictly: a key that the API does not know would be dropped
// there in silence.
func transformsOf(text []byte) ([]v1beta1.SecretTransform, error) {
	if text == nil {
		return nil, nil
	}
	if text[0] != '[' {
		return nil, errors.New("it is no list")
	}
	var transforms []v1beta1.SecretTransform
	unknown, err := kjson.UnmarshalStrict(text, &transforms)
	if err != nil {
		return nil, errors.New("some value in it is not of the right kind" + whereOf(err))
	}
	if len(unknown) > 0 {
		return nil, unknown[0] // It names the key, with the path to it.
	}
	if _, err := merge.Transforms(merge.TransformLayer{Name: "given", Transforms: transforms}); err != nil {
		if one, ok := errors.AsType[*merge.TransformError](err); ok {
			return nil, fmt.Errorf("[%d]: %s", one.Index, one.Detail)
		}
		return nil, err
	}
	return transforms, nil
}

// whereOf is the place in an error of decoding, without the value that it quotes.
func whereOf(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf(", at byte %d (%s)", wrong.Offset, wrong.Field)
	}
	return ""
}

func readWeight(_ *reader, f field, value string) (*edit, error) {
	if value == null {
		return &edit{field: f, put: func(to editable) { *to.weight = 0 }}, nil
	}
	var weight int32
	if err := json.Unmarshal([]byte(value), &weight); err != nil || weight > maxWeight || weight < -maxWeight {
		return nil, f.wrong("%q is no weight, which is a whole number from -%d to %d", value, maxWeight, maxWeight)
	}
	word := strconv.Itoa(int(weight))
	return &edit{field: f, value: json.RawMessage(word), word: word, put: func(to editable) { *to.weight = weight }}, nil
}

// json is the value of a flag as JSON.
func (r *reader) json(f field, value string) (json.RawMessage, error) {
	text, err := r.text(f.flag, value)
	if err != nil {
		return nil, err
	}
	text, err = asJSON(text)
	if err != nil {
		return nil, f.wrong("%w", err)
	}
	return text, nil
}

// quoted is a word as JSON. Words that are DNS labels need no escape.
func quoted(word string) json.RawMessage { return json.RawMessage(`"` + word + `"`) }
