package webhook

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/merge/schemacache"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// schemas compiles the plans' JSON schemas on demand: the cache only has their
// digests.
type schemas struct {
	catalog  *catalog
	compiled *schemacache.Cache
}

// of returns the compiled form of one of a plan's schemas, nil if it has none.
// The error is a *merge.SchemaError for a schema that cannot be used.
func (s *schemas) of(ctx context.Context, defined *definition, which func(*v1beta1.CommonServicePlanSpec) *runtime.RawExtension) (*schemacache.Schema, error) {
	schema := which(defined.plan)
	if !hasSchema(schema) {
		return nil, nil
	}
	if kept := s.compiled.Find(digest(schema.Raw)); kept != nil {
		schemaLookups.WithLabelValues(lookupHit).Inc()
		return kept, nil
	}
	schemaLookups.WithLabelValues(lookupMiss).Inc()
	text := schema.Raw
	if digest(text) == string(text) {
		live, err := s.read(ctx, defined.Plan.Ref)
		if err != nil || live == nil {
			return nil, err
		}
		if schema = which(live); !hasSchema(schema) {
			return nil, nil
		}
		text = schema.Raw
	}
	return s.compiled.Of(ctx, digest(text), text)
}

// read reads a plan's spec from the API server, nil if it is gone.
func (s *schemas) read(ctx context.Context, plan resolve.Ref) (*v1beta1.CommonServicePlanSpec, error) {
	from := scope{reader: s.catalog.live, namespace: plan.Namespace}
	if plan.Namespace == "" {
		object := &v1beta1.ClusterServicePlan{}
		found, err := from.read(ctx, plan.Name, object)
		if err != nil || !found {
			return nil, err
		}
		return &object.Spec.CommonServicePlanSpec, nil
	}
	object := &v1beta1.ServicePlan{}
	found, err := from.read(ctx, plan.Name, object)
	if err != nil || !found {
		return nil, err
	}
	return &object.Spec.CommonServicePlanSpec, nil
}

// A question is a check by a schema: which of a plan's schemas, and the
// parameters that would be sent to the broker. It is partial if a Secret adds
// to them later.
type question struct {
	which   func(*v1beta1.CommonServicePlanSpec) *runtime.RawExtension
	sent    map[string]any
	partial bool
}

// judge validates what would be sent to a broker by a plan's schema. It returns
// the violations, or a warning about a schema that cannot be used.
func (s *schemas) judge(ctx context.Context, defined *definition, asked question) (merge.Report, string, error) {
	compiled, err := s.of(ctx, defined, asked.which)
	if err == nil && compiled != nil && asked.partial {
		compiled, err = s.compiled.Partial(ctx, compiled)
	}
	if err != nil || compiled == nil {
		return merge.Report{}, "", err
	}
	report, why := compiled.Check(asked.sent)
	schemaChecks.WithLabelValues(checkResult(&report, why)).Inc()
	if why != nil {
		return merge.Report{}, fmt.Sprintf("parameters were not checked: the schema of plan %s: %s", defined.title(), why.Error()), nil
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

// firstViolation is the denial of parameters that violate a schema and that a
// user did not write.
func firstViolation(report merge.Report) *review.Denial {
	first := report.Violations[0]
	return review.Invalid("SchemaViolation", "spec.parameters"+string(first.Pointer), "%s", first.Message)
}

// tellReport warns of violations of the schema, or returns the denial.
func (h *commons) tellReport(v *review.Result, report merge.Report, from map[string]string) *review.Denial {
	var denied *review.Denial
	for _, violation := range report.Violations {
		text := violation.Message
		if _, layer := originOf(from, string(violation.Pointer)); layer != "" {
			text += fmt.Sprintf(" (the value is the default of the %s)", layer)
		}
		field := "spec.parameters" + string(violation.Pointer)
		if h.options.SchemaCheck == SchemaWarn {
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

// originOf finds the defaulted subtree that a pointer leads into, and its layer.
func originOf(from map[string]string, pointer string) (string, string) {
	for at := pointer; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if layer, ok := from[at]; ok {
			return at, layer
		}
	}
	return "", ""
}
