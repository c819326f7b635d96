package webhook

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A defaultCase is a write of a class or plan beside what the catalog has.
type defaultCase struct {
	reason  string
	catalog string
	edits   []func(*stock)
	write   catalogWrite
	// may are the types whose default the requester may decide.
	may string
	// asked are the types whose right is asked for.
	asked string
	// want is the label of the refusal, empty if there is none, and causes how many fields it names.
	want   string
	causes int
}

func (tc defaultCase) run(t *testing.T) *outcome {
	t.Helper()
	s := stocked(t, tc.catalog, tc.edits...)
	w := s.defaultsEnv(strings.Fields(tc.may)...)
	o := w.validate(tc.write.objects(s))
	assert.Equal(t, tc.asked, w.asked(), "the rights that were asked for")
	label := ""
	if denied := o.denied(); denied != nil {
		label = o.validate.outcome
		assert.Equal(t, int32(http.StatusForbidden), denied.Code)
		assert.Len(t, denied.Details.Causes, max(tc.causes, 1), denied.Message)
	}
	assert.Equal(t, tc.want, label, tc.reason)

	w.dryRun = true
	again := w.validate(tc.write.objects(s))
	assert.Equal(t, o.denied(), again.denied(), "a dry run is answered alike")
	return o
}

func TestOneDefault(t *testing.T) {
	t.Parallel()
	for name, tc := range defaultCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.run(t)
			tc.catalog, tc.write = inNamespace(tc.catalog), tc.write.inNamespace()
			tc.run(t)
		})
	}
}

// A default that gets another type is told, and which type it is the default of by then; so are plans that do not follow.
func TestRetypedDefaultIsTold(t *testing.T) {
	t.Parallel()
	const (
		away  = "db/small was the default plan for mysql, which has none now"
		enter = "; it is the default plan for redis now"
		stays = "plans of class db that have a type of their own keep it: own; to change it: svcat set plan db/PLAN --type TYPE"
		class = "mysql/db: small*^ large own<mysql>;redis/cache: a"
		plan  = "many: small<mysql>*^ large<mysql>;redis/cache: a"
	)
	for name, tc := range map[string]struct {
		reason  string
		catalog string
		write   catalogWrite
		want    []string
	}{
		"Class":          {reason: "with its class's type", catalog: class, write: "class db type=redis", want: []string{away + enter, stays}},
		"ClassUntyped":   {reason: "to no type", catalog: class, write: "class db type=", want: []string{away, stays}},
		"ClassOwnType":   {reason: "the default does not follow", catalog: "mysql/db: own<mysql>*^", write: "class db type=redis", want: []string{stays}},
		"ClassInSwitch":  {reason: "the recorded one is the default, which is not annotated yet", catalog: "mysql/db: small^ large", write: "class db type=redis", want: []string{away}},
		"ClassFollowed":  {reason: "a plan of the new type already", catalog: "mysql/db: small own<redis>", write: "class db type=redis"},
		"Annotated":      {reason: "what is not recorded yet", catalog: "mysql/db: small*", write: "class db type=redis", want: []string{away + enter}},
		"Another":        {reason: "another takes its place", catalog: "mysql/db: small*^ own<mysql>*", write: "class db type=redis", want: []string{"db/small was the default plan for mysql; it is the default plan for redis now", stays}},
		"AmbiguousTypes": {reason: "two that are annotated are none", catalog: "many: small<mysql>* large<mysql>*", write: "plan many-small type=redis"},
		"Plan":           {reason: "with its own type", catalog: plan, write: "plan many-small type=redis", want: []string{"many/small was the default plan for mysql, which has none now; it is the default plan for redis now"}},
		"PlanAndOff":     {reason: "without its annotation it enters nothing", catalog: plan, write: "plan many-small type=redis plain", want: []string{"many/small was the default plan for mysql, which has none now"}},
		"PlanNoDefault":  {reason: "it was none", catalog: plan, write: "plan many-large type=redis"},
		"PlanOff":        {reason: "who takes the annotation off knows", catalog: plan, write: "plan many-small plain"},
		"PlanInherits":   {reason: "the same type by its class is no change", catalog: "mysql/db: small<mysql>*^", write: "plan db-small type="},
		"Refused":        {reason: "what is refused changes nothing", catalog: plan + "*^", write: "plan many-small type=redis"},
	} {
		for place, move := range map[string]func() (string, catalogWrite, string){
			"Cluster": func() (string, catalogWrite, string) { return tc.catalog, tc.write, "" },
			"Namespace": func() (string, catalogWrite, string) {
				return inNamespace(tc.catalog), tc.write.inNamespace(), " in namespace dev"
			},
		} {
			t.Run(name+"/"+place, func(t *testing.T) {
				t.Parallel()
				catalog, write, in := move()
				s := stocked(t, catalog)
				w := s.defaultsEnv("mysql", "redis")
				var want []string
				for _, text := range tc.want {
					text = strings.ReplaceAll(strings.ReplaceAll(text, "for mysql", "for mysql"+in), "for redis", "for redis"+in)
					want = append(want, text)
				}
				assert.Equal(t, want, w.validate(write.objects(s)).validate.Warnings, tc.reason)
			})
		}
	}
}

