package order

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

// A gift is what a person gives to a new instance or binding: parameters, and
// Secrets with more of them. No error repeats what was given: it may be secret. So
// commas are split here: the flag library quotes what it cannot split.
type gift struct {
	// of goes before the names of the flags: "provision-" where the binding's own
	// instance is given something.
	of      string
	params  []string
	json    text
	secrets []string
}

// A text is the value of a flag that knows whether it was given.
type text struct {
	value string
	given bool
}

func (t *text) String() string { return t.value }

func (*text) Type() string { return "string" }

func (t *text) Set(value string) error {
	t.value, t.given = value, true
	return nil
}

func (g *gift) bind(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&g.params, "param", "p", nil, "A parameter as NAME=VALUE, a text; the same NAME again makes a list. Several may stand together, as in a=1,b=2. Not together with --params-json")
	flags.Var(&g.json, "params-json", "All parameters as a JSON object, or @FILE that holds one. Not together with --param")
	flags.StringArrayVarP(&g.secrets, "secret", "s", nil, "A Secret's key that holds a JSON object of more parameters, as SECRET[KEY]")
}

// bindOwn is bind for what the instance of a binding's own is given.
func (g *gift) bindOwn(flags *pflag.FlagSet) {
	g.of = "provision-"
	flags.StringArrayVar(&g.params, "provision-param", nil, "A parameter of the binding's own instance, as with --param. Not together with --provision-params-json")
	flags.Var(&g.json, "provision-params-json", "All parameters of the binding's own instance as a JSON object, or @FILE that holds one. Not together with --provision-param")
}

// given says whether there are any parameters.
func (g *gift) given() bool { return g.json.given || len(g.params) > 0 }

// parameters are those that were given; nil: none.
func (g *gift) parameters() (*runtime.RawExtension, error) {
	asJSON, asText := "--"+g.of+"params-json", "--"+g.of+"param"
	switch {
	case g.json.given && len(g.params) > 0:
		return nil, cli.Usagef("%s and %s exclude each other: give one of them", asJSON, asText)
	case g.json.given:
		return parametersOf(asJSON, g.json.value)
	case len(g.params) > 0:
		assigned, err := assignments(asText, g.params)
		if err != nil {
			return nil, err
		}
		return rawOf(assigned)
	}
	return nil, nil
}

// assignments are NAME=VALUE as a map: texts, and lists of texts where a name comes
// again.
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

// from are the Secrets that were given, in their order.
func (g *gift) from() ([]v1beta1.ParametersFromSource, error) {
	var sources []v1beta1.ParametersFromSource
	if len(g.secrets) == 0 {
		return nil, nil
	}
	for i, secret := range strings.Split(strings.Join(g.secrets, ","), ",") {
		parts := keyOfSecret.FindStringSubmatch(secret)
		if parts == nil {
			return nil, cli.Usagef("--secret: number %d is not SECRET[KEY], such as mysecret[parameters]", i+1)
		}
		sources = append(sources, v1beta1.ParametersFromSource{SecretKeyRef: &v1beta1.SecretKeyReference{Name: parts[1], Key: parts[2]}})
	}
	return sources, nil
}
