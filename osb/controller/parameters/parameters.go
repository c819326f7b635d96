package parameters

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"
	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/merge/schemacache"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// reasonParameters is that of everything that is wrong with parameters.
const reasonParameters = "ErrorWithParameters"

// A Set is what is sent to a broker.
type Set struct {
	// Raw is the JSON object; nil: none.
	Raw json.RawMessage
	// Shown is the same with the values from Secrets redacted.
	Shown *runtime.RawExtension
	// Checksum is of Raw; empty for none.
	Checksum string
	// Values is Raw, decoded.
	Values map[string]any
	// fromSecrets says that some come from Secrets, so that admission has not seen the
	// whole.
	fromSecrets bool
	Redactor    Redactor
}

// A Reader reads the Secrets that parameters come from, and validates
// the whole by schemas.
type Reader struct {
	live    client.Reader
	schemas *schemacache.Cache
}

// NewReader returns the reader of a controller: instances and bindings share its schemas.
func NewReader(live client.Reader) Reader {
	return Reader{live: live, schemas: schemacache.New(func(int) {})}
}

// Read merges what is sent to a broker: the parameters of spec, without the
// defaults that a null removed, and those of Secrets. A Secret's key overrides
// a default of that name; a conflict with the user's own is a problem.
func (p Reader) Read(ctx context.Context, o client.Object, spec *runtime.RawExtension, from []v1beta1.ParametersFromSource) (Set, *lifecycle.Problem, error) {
	values, err := decoded(rawOf(spec))
	if beyond, ok := errors.AsType[*merge.LimitError](err); ok {
		return Set{Redactor: partly(nil, nil)}, problemf("spec.parameters: %s", beyond.Error()), nil
	}
	if err != nil {
		return Set{Redactor: partly(nil, nil)}, problemf("spec.parameters is not a JSON object"), nil //nolint:nilerr // the error may quote what must not be told
	}
	applied, _ := v1beta1.ParseAppliedDefaults(o.GetAnnotations()[v1beta1.AnnotationAppliedDefaults])
	values = overlaid(merge.Without(values, pointers(applied.Removed)), nil) // a map of its own, to write to
	shown := maps.Clone(values)
	given, secret, room := map[string]string{}, map[string]any{}, maxFromSecrets
	for i := range from {
		ref := from[i].SecretKeyRef
		if ref == nil {
			continue
		}
		add, problem, err := p.secret(ctx, o.GetNamespace(), ref, &room)
		if problem != nil || err != nil {
			return Set{Redactor: partly(values, secret)}, problem, err
		}
		for _, key := range slices.Sorted(maps.Keys(add)) {
			if problem := clash(key, values, applied, given); problem != nil {
				return Set{Redactor: partly(overlaid(values, add), overlaid(secret, add))}, problem, nil
			}
		}
		for key, value := range add {
			given[key], shown[key] = ref.Name, v1beta1.Redacted
			values[key], secret[key] = value, value
		}
	}
	return put(values, shown, secret, len(from) > 0)
}

// put encodes what was put together.
func put(values, shown, secret map[string]any, fromSecrets bool) (Set, *lifecycle.Problem, error) {
	p := Set{Values: values, fromSecrets: fromSecrets, Redactor: redactorOf(values, secret)}
	if len(values) == 0 {
		return p, nil, nil
	}
	raw, err := merge.Canonical(values)
	if err != nil {
		return Set{}, nil, fmt.Errorf("cannot encode parameters: %w", err)
	}
	checksum, err := merge.Checksum(values)
	if err != nil {
		return Set{}, nil, fmt.Errorf("cannot encode parameters: %w", err)
	}
	text, err := merge.Canonical(shown)
	if err != nil {
		return Set{}, nil, fmt.Errorf("cannot encode parameters: %w", err)
	}
	p.Raw, p.Shown, p.Checksum = raw, &runtime.RawExtension{Raw: text}, checksum
	return p, nil, nil
}

func decoded(raw []byte) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	return merge.Decode(raw)
}

func pointers(texts []string) []merge.Pointer {
	var all []merge.Pointer
	for _, text := range texts {
		all = append(all, merge.Pointer(text))
	}
	return all
}

// overlaid is one object with another's keys over it.
func overlaid(values, over map[string]any) map[string]any {
	result := maps.Clone(values)
	if result == nil {
		result = map[string]any{}
	}
	maps.Copy(result, over)
	return result
}

// clash says that a Secret gives a key that is taken: by the user, or by
// another Secret. A key is a default's if the whole of its value was given by
// class or plan.
func clash(key string, values map[string]any, applied v1beta1.AppliedDefaults, given map[string]string) *lifecycle.Problem {
	if other, ok := given[key]; ok {
		return problemf("the parameter %q comes from two Secrets of parametersFrom, of which one is %q: remove it from one", key, other)
	}
	if _, ok := values[key]; !ok {
		return nil
	}
	if _, isDefault := applied.From[string(merge.Pointer("").Child(key))]; isDefault {
		return nil
	}
	return problemf("the parameter %q is in spec.parameters and comes from a Secret of parametersFrom as well: remove it from one", key)
}

