package webhook

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A recordCase is a write of a type's record.
type recordCase struct {
	reason  string
	catalog string
	edits   []func(*stock)
	write   catalogWrite
	// want is the label of the refusal, empty if there is none.
	want string
}

// recordCases are each in both scopes. A type without a record is there as "empty".
func recordCases() map[string]recordCase {
	const catalog = "mysql/db: small*^ large;many: own<mysql> loose other<redis>"
	return map[string]recordCase{
		"Switch":          {reason: "A switch is one write.", catalog: catalog, write: "type mysql record=db-large"},
		"SwitchToOwnType": {reason: "A plan's own type counts.", catalog: catalog, write: "type mysql record=many-own"},
		"Set":             {reason: "So is the first record.", catalog: "mysql/db: small large", edits: edits(emptyType("mysql")), write: "type mysql record=db-small"},
		"SettleLegacy":    {reason: "Which settles what two annotations do not.", catalog: "mysql/db: small* large*", edits: edits(emptyType("mysql")), write: "type mysql record=db-small"},
		"Same":            {reason: "What a record says already is not judged.", catalog: "mysql/db: small;record mysql lost", write: "type mysql label=gold"},
		"SetAbsent":       {reason: "A plan that is not there is none.", catalog: catalog, write: "type mysql record=lost", want: "RecordUnfit"},
		"SetDeleting":     {reason: "Nor one that is being deleted.", catalog: "mysql/db: small*^ large!", write: "type mysql record=db-large", want: "RecordUnfit"},
		"SetRemoved":      {reason: "Nor one that its broker has no more.", catalog: catalog, edits: edits(removed("db-large")), write: "type mysql record=db-large", want: "RecordUnfit"},
		"SetOtherType":    {reason: "Nor one of another type.", catalog: catalog, write: "type mysql record=many-other", want: "RecordUnfit"},
		"SetUntyped":      {reason: "Or of none.", catalog: catalog, write: "type mysql record=many-loose", want: "RecordUnfit"},
		"SetClassless":    {reason: "Nor one without its class.", catalog: catalog, edits: edits(classless("many")), write: "type mysql record=many-own", want: "RecordUnfit"},
		"SetClassGone":    {reason: "Or whose class goes.", catalog: "mysql/db: small*^;many!: own<mysql>", write: "type mysql record=many-own", want: "RecordUnfit"},
		"SetNoCandidates": {reason: "There may be no other to name.", catalog: "redis/cache: a", edits: edits(emptyType("mysql")), write: "type mysql record=cache-a", want: "RecordUnfit"},
		"Clear":           {reason: "A record without its annotation may go.", catalog: "mysql/db: small^ large", write: "type mysql record="},
		"ClearAnnotated":  {reason: "With it, the keeper would record it again.", catalog: catalog, write: "type mysql record=", want: "RecordStands"},
		"ClearDeleting":   {reason: "But not a plan that is being deleted.", catalog: "mysql/db: small*^!", write: "type mysql record="},
		"ClearAbsent":     {reason: "Nor one that is not there.", catalog: "mysql/db: small;record mysql lost", write: "type mysql record="},
		"ClearOtherType":  {reason: "Nor one of another type.", catalog: "redis/cache: a*;record mysql cache-a", write: "type mysql record="},
		"Terminating":     {reason: "A type that is being deleted records nothing.", catalog: catalog, write: "type mysql going record=lost"},
	}
}

func (tc recordCase) run(t *testing.T) *outcome {
	t.Helper()
	s := stocked(t, tc.catalog, tc.edits...)
	w := s.defaultsEnv()
	o := w.validate(tc.write.objects(s))
	assert.Empty(t, w.asked(), "the API server asks for the right to the object itself")
	return o
}

func (tc recordCase) inNamespace() recordCase {
	tc.catalog, tc.write = inNamespace(tc.catalog), tc.write.inNamespace()
	return tc
}

func TestRecords(t *testing.T) {
	t.Parallel()
	for name, tc := range recordCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, scoped := range []recordCase{tc, tc.inNamespace()} {
				o := scoped.run(t)
				label := ""
				if denied := o.denied(); denied != nil {
					label = o.validate.outcome
					assert.Equal(t, int32(http.StatusUnprocessableEntity), denied.Code)
				}
				assert.Equal(t, tc.want, label, tc.reason)
			}
		})
	}
}