// What looks like an annotation that means something and means nothing is told, where it is written.
func TestAnnotationsThatMeanNothing(t *testing.T) {
	t.Parallel()
	const (
		value = `metadata.annotations[servicecatalog.kubernetes.io/is-default-plan] means nothing: only "true" does, and it is "`
		class = "metadata.annotations[servicecatalog.kubernetes.io/is-default-plan] means nothing on a class: annotate one of its plans"
	)
	for name, tc := range map[string]struct {
		reason string
		write  catalogWrite
		want   []string
	}{
		"Upper":     {reason: "of another case", write: "plan db-large default=True", want: []string{value + `True"`}},
		"Yes":       {reason: "of YAML", write: "plan db-large default=yes", want: []string{value + `yes"`}},
		"Long":      {reason: "it is cut", write: catalogWrite("plan db-large default=" + strings.Repeat("x", 100)), want: []string{value + strings.Repeat("x", 32) + `"`}},
		"Replaced":  {reason: "the annotation is off then", write: "plan db-small default=1", want: []string{value + `1"`}},
		"False":     {reason: "it says what it means", write: "plan db-large default=false"},
		"True":      {reason: "so does this", write: "plan db-large default"},
		"Class":     {reason: "a class is no plan", write: "class db default", want: []string{class}},
		"ClassOff":  {reason: "even there it says what it means", write: "class db default=false"},
		"Unchanged": {reason: "it was told before", write: "plan db-odd label=gold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stocked(t, "mysql/db: small* large odd", func(s *stock) {
				s.object("db-odd", isPlan).SetAnnotations(map[string]string{v1beta1.AnnotationDefaultPlan: "Yes"})
			})
			if name == "True" {
				s = stocked(t, "mysql/db: small large")
			}
			w := s.defaultsEnv("mysql")
			gatesOff(w.env, options.SchemaChecks)
			assert.Equal(t, tc.want, w.validate(tc.write.objects(s)).validate.Warnings, tc.reason)
		})
	}
	s := stocked(t, "mysql/db: small")
	suggested, _ := catalogWrite("new other: tiny").objects(s)
	suggested.SetAnnotations(map[string]string{v1beta1.AnnotationSuggestedPlan: "TRUE"})
	assert.Equal(t, []string{`metadata.annotations[servicecatalog.kubernetes.io/is-suggested-plan] means nothing: only "true" does, and it is "TRUE"`},
		s.defaultsEnv().validate(suggested, nil).validate.Warnings, "of a new plan, and of the other annotation")
}

// A default of one scope stands in no other's way.
func TestOneDefaultPerScope(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]defaultCase{
		"NamespaceBesideCluster":   {catalog: "mysql/db: small*^;dev|mysql/db: large", write: "plan dev/db-large default", may: "mysql", asked: "mysql"},
		"ClusterBesideNamespace":   {catalog: "dev|mysql/db: small*^;mysql/db: large", write: "plan db-large default", may: "mysql", asked: "mysql"},
		"NamespaceBesideNamespace": {catalog: "prod|mysql/db: small*^;dev|mysql/db: large", write: "plan dev/db-large default", may: "mysql", asked: "mysql"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.run(t)
		})
	}
}

