package schema

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/merge/schemacache"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Checker compiles the plans' JSON schemas, on demand: the cache only has their
// digests.
type Checker struct {
	live     client.Reader
	compiled *schemacache.Cache
	options  *options.Options
}

// NewChecker returns a checker that has compiled nothing yet.
func NewChecker(live client.Reader, options *options.Options) *Checker {
	return &Checker{live: live, compiled: schemacache.New(func(kept int) { schemasKept.Set(float64(kept)) }), options: options}
}

// Kept is how many compiled schemas are kept.
func (s *Checker) Kept() int { return s.compiled.Len() }

// Enforced says that parameters which a schema refuses are refused.
func (s *Checker) Enforced() bool {
	return s.options.SchemaCheck == options.SchemaEnforce && s.Checked()
}

// Checked says that parameters are held against schemas.
func (s *Checker) Checked() bool {
	return s.options.SchemaCheck != options.SchemaOff && s.options.Gates.Enabled(options.SchemaChecks)
}

// ForCreate is a plan's schema for the parameters of a new instance.
func ForCreate(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.InstanceCreateParameterSchema
}

// ForUpdate is a plan's schema for the parameters of an instance that is provisioned.
func ForUpdate(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.InstanceUpdateParameterSchema
}

// ForBinding is a plan's schema for the parameters of a binding.
func ForBinding(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.ServiceBindingCreateParameterSchema
}

// Of returns the compiled form of one of a plan's schemas, nil if it has none.
// The error is a *merge.SchemaError for a schema that cannot be used.
func (s *Checker) Of(ctx context.Context, defined *catalog.Definition, which func(*v1beta1.CommonServicePlanSpec) *runtime.RawExtension) (*schemacache.Schema, error) {
	schema := which(defined.PlanSpec)
	if !catalog.HasSchema(schema) {
		return nil, nil
	}
	if kept := s.compiled.Find(catalog.Digest(schema.Raw)); kept != nil {
		schemaLookups.WithLabelValues(lookupHit).Inc()
		return kept, nil
	}
	schemaLookups.WithLabelValues(lookupMiss).Inc()
	text := schema.Raw
	if catalog.IsDigest(text) {
		live, err := s.read(ctx, defined.Plan.Ref)
		if err != nil || live == nil {
			return nil, err
		}
		if schema = which(live); !catalog.HasSchema(schema) {
			return nil, nil
		}
		text = schema.Raw
	}
	return s.compiled.Of(ctx, catalog.Sum(text), text)
}

// read reads a plan's spec from the API server, nil if it is gone.
func (s *Checker) read(ctx context.Context, plan resolve.Ref) (*v1beta1.CommonServicePlanSpec, error) {
	object := v1beta1.NewPlan(plan.Namespace)
	found, err := catalog.Scope{Reader: s.live, Namespace: plan.Namespace}.Read(ctx, plan.Name, object)
	if err != nil || !found {
		return nil, err
	}
	return object.GetSpec(), nil
}

// A Question is a check by a schema: which of a plan's schemas, and the
// parameters that would be sent to the broker. It is partial if a Secret adds
// to them later.
type Question struct {
	Which   func(*v1beta1.CommonServicePlanSpec) *runtime.RawExtension
	Sent    map[string]any
	Partial bool
	// From are the layers that gave some of what is sent, by pointer.
	From map[string]string
}

// Refuse is the denial of parameters that the schema does not accept and that their user did not
// write in full, with the way out that such a user has. It is nil for none, or where schemas only
// warn.
func (s *Checker) Refuse(ctx context.Context, defined *catalog.Definition, asked Question) (*review.Denial, error) {
	if !s.Enforced() {
		return nil, nil
	}
	report, _, err := s.Check(ctx, defined, asked)
	if err != nil || len(report.Violations) == 0 {
		return nil, err
	}
	first := report.Violations[0]
	return review.Invalid("SchemaViolation", "spec.parameters"+string(first.Pointer), "%s", first.Message), nil
}

// Validate denies what a plan's schema does not take, or warns of it, and of a schema that
// cannot be used.
func (s *Checker) Validate(ctx context.Context, v *review.Result, defined *catalog.Definition, asked Question) (*review.Denial, error) {
	report, warning, err := s.Check(ctx, defined, asked)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		v.Warnf("%s", warning)
	}
	return s.tellReport(v, report, asked.From), nil
}

// Check validates what would be sent to a broker by a plan's schema. It returns
// the violations, or a warning about a schema that cannot be used.
func (s *Checker) Check(ctx context.Context, defined *catalog.Definition, asked Question) (merge.Report, string, error) {
	compiled, err := s.Of(ctx, defined, asked.Which)
	if err == nil && compiled != nil && asked.Partial {
		compiled, err = s.compiled.Partial(ctx, compiled)
	}
	if err != nil || compiled == nil {
		return merge.Report{}, "", err
	}
	report, why := compiled.Check(asked.Sent)
	schemaChecks.WithLabelValues(checkResult(&report, why)).Inc()
	if why != nil {
		return merge.Report{}, fmt.Sprintf("parameters were not checked: the schema of plan %s: %s", defined.Title(), why.Error()), nil
	}
	return report, "", nil
}

// checkResult is the label value for the result of a check.
func checkResult(report *merge.Report, why *merge.SchemaError) string {
	switch {
	case why != nil:
		return checkUnusable
	case len(report.Violations) > 0:
		return checkRefused
	}
	return checkAccepted
}

// tellReport warns of violations of the schema, or returns the denial.
func (s *Checker) tellReport(v *review.Result, report merge.Report, from map[string]string) *review.Denial {
	var denied *review.Denial
	for _, violation := range report.Violations {
		text := violation.Message
		if _, layer := OriginOf(from, string(violation.Pointer)); layer != "" {
			text += fmt.Sprintf(" (the value is the default of the %s)", layer)
		}
		field := "spec.parameters" + string(violation.Pointer)
		if s.options.SchemaCheck == options.SchemaWarn {
			v.Warnf("%s: %s", field, text)
			continue
		}
		denied = denied.Also(review.Invalid("SchemaViolation", field, "%s", text))
	}
	if more := report.Total - len(report.Violations); denied != nil && more > 0 {
		denied.Remedy("and %d more", more)
	}
	return denied
}

// OriginOf finds the defaulted subtree that a pointer leads into, and its layer.
func OriginOf(from map[string]string, pointer string) (string, string) {
	for at := pointer; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if layer, ok := from[at]; ok {
			return at, layer
		}
	}
	return "", ""
}
