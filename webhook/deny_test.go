package webhook

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/review"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenDenials = "testdata/denials.golden"

// A denialCase is a write that is refused.
type denialCase struct {
	catalog string
	edits   []func(*stock)
	// create is the spec of a new instance. Where write or put is set, it is stored first.
	create string
	// live and asked change the catalog and the env between the two.
	later  string
	adjust func(*env)
	write  string
	put    string
	// unseen has the API server not ask the mutating phase about write.
	unseen bool
	// namespaced tries the case in a namespace, too.
	namespaced bool
}

// deny returns the refusal.
func (tc denialCase) deny(t *testing.T) *outcome {
	t.Helper()
	w := stocked(t, tc.catalog, tc.edits...).env()
	if tc.write == "" && tc.put == "" {
		if tc.adjust != nil {
			tc.adjust(w)
		}
		return w.create(tc.create)
	}
	stored := w.created(tc.create)
	if tc.later != "" {
		w.restock(stocked(t, tc.later))
	}
	if tc.adjust != nil {
		tc.adjust(w)
	}
	if tc.put != "" {
		return w.write(instanceOf(tc.put), stored)
	}
	if tc.unseen {
		return w.unseen(changed(t, stored, tc.write), stored)
	}
	return w.write(changed(t, stored, tc.write), stored)
}

func (tc denialCase) inNamespace() denialCase {
	scoped := updateCase{catalog: tc.catalog, later: tc.later, create: tc.create, write: tc.write, put: tc.put}.scoped(true)
	tc.catalog, tc.later, tc.create, tc.write, tc.put = scoped.catalog, scoped.later, scoped.create, scoped.write, scoped.put
	return tc
}

// render is a refusal as the API server gets it: kubectl shows either the causes or the message.
func (o *outcome) render(name string) string {
	status, phase, label := o.denied(), review.Mutating, o.mutate.outcome
	if o.mutate.Allowed {
		phase, label = review.Validating, o.validate.outcome
	}
	var text strings.Builder
	fmt.Fprintf(&text, "### %s\n%s %s: %d %s\n", name, phase, label, status.Code, status.Reason)
	for _, cause := range status.Details.Causes {
		fmt.Fprintf(&text, "[%s] %s\n", cause.Field, strings.ReplaceAll(cause.Message, "\n", "\n    "))
	}
	fmt.Fprintf(&text, "--- %s %q\n%s\n\n", status.Details.Kind, status.Details.Name, status.Message)
	return text.String()
}

// Every refusal, as people read it.
func TestDenials(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	cases := denialCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		scopes := []denialCase{cases[name]}
		if cases[name].namespaced {
			scopes = append(scopes, cases[name].inNamespace())
		}
		for i, tc := range scopes {
			title := name + []string{"", "InNamespace"}[i]
			o := tc.deny(t)
			if o.denied() == nil {
				require.FailNow(t, "admitted", "%s: %q\n%s", title, o.warnings(), o.stored)
			}
			text.WriteString(o.render(title))
		}
	}
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(goldenDenials), 0o755))
		require.NoError(t, os.WriteFile(goldenDenials, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(goldenDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "run the test with -update and read the difference")
}

// No refusal is without its golden text.
func TestEveryLabelIsGolden(t *testing.T) {
	t.Parallel()
	var golden strings.Builder
	texts, err := filepath.Glob("testdata/denials*.golden")
	require.NoError(t, err)
	for _, file := range texts {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		golden.Write(text)
	}
	labels := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	below, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	files = append(files, below...)
	called := regexp.MustCompile(`(?:(?:Invalid|Forbidden)\(|[lL]abel: *)"([A-Za-z]+)"`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range called.FindAllStringSubmatch(string(source), -1) {
			labels[found[1]] = true
		}
	}
	require.Greater(t, len(labels), 40)
	for _, reason := range []resolve.Reason{
		resolve.NothingNamed, resolve.InvalidReference, resolve.InvalidSelector, resolve.ClassNotFound, resolve.PlanNotFound, resolve.Unusable,
		resolve.ClassMismatch, resolve.TypeMismatch, resolve.Ambiguous, resolve.NoDefault, resolve.NoMatch,
	} {
		labels[string(reason)] = true
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		assert.Regexp(t, `(?m)^(mutate|validate) `+label+`: (422|400|403) `, golden.String(), "no denial has the label")
	}
}

// With --unresolved=wait, what the catalog lacks is waited for, and what the request lacks is refused.
func TestUnresolvedWait(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, catalog, spec string
		admitted              bool
	}{
		"NoDefault":       {"An operator may make one the default.", "mysql/db: small large", byType, true},
		"NoType":          {"A type may come.", "other:", byType, true},
		"ClassNotFound":   {"So may a class.", "other:", `{"clusterServiceClassName":"db"}`, true},
		"NoMatch":         {"So may labels.", "mysql/db: small", `{"planSelector":{"matchLabels":{"a":"b"}}}`, true},
		"Unusable":        {"What is being deleted may come again.", "db!: small", `{"clusterServiceClassName":"db"}`, true},
		"Ambiguous":       {"Two defaults are for someone to settle.", "mysql/db: small* large*", byType, false},
		"NothingNamed":    {"Nothing comes of nothing.", "mysql/db: small*", `{}`, false},
		"InvalidSelector": {"An empty selector is an error.", "mysql/db: small*", `{"planSelector":{}}`, false},
		"TypeMismatch":    {"A contradiction stays one.", "redis/db: small", `{"serviceType":"mysql","clusterServiceClassName":"db","clusterServicePlanName":"db-small"}`, false},
		"ClassMismatch":   {"So does a plan of another class.", "db: small;db2: big", `{"clusterServiceClassName":"db","clusterServicePlanName":"db2-big"}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, tc.catalog).env()
			require.NotNil(t, w.create(tc.spec).denied(), "refused without the option")
			w.options.Unresolved = options.UnresolvedWait
			o := w.create(tc.spec)
			assert.Equal(t, tc.admitted, o.denied() == nil, tc.reason)
			if tc.admitted {
				assert.Contains(t, strings.Join(o.warnings(), "\n"), "the instance waits")
				assert.NotEmpty(t, o.mutate.AuditAnnotations["undecided"])
				assert.NotEqual(t, "absent", at(t, o.stored, "/spec/externalID"), "it has its identity already")
			}
		})
	}
}