// What concerns no default reads nothing and asks nothing.
func TestOtherWritesCostNothing(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]catalogWrite{
		"Label": "plan db-large label=gold", "LabelOfDefault": "plan db-small label=gold", "Suggested": "plan db-large suggested",
		"Terminating": "plan db-large going default", "NewPlan": "new db: huge", "NewTyped": "new db: huge<mysql>", "NewClass": "new other:", "LabelOfClass": "class db label=gold",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stocked(t, "mysql/db: small*^ large")
			w := s.defaultsEnv()
			written, old := write.objects(s)
			review := w.validate(written, old)
			assert.Nil(t, review.denied())
			assert.Empty(t, w.asked())
			for _, read := range w.live.taken() {
				assert.NotContains(t, read, "ServiceType", "no record is looked at")
				assert.NotContains(t, read, "list", "nothing is listed")
			}
		})
	}
}

// The review is about the requester and the type's very object.
func TestRightIsAskedForTheRequester(t *testing.T) {
	t.Parallel()
	s := stocked(t, "mysql/db: small;dev|mysql/db: small")
	w := s.defaultsEnv("mysql")
	w.validate(catalogWrite("plan db-small default").objects(s)).denied()
	w.validate(catalogWrite("plan dev/db-small default").objects(s)).denied()
	assert.Equal(t, []string{
		"alice update clusterservicetypes mysql", "alice update servicetypes dev/mysql",
	}, w.reviews.taken())
	for _, spec := range w.reviews.specs {
		assert.Equal(t, "servicecatalog.k8s.io", spec.ResourceAttributes.Group)
		assert.Equal(t, []string{"devs"}, spec.Groups)
	}
}

// Whether record and annotation have agreed is of one reading with the record, and older than what is seen of the plan:
// else a switch that the keeper finishes meanwhile looks like an annotation that was taken off.
func TestTypeIsReadOnceBeforeItsPlan(t *testing.T) {
	t.Parallel()
	s := stocked(t, "mysql/db: small^ large", agreed("mysql"))
	w := s.defaultsEnv("mysql")
	assert.Nil(t, w.validate(catalogWrite("plan db-large default").objects(s)).denied())
	var reads []string
	for _, read := range w.live.taken() {
		if read == "get ClusterServiceType /mysql" || read == "get ClusterServicePlan /db-small" {
			reads = append(reads, read)
		}
	}
	assert.Equal(t, []string{"get ClusterServiceType /mysql", "get ClusterServicePlan /db-small"}, reads)
}

// What cannot be read or asked is a failure of ours, not a refusal.
func TestOneDefaultFails(t *testing.T) {
	t.Parallel()
	broken := func(on string) func(string) error {
		return func(read string) error {
			if strings.HasPrefix(read, on) {
				return errors.New("broken")
			}
			return nil
		}
	}
	const catalog = "mysql/db: small*^ large;record redis db-large;many: loose* other"
	for name, tc := range map[string]struct {
		write catalogWrite
		on    string
		deaf  bool
	}{
		"Record":         {write: "plan db-large default", on: "get ClusterServiceType"},
		"RecordedPlan":   {write: "plan db-large default", on: "get ClusterServicePlan /db-small"},
		"Class":          {write: "plan db-large default", on: "get ClusterServiceClass"},
		"Plans":          {write: "plan db-large default", on: "list ClusterServicePlan"},
		"NewType":        {write: "plan db-small type=redis", on: "get ClusterServiceType /redis"},
		"PlansOfClass":   {write: "class db type=redis", on: "list ClusterServicePlan"},
		"LoosePlans":     {write: "plan many-other default", on: "list ClusterServicePlan"},
		"AccessReview":   {write: "plan db-small plain", deaf: true},
		"RecordedOfType": {write: "plan many-other default type=redis", on: "get ClusterServicePlan /db-large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stocked(t, catalog)
			w := s.defaultsEnv("mysql", "redis")
			if tc.deaf {
				w.reviews.down = errors.New("broken")
			} else {
				w.live.fail(broken(tc.on))
			}
			assert.Equal(t, http.StatusInternalServerError, w.status(tc.write.objects(s)))
		})
	}
}

// With the gate off there are no defaults to guard.
func TestOneDefaultWithTypesOff(t *testing.T) {
	t.Parallel()
	for _, write := range []catalogWrite{"plan db-large default", "class db type=redis", "type mysql record=none"} {
		s := stocked(t, "mysql/db: small*^ large")
		w := s.defaultsEnv()
		gatesOff(w.env, options.ServiceTypes)
		assert.Nil(t, w.validate(write.objects(s)).denied(), write)
		assert.Empty(t, w.asked())
		assert.Empty(t, w.live.taken())
	}
}