func problemf(format string, args ...any) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: reasonParameters, Message: fmt.Sprintf(format, args...)}
}

// maxFromSecrets is how many bytes all sources of an object's parameters may have: what one
// Secret may.
const maxFromSecrets = corev1.MaxSecretSize

// secret reads the object of parameters in one key of a Secret, as JSON or
// YAML, and subtracts its size from the remaining limit. No error quotes its
// content.
func (p Reader) secret(ctx context.Context, namespace string, ref *v1beta1.SecretKeyReference, room *int) (map[string]any, *lifecycle.Problem, error) {
	var secret corev1.Secret
	err := p.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, &lifecycle.Problem{Reason: reasonParameters, Waits: true, Message: fmt.Sprintf("the Secret %q of parametersFrom is not there", ref.Name)}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read Secret %q of parametersFrom: %w", ref.Name, err)
	}
	content, ok := secret.Data[ref.Key]
	if !ok {
		return nil, &lifecycle.Problem{Reason: reasonParameters, Waits: true, Message: fmt.Sprintf("the Secret %q of parametersFrom has no key %q", ref.Name, ref.Key)}, nil
	}
	if *room -= len(content); *room < 0 {
		return nil, &lifecycle.Problem{
			Reason: reasonParameters, Waits: true, Message: fmt.Sprintf("the Secrets of parametersFrom, up to %q, hold more than %d bytes: make them smaller", ref.Name, maxFromSecrets),
		}, nil
	}
	values, err := decoded([]byte(strings.TrimSpace(string(content))))
	if err != nil && !beyondLimits(err) {
		if err := yamlReads.Acquire(ctx, 1); err != nil {
			return nil, nil, fmt.Errorf("cannot read the YAML of Secret %q of parametersFrom in time: %w", ref.Name, err)
		}
		defer yamlReads.Release(1)
		values, err = ofYAML(content)
	}
	if err == nil {
		return values, nil, nil
	}
	what := "does not hold a JSON object, nor YAML of one without aliases"
	if beyondLimits(err) {
		what = "is beyond the limits of parameters: 64 levels, 256 KiB, and 2 KiB for all keys on the way to a value"
	}
	return nil, &lifecycle.Problem{
		Reason: reasonParameters, Waits: true, Message: fmt.Sprintf("the key %q of Secret %q of parametersFrom %s", ref.Key, ref.Name, what),
	}, nil
}

// beyondLimits says that parameters are too deep, too large, or have keys that are too long.
func beyondLimits(err error) bool {
	_, ok := errors.AsType[*merge.LimitError](err)
	return ok
}

// yamlReads are those that run now: a MiB of YAML may take a hundred MiB while it is read.
var yamlReads = semaphore.NewWeighted(2)

var errAlias = errors.New("it has an alias")

// ofYAML reads an object of parameters from YAML. Aliases are rejected: with
// them a text of a few hundred kilobytes can expand to gigabytes.
func ofYAML(content []byte) (map[string]any, error) {
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("cannot read YAML: %w", err)
	}
	if hasAlias(&document) {
		return nil, errAlias
	}
	asJSON, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return nil, fmt.Errorf("cannot read YAML: %w", err)
	}
	return decoded(asJSON)
}

func hasAlias(node *yamlv3.Node) bool {
	return node.Kind == yamlv3.AliasNode || slices.ContainsFunc(node.Content, hasAlias)
}

// longestCompilation is how long a pass waits for the compilation of a schema,
// which may be queued. The pass is repeated after a pause, and the worker is
// free meanwhile.
const longestCompilation = 10 * time.Second

// Unlawful validates all of the parameters by a schema, because admission has
// only checked what does not come from Secrets. A schema that cannot be used is
// no problem. The error is that it was not compiled in time.
func (p Reader) Unlawful(ctx context.Context, given *Set, schema *runtime.RawExtension) (*lifecycle.Problem, error) {
	if !given.fromSecrets || len(rawOf(schema)) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestCompilation)
	defer cancel()
	sum := sha256.Sum256(schema.Raw)
	compiled, err := p.schemas.Of(ctx, string(sum[:]), schema.Raw)
	if err != nil {
		return nil, err
	}
	report, unusable := compiled.Check(given.Values)
	if unusable != nil || report.Total == 0 {
		return nil, nil
	}
	var said []string
	for _, v := range report.Violations {
		said = append(said, fmt.Sprintf("%s %s", v.Pointer, v.Message))
	}
	return problemf("the parameters, with those of parametersFrom, are not as the plan's schema says: %s", strings.Join(said, "; ")), nil
}

// rawOf is the JSON text of an object; nil of none.
func rawOf(extension *runtime.RawExtension) []byte {
	if extension == nil {
		return nil
	}
	return extension.Raw
}
