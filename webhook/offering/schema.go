package offering

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// The defaults of a class with more plans than this are not validated: schemas
// that are not compiled yet are read one by one.
const checkedPlans = 100

// How many warnings a write of a class gets about its plans, and how many of these
// each of them names: a warning has only so much room.
const (
	shownWarnings = 8
	shownPlans    = 5
)

// A schemaCheck warns of what schemas of plans do not take. It denies nothing: schemas and
// defaults may come from the broker's catalog, and the plan can be used with other parameters.
type schemaCheck struct {
	schemas *schema.Checker
	gates   featuregate.FeatureGate
	cached  client.Reader
	change  *change
	decided *review.Result
}

// warn warns of a plan, or of a class.
func (s *schemaCheck) warn(ctx context.Context) error {
	if s.change.new.plan == nil {
		return s.warnOfClass(ctx)
	}
	return s.warnOfPlan(ctx)
}

// warnOfPlan warns of schemas that cannot be used, and of defaults that violate
// the plan's own schemas.
func (s *schemaCheck) warnOfPlan(ctx context.Context) error {
	for i := range planSchemas {
		field := &planSchemas[i]
		if string(parameters.Raw(field.of(s.change.new.plan))) == string(parameters.Raw(field.of(s.change.old.plan))) {
			continue
		}
		compiled, err := s.schemas.Of(ctx, s.change.new.definition(), field.of)
		if err != nil {
			return err
		}
		if compiled == nil {
			continue
		}
		if why := compiled.Unusable(); why != nil {
			s.decided.Warnf("%s will be skipped: %s", field.name, why.Error())
		}
	}
	for i := range checkedDefaults {
		if err := s.warnOfDefault(ctx, &checkedDefaults[i]); err != nil {
			return err
		}
	}
	return nil
}

// warnOfDefault holds what class and plan give against a schema of the plan.
func (s *schemaCheck) warnOfDefault(ctx context.Context, field *checkedDefault) error {
	rules := parameters.Raw(field.schema.of(s.change.new.plan))
	same := string(rules) == string(parameters.Raw(field.schema.of(s.change.old.plan)))
	if rules == nil || !s.gates.Enabled(field.gate) || same && !field.changedBy(s.change, s.gates) {
		return nil
	}
	// A relist creates plans before their class: a warning is not worth waiting
	// for the cache.
	class, err := s.classOf(ctx)
	if err != nil {
		return err
	}
	merged, report, err := s.validateBySchema(ctx, field, class, s.change.new)
	if err != nil {
		return err
	}
	for _, violation := range report.Violations {
		whose := ""
		if merged.OriginOf(violation.Pointer) == parameters.LayerClass {
			whose = fmt.Sprintf(" of class %q", class.title())
		}
		s.decided.Warnf("%s%s%s is refused by %s: it %s", field.Name, violation.Pointer, whose, field.schema.name, violation.Message)
	}
	return nil
}

// classOf reads a plan's class from the cache, blank if that does not have it.
func (s *schemaCheck) classOf(ctx context.Context) (*offering, error) {
	namespace := s.change.req.Namespace
	class := v1beta1.NewClass(namespace)
	_, err := catalog.Scope{Reader: s.cached, Namespace: namespace}.Read(ctx, s.change.new.className(), class)
	return viewOffering(class), err
}

// validateBySchema validates the defaults of class and plan by a schema of the
// plan. Defaults are only a part of the parameters, so rules for the whole,
// such as required, are skipped.
func (s *schemaCheck) validateBySchema(ctx context.Context, field *checkedDefault, class, plan *offering) (merge.Result, merge.Report, error) {
	merged, given := mergedDefaults(field, class, plan)
	if !given {
		return merged, merge.Report{}, nil
	}
	report, _, err := s.schemas.Check(ctx, plan.definition(), schema.Question{Which: field.schema.of, Sent: merged.Sent(), Partial: true})
	return merged, report, err
}

// warnOfClass tells of defaults of a class that schemas of its plans refuse.
func (s *schemaCheck) warnOfClass(ctx context.Context) error {
	var fields []*checkedDefault
	for i := range checkedDefaults {
		if field := &checkedDefaults[i]; field.changedBy(s.change, s.gates) && parameters.Raw(field.Value(s.change.new.defaults)) != nil {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	plans, err := s.plansOfClass(ctx)
	if err != nil || len(plans) > checkedPlans {
		return err
	}
	refusing := map[refusal][]string{}
	for _, plan := range plans {
		if ctx.Err() != nil {
			// A check by a schema does not look at the context.
			break
		}
		for _, field := range fields {
			refusals, err := s.refusals(ctx, field, plan)
			if err != nil {
				return err
			}
			for _, refused := range refusals {
				refusing[refused] = append(refusing[refused], plan.title())
			}
		}
	}
	sorted := slices.SortedFunc(maps.Keys(refusing), refusal.compare)
	for _, refused := range sorted[:min(len(sorted), shownWarnings)] {
		s.decided.Warnf("%s is refused by the schema of plan %s: it %s", refused.field, listSome(refusing[refused]), refused.message)
	}
	return ctx.Err()
}

// listSome joins the first names for a sentence, and counts the others.
func listSome(names []string) string {
	slices.Sort(names)
	if more := len(names) - shownPlans; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownPlans], ", "), more)
	}
	return strings.Join(names, ", ")
}

// A refusal is a field that a schema does not take, and why.
type refusal struct{ field, message string }

func (r refusal) compare(other refusal) int {
	return cmp.Or(strings.Compare(r.field, other.field), strings.Compare(r.message, other.message))
}

// refusals lists what of the class's default violates a plan's schema. The
// plan's own defaults were validated when the plan was written.
func (s *schemaCheck) refusals(ctx context.Context, field *checkedDefault, plan *offering) ([]refusal, error) {
	merged, report, err := s.validateBySchema(ctx, field, s.change.new, plan)
	if err != nil {
		return nil, err
	}
	var told []refusal
	for _, violation := range report.Violations {
		if merged.OriginOf(violation.Pointer) != parameters.LayerPlan {
			told = append(told, refusal{field.Name + string(violation.Pointer), violation.Message})
		}
	}
	return told, nil
}

// plansOfClass are the class's plans, as the cache has them.
func (s *schemaCheck) plansOfClass(ctx context.Context) ([]*offering, error) {
	at := catalog.Scope{Reader: s.cached, Namespace: s.change.req.Namespace}
	plans, _, err := at.PlanObjects(ctx, client.MatchingFields{at.ClassField(): s.change.new.object.GetName()})
	viewed := make([]*offering, len(plans))
	for i, plan := range plans {
		viewed[i] = viewOffering(plan)
	}
	return viewed, err
}
