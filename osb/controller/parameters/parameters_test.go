package parameters

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

func secretWith(name string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}

func refTo(name, key string) v1beta1.ParametersFromSource {
	return v1beta1.ParametersFromSource{SecretKeyRef: &v1beta1.SecretKeyReference{Name: name, Key: key}}
}

func TestReadParameters(t *testing.T) {
	t.Parallel()
	secrets := stored(t,
		secretWith("good", map[string]string{"p": `{"password": "hunter2", "deep": {"a": "secret"}}`, "same": `{"password": "x"}`, "yaml": "a: 1\nb: two\n", "empty": " ", "null": "null"}),
		secretWith("bad", map[string]string{"list": `["hunter2"]`, "text": "hunter2", "twice": "{\"a\": 1, \"a\": 2}", "broken": `{"password": "hunter2"`, "longkey": `{"hunter2` + strings.Repeat("k", 2048) + `":1}`, "alias": "a: &a hunter2\nb: [*a, *a]\n"}),
		secretWith("large", map[string]string{"a": `{"a":"` + strings.Repeat("x", 600<<10) + `"}`, "b": `{"b":"` + strings.Repeat("x", 600<<10) + `"}`}))
	for name, test := range map[string]struct {
		reason, spec, applied string
		from                  []v1beta1.ParametersFromSource
		raw, shown            string
		problem               string
		waits                 bool
	}{
		"None":           {reason: "nothing is sent"},
		"EmptyObject":    {reason: "none, too", spec: `{}`},
		"Null":           {reason: "none, too", spec: `null`},
		"User":           {reason: "as written, in one order", spec: `{"b": 1, "a": "x"}`, raw: `{"a":"x","b":1}`, shown: `{"a":"x","b":1}`},
		"BigNumber":      {reason: "no digit is lost", spec: `{"a": 12345678901234567890}`, raw: `{"a":12345678901234567890}`, shown: `{"a":12345678901234567890}`},
		"TakenAway":      {reason: "a null takes a default away, and is not sent", spec: `{"a": null, "b": 1}`, applied: `{"removed": ["/a"]}`, raw: `{"b":1}`, shown: `{"b":1}`},
		"NullThatIsSent": {reason: "a null where there is no default is the user's", spec: `{"a": null}`, raw: `{"a":null}`, shown: `{"a":null}`},
		"Secret": {
			reason: "its values are not shown", spec: `{"size": 1}`, from: []v1beta1.ParametersFromSource{refTo("good", "p")},
			raw: `{"deep":{"a":"secret"},"password":"hunter2","size":1}`, shown: `{"deep":"<redacted>","password":"<redacted>","size":1}`,
		},
		"SecretAlone":  {reason: "needs no spec", from: []v1beta1.ParametersFromSource{refTo("good", "yaml")}, raw: `{"a":1,"b":"two"}`, shown: `{"a":"<redacted>","b":"<redacted>"}`},
		"SecretEmpty":  {reason: "holds no parameters", from: []v1beta1.ParametersFromSource{refTo("good", "empty"), refTo("good", "null")}},
		"NoSecretRef":  {reason: "an entry may be empty", from: []v1beta1.ParametersFromSource{{}}},
		"OverADefault": {reason: "the Secret wins", spec: `{"password": "default"}`, applied: `{"from": {"/password": "class"}}`, from: []v1beta1.ParametersFromSource{refTo("good", "same")}, raw: `{"password":"x"}`, shown: `{"password":"<redacted>"}`},
		"Clash":        {reason: "the user's word is not overruled", spec: `{"password": "mine"}`, from: []v1beta1.ParametersFromSource{refTo("good", "p")}, problem: `the parameter "password" is in spec.parameters and comes from a Secret of parametersFrom as well: remove it from one`},
		"ClashInside":  {reason: "a default of which the user changed a part is the user's", spec: `{"deep": {"b": 1}}`, applied: `{"from": {"/deep/b": "class"}}`, from: []v1beta1.ParametersFromSource{refTo("good", "p")}, problem: `the parameter "deep" is in spec.parameters`},
		"TwoSecrets":   {reason: "which one applies is unknown", from: []v1beta1.ParametersFromSource{refTo("good", "p"), refTo("good", "same")}, problem: `the parameter "password" comes from two Secrets`},
		"NoSecret":     {reason: "it may come", from: []v1beta1.ParametersFromSource{refTo("absent", "p")}, problem: `the Secret "absent" of parametersFrom is not there`, waits: true},
		"NoKey":        {reason: "it may come", from: []v1beta1.ParametersFromSource{refTo("good", "absent")}, problem: `the Secret "good" of parametersFrom has no key "absent"`, waits: true},
		"List":         {reason: "not an object", from: []v1beta1.ParametersFromSource{refTo("bad", "list")}, problem: `the key "list" of Secret "bad" of parametersFrom does not hold a JSON object`, waits: true},
		"Text":         {reason: "not an object", from: []v1beta1.ParametersFromSource{refTo("bad", "text")}, problem: `does not hold a JSON object`, waits: true},
		"Twice":        {reason: "a key that is there twice", from: []v1beta1.ParametersFromSource{refTo("bad", "twice")}, problem: `does not hold a JSON object`, waits: true},
		"Broken":       {reason: "not even JSON", from: []v1beta1.ParametersFromSource{refTo("bad", "broken")}, problem: `does not hold a JSON object`, waits: true},
		"Alias":        {reason: "attack: a Secret of a megabyte means gigabytes by them", from: []v1beta1.ParametersFromSource{refTo("bad", "alias")}, problem: `does not hold a JSON object, nor YAML of one without aliases`, waits: true},
		"TooLarge":     {reason: "attack: one Secret many times, or many Secrets", from: []v1beta1.ParametersFromSource{refTo("large", "a"), refTo("large", "b")}, problem: `up to "large", hold more than 1048576 bytes`, waits: true},
		"LongKeyInIt":  {reason: "no key of a Secret is quoted", from: []v1beta1.ParametersFromSource{refTo("bad", "longkey")}, problem: `the key "longkey" of Secret "bad" of parametersFrom is beyond the limits of parameters`, waits: true},
		"LongKey":      {reason: "as admission says it", spec: `{"` + strings.Repeat("k", 2049) + `":1}`, problem: "spec.parameters: parameters have keys that are too long"},
		"NoObject":     {reason: "a spec from before admission", spec: `[1]`, problem: "spec.parameters is not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", Annotations: map[string]string{v1beta1.AnnotationAppliedDefaults: test.applied}}}
			var spec *runtime.RawExtension
			if test.spec != "" {
				spec = &runtime.RawExtension{Raw: []byte(test.spec)}
			}
			got, problem, err := NewReader(secrets).Read(t.Context(), o, spec, test.from)
			require.NoError(t, err)
			if test.problem != "" {
				require.NotNil(t, problem, test.reason)
				assert.Equal(t, reasonParameters, problem.Reason)
				assert.Contains(t, problem.Message, test.problem)
				assert.Equal(t, test.waits, problem.Waits)
				assert.NotContains(t, problem.Message, "hunter2")
				return
			}
			require.Nil(t, problem)
			assert.Equal(t, test.raw, string(got.Raw), test.reason)
			assert.Equal(t, test.shown, string(rawOf(got.Shown)))
			assert.Equal(t, test.raw != "", len(got.Checksum) == 64)
			assert.Equal(t, len(test.from) > 0, got.fromSecrets)
		})
	}
}

