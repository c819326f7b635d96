package snapshot

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/webhook/options"
)

const (
	header    = `{"kind":"CatalogSnapshot","version":"defaultplan/v1","taken":"2026-11-28T10:00:00Z","parameters":false,"webhook":{"unresolved":"wait","schemaCheck":"warn","featureGates":{"SuggestedPlans":false}},"lists":[{"kind":"Namespace","count":1}]}`
	namespace = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"dev"}}`
	instance  = `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"db","namespace":"dev"},"spec":{"parameters":{"big":9007199254740993}}}`
)

// TestAFileIsReadAsItWasWritten: zipped or not, with whole numbers of 64 bits.
func TestAFileIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	asked := options.New()
	asked.Unresolved = options.UnresolvedWait
	written := &Snapshot{
		Header: Header{
			Kind: headerKind, Version: headerVersion, Taken: time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC), Cluster: "uid",
			Webhook: webhookOf(asked), Lists: []List{{Kind: "ServiceInstance", Count: 1000, ResourceVersion: "7"}}, Unknown: []string{"a"},
		},
	}
	for i := range 1000 { // more than is read at once
		written.Objects = append(written.Objects, []byte(strings.Replace(instance, `"db"`, fmt.Sprintf(`"db-%d"`, i), 1)))
	}
	for _, zipped := range []bool{false, true} {
		var file bytes.Buffer
		require.NoError(t, written.Write(&file, zipped))
		read, err := Read(&file)
		require.NoError(t, err)
		assert.Equal(t, written, read)
		of, err := read.Options()
		require.NoError(t, err)
		assert.Equal(t, options.UnresolvedWait, of.Unresolved)
	}
	read, err := Read(strings.NewReader(header + "\n" + namespace + "\n"))
	require.NoError(t, err)
	of, err := read.Options()
	require.NoError(t, err)
	assert.False(t, of.Gates.Enabled(options.SuggestedPlans))
}

// TestWrongFiles: an error names the line, the field and what to do, and quotes no value.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, file, want string }{
		"Empty":      {"nothing", "", "it is empty: take a snapshot with svcat snapshot -o FILE"},
		"Other":      {"a manifest", "apiVersion: v1\nkind: Secret\n", "line 1: it is no snapshot: the header has kind CatalogSnapshot; take one with svcat snapshot -o FILE"},
		"Version":    {"a later form", `{"kind":"CatalogSnapshot","version":"defaultplan/v2"}`, `line 1: version of the header is "defaultplan/v2", and this svcat reads defaultplan/v1: use the svcat that took it, or take it again with this one`},
		"Header":     {"a field of another type", `{"kind":"CatalogSnapshot","version":"defaultplan/v1","taken":7}`, "line 1: the header cannot be read: a field is not of its type; take the snapshot again"},
		"Gate":       {"a gate that is not there", strings.Replace(header, "SuggestedPlans", "None", 1), "line 1: webhook.featureGates of the header: unrecognized feature gate: None: use the svcat that took the snapshot, or a later one"},
		"Unresolved": {"an option that is not allowed", strings.Replace(header, `"wait"`, `"maybe"`, 1), `line 1: webhook of the header: --unresolved is "maybe"; allowed are [reject wait]`},
		"Cut":        {"a line is missing", header + "\n", `the header tells of 1 "Namespace", and there are 0: the file was cut or edited; take it again`},
		"Broken":     {"cut in a line", header + "\n" + namespace[:30], "line 2: it is no JSON of an object"},
		"CutAfter":   {"cut after a text", header + "\n" + namespace[:len(namespace)-1], "line 2: it is no JSON of an object"},
		"Foreign":    {"a Secret", header + "\n" + `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"hunter2"}}`, `line 2: apiVersion and kind are "v1" and "Secret", which no snapshot has`},
		"Nameless":   {"no name", header + "\n" + namespace + "\n" + `{"apiVersion":"v1","kind":"Namespace","metadata":{}}`, "line 3: Namespace has no metadata.name"},
		"Placeless":  {"no namespace", header + "\n" + strings.Replace(instance, `,"namespace":"dev"`, "", 1), `line 2: metadata.namespace of ServiceInstance "db" is missing or wrong; give the name of a namespace`},
		"Placed":     {"a namespace too many", header + "\n" + strings.Replace(namespace, `"dev"`, `"dev","namespace":"a"`, 1), `line 2: metadata.namespace of Namespace "dev" is "a"; the kind is of no namespace`},
		"Deep":       {"nested without end", header + "\n" + strings.Repeat(`{"a":`, 501), "line 2: it is nested deeper than 500 levels"},
		"Zip":        {"no gzip", "\x1f\x8bx", "it begins as gzip does, and is not"},
		"Twice":      {"one of two would count", header + "\n" + namespace + "\n" + instance + "\n" + instance, `line 4: ServiceInstance "dev/db" is there twice, and first in line 3: the file was edited; take it again`},
		"Long":       {"a line without end", header + "\n" + strings.Repeat("x", maxLine+1), "line 2: it is longer than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(strings.NewReader(tc.file))
			require.EqualError(t, err, tc.want, tc.reason)
		})
	}
}

// TestManyObjects: a file has only so many.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	read := reading{snapshot: &Snapshot{Objects: make([][]byte, maxObjects-1)}, line: 2, counts: map[string]int{}, lines: map[string]int{}}
	require.NoError(t, read.take([]byte(namespace)))
	require.EqualError(t, read.take([]byte(namespace)), "there are more than 500000 objects")
}

// TestWhatDoesNotFitIsNotWritten: a file that svcat writes can be read.
func TestWhatDoesNotFitIsNotWritten(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range maxDepth {
		deep = []any{deep}
	}
	object := func(value any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": value}}
	}
	_, err := encode(object("x"))
	require.NoError(t, err)
	_, err = encode(object(deep))
	require.EqualError(t, err, "it is nested deeper than 500 levels")
	_, err = encode(object(strings.Repeat("x", maxLine)))
	require.EqualError(t, err, "it has 4194315 bytes, and at most 4194304 are taken")
	require.NoError(t, shallow([]byte(`{"a":"\"`+strings.Repeat("[{", maxDepth)+`"}`)), "brackets of texts do not count")
}

// FuzzRead: a file of anyone is read or refused.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", header, header + "\n" + namespace, header + "\n" + namespace + "\n" + instance} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var file bytes.Buffer
		require.NoError(t, read.Write(&file, true))
		again, err := Read(&file)
		require.NoError(t, err)
		assert.Len(t, again.Objects, len(read.Objects))
	})
}

// BenchmarkRead is of 20,000 objects.
func BenchmarkRead(b *testing.B) {
	var file bytes.Buffer
	fmt.Fprintln(&file, header)
	fmt.Fprintln(&file, namespace)
	for i := range 20_000 {
		fmt.Fprintln(&file, strings.Replace(instance, `"db"`, fmt.Sprintf(`"db-%d","labels":{"app":"shop"},"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"%s"}`, i, strings.Repeat("x", 1000)), 1))
	}
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzNameIn: an object has the name that a decoder gives it, whatever wrote the text.
func FuzzNameIn(f *testing.F) {
	for _, seed := range []string{
		namespace, instance, "{", `[]`, `{"kind":"a"}}`,
		`{"apiVersion":"v1","kind":"Namespace","kind":"Secret","metadata":{"name":"a"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},"metadata":{"name":"b"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","name":"b"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","n\u0061me":"b"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","name" :"b"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","namespace":null}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"name":"b"},"name":"a"},"spec":{"kind":"b","metadata":{"name":"c"}}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":[{"name":"a"}]}`,
		`{"apiVersion":"v1","kind":"Namespace","spec":{"a":"x\"}"},"metadata":{"name":"a"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},"spec":{"name":"b","namespace":"c"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","namespace":"b","namespace":null}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},"spec":{"a":"\"},\"kind\":\"b\",\"c\":{\"d"}}`,
		`{"apiVersion":"v1","kind":["Secret"],"kind":"Namespace","metadata":{"name":"\\\"a","namespace":"\\"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want, wrong := NameOf(text)
		got, err := nameIn(text)
		want.Spec.ExternalName, got.Spec.ExternalName = nil, nil
		if wrong == nil && shallow(text) == nil {
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	})
}
