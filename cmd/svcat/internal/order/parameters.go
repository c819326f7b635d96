package order

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A gift is what a person gives to a new instance or binding: parameters, and
// Secrets with more of them. No error repeats what was given: it may be secret.
type gift struct {
	params  []string
	json    string
	secrets []string
}

func (g *gift) bind(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&g.params, "param", "p", nil, "A parameter as NAME=VALUE, a text; once more with the same NAME makes a list. Not together with --params-json")
	flags.StringVar(&g.json, "params-json", "", "All parameters as a JSON object, or @FILE that holds one. Not together with --param")
	flags.StringSliceVarP(&g.secrets, "secret", "s", nil, "A Secret's key that holds a JSON object of more parameters, as SECRET[KEY]")
}

// parameters are those that were given; nil: none.
func (g *gift) parameters() (*runtime.RawExtension, error) {
	switch {
	case g.json != "" && len(g.params) > 0:
		return nil, cli.Usagef("--params-json and --param exclude each other: give one of them")
	case g.json != "":
		return parametersOf(g.json)
	case len(g.params) > 0:
		assigned, err := assignments(g.params)
		if err != nil {
			return nil, err
		}
		return rawOf(assigned)
	}
	return nil, nil
}

// assignments are NAME=VALUE as a map: texts, and lists of texts where a name comes
// again.
func assignments(params []string) (map[string]any, error) {
	assigned := map[string]any{}
	for i, param := range params {
		name, value, ok := strings.Cut(param, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			return nil, cli.Usagef(`--param: number %d is not NAME=VALUE; a value with a comma is quoted as in --param '"NAME=a,b"'`, i+1)
		}
		switch before := assigned[name].(type) {
		case nil:
			assigned[name] = value
		case string:
			assigned[name] = []string{before, value}
		case []string:
			assigned[name] = append(before, value)
		}
	}
	return assigned, nil
}

func rawOf(value any) (*runtime.RawExtension, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("cannot write parameters as JSON: %w", err)
	}
	return &runtime.RawExtension{Raw: bytes.TrimSpace(text.Bytes())}, nil
}

// parametersOf reads a JSON object, or @FILE that holds one. Its text stays as it
// is, so no number is rounded.
func parametersOf(given string) (*runtime.RawExtension, error) {
	text := []byte(given)
	if file, ok := strings.CutPrefix(given, "@"); ok {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("cannot read --params-json: %w", err)
		}
	}
	var object map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, notObject(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, cli.Usagef("--params-json goes on after its JSON object, at byte %d", decoder.InputOffset())
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, notObject(err)
	}
	return &runtime.RawExtension{Raw: compact.Bytes()}, nil
}

// notObject says where --params-json is wrong, in numbers only.
func notObject(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return cli.Usagef(`--params-json is not JSON, at byte %d; it must be an object such as '{"size": 5}'`, syntax.Offset)
	}
	return cli.Usagef(`--params-json must be a JSON object such as '{"size": 5}'`)
}

// keyOfSecret is SECRET[KEY].
var keyOfSecret = regexp.MustCompile(`^\s*([^\[\s]+)\s*\[\s*([^\]\s]+)\s*\]\s*$`)

// from are the Secrets that were given, in their order.
func (g *gift) from() ([]v1beta1.ParametersFromSource, error) {
	var sources []v1beta1.ParametersFromSource
	for i, secret := range g.secrets {
		parts := keyOfSecret.FindStringSubmatch(secret)
		if parts == nil {
			return nil, cli.Usagef("--secret: number %d is not SECRET[KEY], such as mysecret[parameters]", i+1)
		}
		sources = append(sources, v1beta1.ParametersFromSource{SecretKeyRef: &v1beta1.SecretKeyReference{Name: parts[1], Key: parts[2]}})
	}
	return sources, nil
}