// What is known is kept out of messages also where a Secret is not there, and all that a broker writes
// is where the values of that one are unknown.
func TestRedactorWithoutASecret(t *testing.T) {
	t.Parallel()
	secrets := stored(t, secretWith("good", map[string]string{"p": `{"password": "hunter2"}`}))
	o := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
	got, problem, err := NewReader(secrets).Read(t.Context(), o, &runtime.RawExtension{Raw: []byte(`{"user": "eve-the-admin"}`)},
		[]v1beta1.ParametersFromSource{refTo("good", "p"), refTo("absent", "p")})
	require.NoError(t, err)
	require.NotNil(t, problem)
	said := got.Redactor.Text("eve-the-admin may not have the password hunter2")
	assert.NotContains(t, said, "hunter2")
	assert.NotContains(t, said, "eve-the-admin")

	failed := &osb.Error{Operation: "bind", StatusCode: 500, Description: "no token swordfish", Code: "swordfish", Unlawful: "type swordfish"}
	reply := lifecycle.CallResult{Err: failed, Poll: &osb.LastOperation{Description: "swordfish is too short"}}
	got.Redactor.CallResult(&reply)
	assert.NotContains(t, reply.Err.Error()+reply.Poll.Description, "swordfish", "it may be of the Secret that is not there")
	assert.Contains(t, reply.Err.Error(), "the broker answered 500")
	assert.Contains(t, reply.Poll.Description, "a Secret of parametersFrom cannot be read")
	silent := lifecycle.CallResult{Poll: &osb.LastOperation{}}
	got.Redactor.CallResult(&silent)
	assert.Empty(t, silent.Poll.Description)
}

