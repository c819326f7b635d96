package parameters

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/merge"
)

// Flags are those that give parameters to a new instance or binding: NAME=VALUE, a JSON
// object, and Secrets that hold more.
type Flags struct {
	// Params are the values of --param, NAME=VALUE each.
	Params []string

	// prefix goes before the names of the flags: "provision-" for the parameters of a
	// binding's own instance.
	prefix  string
	json    text
	secrets []string
}

// A text is the value of a flag that knows whether it was set: an empty value is an error.
type text struct {
	value string
	set   bool
}

func (t *text) String() string { return t.value }

func (*text) Type() string { return "string" }

func (t *text) Set(value string) error {
	t.value, t.set = value, true
	return nil
}

// Bind adds the flags for the parameters of what is created itself.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	f.BindValues(flags)
	flags.StringArrayVarP(&f.secrets, "secret", "s", nil, "A Secret's key that holds a JSON object of more parameters, as SECRET[KEY]")
}

// BindValues adds the flags for parameters that are no secret.
func (f *Flags) BindValues(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&f.Params, "param", "p", nil, "A parameter as NAME=VALUE, a text; the same NAME again makes a list. Several may stand together, as in a=1,b=2. Not together with --params-json")
	flags.Var(&f.json, "params-json", "All parameters as a JSON object, or @FILE that holds one. Not together with --param")
}

// BindProvision adds the flags for the parameters of a binding's own instance.
func (f *Flags) BindProvision(flags *pflag.FlagSet) {
	f.prefix = "provision-"
	flags.StringArrayVar(&f.Params, "provision-param", nil, "A parameter of the binding's own instance, as with --param. Not together with --provision-params-json")
	flags.Var(&f.json, "provision-params-json", "All parameters of the binding's own instance as a JSON object, or @FILE that holds one. Not together with --provision-param")
}

// Given says whether there are any parameters.
func (f *Flags) Given() bool { return f.json.set || len(f.Params) > 0 }

// Parameters are those that were given; nil: none.
func (f *Flags) Parameters() (*runtime.RawExtension, error) {
	asJSON, asText := "--"+f.prefix+"params-json", "--"+f.prefix+"param"
	switch {
	case f.json.set && len(f.Params) > 0:
		return nil, cli.Usagef("%s and %s exclude each other: give one of them", asJSON, asText)
	case f.json.set:
		return parametersOf(asJSON, f.json.value)
	case len(f.Params) > 0:
		assigned, err := assignments(asText, f.Params)
		if err != nil {
			return nil, err
		}
		return rawOf(assigned)
	}
	return nil, nil
}

// assignments returns NAME=VALUE as a map: strings, and lists of strings where a name is
// repeated.
func assignments(flag string, params []string) (map[string]any, error) {
	assigned := map[string]any{}
	for i, param := range split(params) {
		name, value, ok := assignment(param)
		if !ok {
			return nil, cli.Usagef(`%s: number %d is not NAME=VALUE, such as location=westus`, flag, i+1)
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

// assignment is NAME=VALUE; a NAME in quotes is one that the shell was to take off.
func assignment(param string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(param, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	return name, value, ok && name != "" && !strings.HasPrefix(name, `"`)
}

// split takes apart what stands together, as the older svcat did: at the commas that
// are not in double quotes, if what is between them is NAME=VALUE each. Any other comma
// is part of a value.
func split(params []string) []string {
	var all []string
	for _, param := range params {
		lines, err := csv.NewReader(strings.NewReader(param)).ReadAll()
		if err != nil || len(lines) != 1 || slices.ContainsFunc(lines[0], func(one string) bool { _, _, ok := assignment(one); return !ok }) {
			all = append(all, param)
			continue
		}
		all = append(all, lines[0]...)
	}
	return all
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

// parametersOf reads a JSON object, or @FILE that holds one, as strictly as admission
// does. Its text is sent as it is; whole numbers that the API server would round are
// refused.
func parametersOf(flag, given string) (*runtime.RawExtension, error) {
	raw := []byte(given)
	if file, ok := strings.CutPrefix(given, "@"); ok {
		var err error
		if raw, err = cli.ReadFile(file); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", flag, err)
		}
	}
	object, err := merge.Decode(raw)
	if err == nil && object == nil {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = unrounded(object)
	}
	if err != nil {
		return nil, cli.Usagef(`%s: %w; give a JSON object such as '{"size": 5}'`, flag, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, cli.Usagef("%s cannot be compacted: it is not JSON", flag)
	}
	return &runtime.RawExtension{Raw: compact.Bytes()}, nil
}

// unrounded refuses numbers that the API server does not keep: it holds whole ones in 64
// bits with a sign, and all others as floating-point numbers of 64 bits.
func unrounded(value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := unrounded(v[name]); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := unrounded(item); err != nil {
				return err
			}
		}
	case json.Number:
		_, err := v.Int64()
		if strings.ContainsAny(v.String(), ".eE") {
			_, err = v.Float64()
		}
		if err != nil {
			return errors.New("it has a number that is too large to be kept as it is: write it as a text")
		}
	}
	return nil
}

// keyOfSecret is SECRET[KEY].
var keyOfSecret = regexp.MustCompile(`^\s*([^\[\s]+)\s*\[\s*([^\]\s]+)\s*\]\s*$`)

// From are the Secrets that were given, in their order.
func (f *Flags) From() ([]v1beta1.ParametersFromSource, error) {
	var sources []v1beta1.ParametersFromSource
	if len(f.secrets) == 0 {
		return nil, nil
	}
	for i, secret := range strings.Split(strings.Join(f.secrets, ","), ",") {
		parts := keyOfSecret.FindStringSubmatch(secret)
		if parts == nil {
			return nil, cli.Usagef("--secret: number %d is not SECRET[KEY], such as mysecret[parameters]", i+1)
		}
		sources = append(sources, v1beta1.ParametersFromSource{SecretKeyRef: &v1beta1.SecretKeyReference{Name: parts[1], Key: parts[2]}})
	}
	return sources, nil
}
