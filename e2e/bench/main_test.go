package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/bench/page"
)

// TestSizes: each size is given for both kinds of runs, and the smallest are no larger.
func TestSizes(t *testing.T) {
	t.Parallel()
	var compare func(path string, least, full reflect.Value)
	compare = func(path string, least, full reflect.Value) {
		switch full.Kind() {
		case reflect.Struct:
			for i := range full.NumField() {
				compare(path+"."+full.Type().Field(i).Name, least.Field(i), full.Field(i))
			}
		case reflect.Slice:
			require.Positive(t, least.Len(), path)
			compare(path, least.Index(0), full.Index(0))
		case reflect.Bool:
			assert.NotEqual(t, least.Bool(), full.Bool(), path)
		default:
			assert.Positive(t, least.Int(), path)
			assert.LessOrEqual(t, least.Int(), full.Int(), path)
		}
	}
	compare("sizes", reflect.ValueOf(smallest), reflect.ValueOf(judged))
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		bench  bench
		says   string
	}{
		"Judged":      {reason: "the default", bench: bench{scale: []int{1000, 10_000}}},
		"Smallest":    {reason: "its sizes are fixed", bench: bench{smallest: true}},
		"Published":   {reason: "what judges no goal is not published", bench: bench{smallest: true, page: "a.md"}, says: "--page goes neither with --smallest"},
		"FewPairs":    {reason: "it is not what the goals are judged by", bench: bench{pairs: 1, page: "a.md", scale: []int{1}}, says: "nor with --pairs"},
		"Twice":       {reason: "what each further one takes would be divided by none", bench: bench{scale: []int{10, 10}}, says: "each larger than the one before"},
		"Descending":  {reason: "the stack is filled up", bench: bench{scale: []int{10, 1}}, says: "each larger than the one before"},
		"NoInstances": {reason: "a curve has a point", bench: bench{}, says: "--scale is []"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.bench.choose()
			if test.says == "" {
				require.NoError(t, err, test.reason)
				return
			}
			require.ErrorContains(t, err, test.says, test.reason)
		})
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	all, err := (&bench{}).wanted()
	require.NoError(t, err)
	assert.Len(t, all, len(stages))
	some, err := (&bench{only: []string{"rest", "reviews"}}).wanted()
	require.NoError(t, err)
	assert.Equal(t, "rest", some[0].name)
	_, err = (&bench{only: []string{"rest", "none"}}).wanted()
	require.ErrorContains(t, err, `--only has "none"; allowed are reviews, bindings,`)
}

// TestPage: docs/performance.md names each part, and has a block to write.
func TestPage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/performance.md")
	require.NoError(t, err)
	by, _, _ := strings.Cut(string(content), "## Results")
	for _, s := range stages {
		assert.True(t, strings.Contains(by, "`"+s.name+"`"), "docs/performance.md does not say what part %s measures", s.name) //nolint:testifylint // Contains prints the whole page
	}
	_, err = page.Write(string(content), strings.Split(partNames(), ", "), nil)
	require.NoError(t, err)
}

func TestRequests(t *testing.T) {
	t.Parallel()
	before := requests{{"GET", "leases", ""}: 1}
	after := requests{
		{"GET", "leases", ""}: 3, {"PATCH", "serviceinstances", "status"}: 20, {"POST", "events", ""}: 10, {"PUT", "leases", ""}: 5,
		{"POST", "tokenreviews", ""}: 4, {"LIST", "serviceinstances", ""}: 2, {"WATCH", "serviceinstances", ""}: 100,
	}
	spent := after.since(before)
	assert.InDelta(t, 30, spent.allWrites(), 0, "no Leases, and nothing that is not stored")
	assert.InDelta(t, 20, spent.objects("PATCH", "status"), 0)
	assert.InDelta(t, 10, spent.writes("events"), 0)
	assert.InDelta(t, 2, spent.reads(), 0)
	assert.Equal(t, "GET leases 0.20, LIST serviceinstances 0.20, PATCH serviceinstances/status 2.00, POST events 1.00, POST tokenreviews 0.40, PUT leases 0.50", spent.per(10))
}