// The values of a spec that cannot be read are unknown, and a broker may have them.
func TestRedactorWithoutASpec(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{`[1]`, `{"` + strings.Repeat("k", 2049) + `":"swordfish"}`} {
		got, problem, err := NewReader(stored(t)).Read(t.Context(), &v1beta1.ServiceInstance{}, &runtime.RawExtension{Raw: []byte(spec)}, nil)
		require.NoError(t, err)
		require.NotNil(t, problem)
		reply := lifecycle.CallResult{Poll: &osb.LastOperation{Description: "swordfish is too short"}}
		got.Redactor.CallResult(&reply)
		assert.NotContains(t, reply.Poll.Description, "swordfish")
	}
}

// A Secret that cannot be read just now is no fault of the spec.
func TestReadParametersWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	c := interceptor.NewClient(stored(t), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("the server is away")
	}})
	_, problem, err := NewReader(c).Read(t.Context(), &v1beta1.ServiceInstance{}, nil, []v1beta1.ParametersFromSource{refTo("good", "p")})
	assert.Nil(t, problem)
	assert.EqualError(t, err, `cannot read Secret "good" of parametersFrom: the server is away`)
}

func TestUnlawfulParameters(t *testing.T) {
	t.Parallel()
	const schema = `{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"size": {"type": "integer", "maximum": 5}}}`
	for name, test := range map[string]struct {
		reason, schema string
		parameters     Set
		says           string
	}{
		"Lawful":     {reason: "as the schema says", schema: schema, parameters: Set{fromSecrets: true, Values: map[string]any{"size": 3}}},
		"TooMuch":    {reason: "admission has not seen it", schema: schema, parameters: Set{fromSecrets: true, Values: map[string]any{"size": 7}}, says: "/size"},
		"NoSecrets":  {reason: "admission has seen it", schema: schema, parameters: Set{Values: map[string]any{"size": 7}}},
		"NoSchema":   {reason: "all is lawful", parameters: Set{fromSecrets: true, Values: map[string]any{"size": 7}}},
		"BadSchema":  {reason: "the broker's mistake is not the user's", schema: `{"type": 7}`, parameters: Set{fromSecrets: true, Values: map[string]any{"size": 7}}},
		"NullSchema": {reason: "as brokerapi writes none", schema: `null`, parameters: Set{fromSecrets: true, Values: map[string]any{"size": 7}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var raw *runtime.RawExtension
			if test.schema != "" {
				raw = &runtime.RawExtension{Raw: []byte(test.schema)}
			}
			problem, err := NewReader(nil).Unlawful(t.Context(), &test.parameters, raw)
			require.NoError(t, err)
			if test.says == "" {
				assert.Nil(t, problem, test.reason)
				return
			}
			require.NotNil(t, problem)
			assert.Contains(t, problem.Message, test.says)
			assert.False(t, problem.Waits)
		})
	}
}

// A schema is compiled once, also one that cannot be used, and no pass waits for it for longer than it lasts.
func TestSchemasAreKept(t *testing.T) {
	t.Parallel()
	reader := NewReader(nil)
	given := &Set{fromSecrets: true, Values: map[string]any{"size": 7}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i, schema := range []string{`{"required":["name"]}`, `{"type":7}`} {
		raw := &runtime.RawExtension{Raw: []byte(schema)}
		_, err := reader.Unlawful(ended, given, raw)
		require.ErrorIs(t, err, context.Canceled)
		for range 2 {
			_, err := reader.Unlawful(t.Context(), given, raw)
			require.NoError(t, err)
			assert.Equal(t, i+1, reader.schemas.Len())
		}
	}
}

// Few Secrets are read as YAML at once, and a pass waits for its turn no longer than it lasts; JSON waits for nothing.
func TestYAMLIsReadInTurn(t *testing.T) { // not in parallel: it takes all turns
	reader := NewReader(stored(t, secretWith("s", map[string]string{"json": `{"a":1}`, "yaml": "a: 1"})))
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
	require.NoError(t, yamlReads.Acquire(t.Context(), 2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, problem, err := reader.Read(ended, instance, nil, []v1beta1.ParametersFromSource{refTo("s", "yaml")})
	assert.Nil(t, problem, "it says nothing of the Secret")
	require.ErrorIs(t, err, context.Canceled)
	got, _, err := reader.Read(t.Context(), instance, nil, []v1beta1.ParametersFromSource{refTo("s", "json")})
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":1}`, string(got.Raw))
	yamlReads.Release(2)
	got, _, err = reader.Read(t.Context(), instance, nil, []v1beta1.ParametersFromSource{refTo("s", "yaml")})
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":1}`, string(got.Raw))
}