// A plan of another scope is none that a type could record.
func TestRecordsKeepTheirScope(t *testing.T) {
	t.Parallel()
	s := stocked(t, "mysql/db: small;dev|mysql/own: tiny", func(s *stock) {
		emptyType("mysql")(s)
		s.objects = append(s.objects, &v1beta1.ServiceType{})
		s.objects[len(s.objects)-1].SetName("mysql")
		s.objects[len(s.objects)-1].SetNamespace("dev")
	})
	for write, admitted := range map[catalogWrite]bool{
		"type mysql record=db-small": true, "type mysql record=own-tiny": false,
		"type dev/mysql record=own-tiny": true, "type dev/mysql record=db-small": false,
	} {
		assert.Equal(t, admitted, s.defaultsEnv().validate(write.objects(s)).denied() == nil, write)
	}
}

// A new type is judged like a changed one, and takes the same right.
func TestNewTypes(t *testing.T) {
	t.Parallel()
	s := stocked(t, "mysql/db: small")
	for name, tc := range map[string]struct {
		plan, want string
		may        []string
		off        bool
	}{
		"Empty": {}, "Fit": {plan: "db-small", may: []string{"mysql"}}, "Unfit": {plan: "lost", may: []string{"mysql"}, want: "RecordUnfit"},
		"Forbidden": {plan: "db-small", may: []string{"redis"}, want: "DefaultRight"}, "ForbiddenUnfit": {plan: "lost", may: []string{"redis"}, want: "DefaultRight"},
		"ForbiddenWhileOff": {plan: "db-small", may: []string{"redis"}, off: true, want: "DefaultRight"}, "WhileOff": {plan: "lost", may: []string{"mysql"}, off: true},
	} {
		object := &v1beta1.ClusterServiceType{}
		object.SetName("mysql")
		setRecord(object, tc.plan)
		w := s.defaultsEnv(tc.may...)
		if tc.off {
			require.NoError(t, w.options.Gates.SetFromMap(map[string]bool{string(options.ServiceTypes): false}))
		}
		o := w.validate(object, nil)
		assert.Equal(t, tc.want != "", o.denied() != nil, name)
		if tc.want != "" {
			assert.Equal(t, tc.want, o.validate.outcome, name)
		}
	}
}

// What is no type is refused without its text, and what cannot be read fails.
func TestRecordsFail(t *testing.T) {
	t.Parallel()
	s := stocked(t, "mysql/db: small*^ large")
	w := s.defaultsEnv()
	path, review := w.reviewOf(catalogWrite("type mysql record=db-large").objects(s))
	review.Request.Object.Raw = []byte(`{"metadata":{"name":"mysql"},"spec":{"defaultPlanRef":"` + canary + `"}}`)
	refused := w.ask(path, review)
	assert.False(t, refused.Allowed)
	assert.Equal(t, "spec.defaultPlanRef", refused.Result.Details.Causes[0].Field)

	for write, on := range map[catalogWrite]string{
		"type mysql record=db-large": "get ClusterServicePlan", "type mysql record=": "get ClusterServicePlan", "type mysql record=lost": "list ClusterServicePlan",
	} {
		w := s.defaultsEnv()
		w.live.fail(func(read string) error {
			if strings.HasPrefix(read, on) {
				return errors.New("broken")
			}
			return nil
		})
		assert.Equal(t, http.StatusInternalServerError, w.status(write.objects(s)), write)
	}
}

const goldenDefaultsDenials = "testdata/denials_defaults.golden"

// Every refusal about defaults, records and policies, as people read it.
func TestDefaultsDenials(t *testing.T) {
	t.Parallel()
	all := map[string]*outcome{}
	for name, tc := range defaultCases() {
		if tc.want != "" {
			all["Default"+name] = tc.run(t)
			tc.catalog, tc.write = inNamespace(tc.catalog), tc.write.inNamespace()
			all["Default"+name+"InNamespace"] = tc.run(t)
		}
	}
	for name, tc := range recordCases() {
		if tc.want != "" {
			all["Record"+name], all["Record"+name+"InNamespace"] = tc.run(t), tc.inNamespace().run(t)
		}
	}
	for name, tc := range policyKindCases() {
		if tc.want != "" {
			all["Policy"+name] = tc.run(t)
		}
	}
	var text strings.Builder
	for _, title := range slices.Sorted(maps.Keys(all)) {
		require.NotNil(t, all[title].denied(), title)
		text.WriteString(all[title].render(title))
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenDefaultsDenials, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(goldenDefaultsDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "run the test with -update and read the difference")
}
