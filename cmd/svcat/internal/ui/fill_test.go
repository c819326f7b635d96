package ui

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/merge"
)

// made is the mark in a form.
var made = regexp.MustCompile(`name="made" value="([0-9a-f]+)"`)

// fill is what a browser sends of a plan's form: in it p/POINTER stands for the field of
// a parameter.
func (v *visitor) fill(path string, form url.Values) url.Values {
	v.Helper()
	_, body := v.get(path)
	plan, _, _ := strings.Cut(path[strings.LastIndex(path, "/")+1:], "?")
	mark := made.FindStringSubmatch(body)
	require.NotNil(v, mark, body)
	filled := url.Values{"made": {mark[1]}}
	for _, object := range v.cluster.objects {
		if object.GetName() != plan {
			continue
		}
		spec, _, err := unstructured.NestedMap(object.Object, "spec", "instanceCreateParameterSchema")
		require.NoError(v, err)
		names := namesOf(fieldsOf([]byte(compact(spec)), &merge.Result{}))
		for name, values := range form {
			if pointer, is := strings.CutPrefix(name, "p/"); is {
				name = names["/"+pointer]
				require.NotEmpty(v, name, pointer)
			}
			filled[name] = values
		}
	}
	return filled
}
