package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/review"
)

func createSchema(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.InstanceCreateParameterSchema
}

func updateSchema(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.InstanceUpdateParameterSchema
}

// refusedBySchema is the denial that the merged parameters would get, nil for
// none. Updates that do not change spec must not be denied for it, so such an
// instance stays undecided.
func (m *instanceMutation) refusedBySchema(ctx context.Context, defined *definition, merged *merge.Result) (*review.Denial, error) {
	if !m.enforcesSchemas() || adopts(m.instanceWrite) {
		return nil, nil
	}
	asked := question{which: createSchema, sent: merged.Sent(), partial: len(m.spec.ParametersFrom) > 0}
	report, _, err := m.schemas.judge(ctx, defined, asked)
	if err != nil || len(report.Violations) == 0 {
		return nil, err
	}
	return firstViolation(report), nil
}

// judgeParameters validates what would be sent to the broker by the plan's
// schema: the one for creation until the instance is provisioned, then the one
// for updates.
func (v *instanceValidation) judgeParameters(ctx context.Context) error {
	if v.defined == nil || v.New.Deleting() || v.options.SchemaCheck == SchemaOff || !v.options.Gates.Enabled(SchemaChecks) {
		return nil
	}
	if v.Old != nil && v.was == v.now && sameParameters(v.Old.Spec.Parameters, v.New.Spec.Parameters) {
		return nil
	}
	values, err := v.parameters()
	if err != nil {
		return nil //nolint:nilerr // told where the shape is judged
	}
	applied := appliedOf(v.New.Metadata.Annotations)
	asked := question{which: createSchema, sent: merge.Without(values, removedPointers(&applied)), partial: len(v.New.Spec.ParametersFrom) > 0}
	switch {
	case v.Old != nil && v.New.Status.ProvisionStatus == v1beta1.Provisioned:
		asked.which = updateSchema
	case adopts(v.instanceWrite):
		return nil
	}
	report, warning, err := v.schemas.judge(ctx, v.defined, asked)
	if err != nil {
		return err
	}
	if warning != "" {
		v.Warnf("%s", warning)
	}
	if refused := v.tellReport(&v.Result, report, applied.From); refused != nil {
		return v.denyParameters(ctx, refused, asked, applied.From)
	}
	return nil
}

// denyParameters denies parameters, and adds the remedy.
func (v *instanceValidation) denyParameters(ctx context.Context, denied *review.Denial, asked question, from map[string]string) error {
	if v.Old != nil && v.was != v.now {
		pointers, err := v.refusedDefaults(ctx, asked, from)
		if err != nil {
			return err
		}
		if len(pointers) > 0 {
			denied.Remedy("leave out what the old plan's defaults gave, as in: %s", v.readyPatch(pointers))
		}
	}
	v.Deny(denied.Ways(v.defined.toSee()))
	return nil
}

// refusedDefaults are the roots of all defaults that violate the plan's schema.
// A report is limited, so the rest is validated again without those that were
// found.
func (v *instanceValidation) refusedDefaults(ctx context.Context, asked question, from map[string]string) ([]string, error) {
	const most = 32 // rounds; each finds several
	var found []string
	for range most {
		report, _, err := v.schemas.judge(ctx, v.defined, asked)
		if err != nil {
			return nil, err
		}
		before := len(found)
		for _, violation := range report.Violations {
			root, layer := originOf(from, string(violation.Pointer))
			if layer != "" && !slices.Contains(found, root) {
				found = append(found, root)
				asked.sent = withoutValueAt(asked.sent, merge.Pointer(root).Tokens())
			}
		}
		if len(found) == before {
			break
		}
	}
	return found, nil
}

// withoutValueAt is values without what the path leads to; values stays as it is.
func withoutValueAt(values map[string]any, path []string) map[string]any {
	rest := maps.Clone(values)
	if len(path) == 1 {
		delete(rest, path[0])
		return rest
	}
	if below, ok := values[path[0]].(map[string]any); ok {
		rest[path[0]] = withoutValueAt(below, path[1:])
	}
	return rest
}

// readyPatch is a command that changes the plan and removes, in one write, the
// defaults that the new plan does not take.
func (v *instanceValidation) readyPatch(pointers []string) string {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	slices.Sort(pointers)
	var operations []operation
	for _, pointer := range slices.Compact(pointers) {
		operations = append(operations, operation{Op: "remove", Path: "/spec/parameters" + pointer})
	}
	if v.Old.Spec.PlanSelector != nil {
		// A plan cannot be named beside the selector that decided.
		operations = append(operations, operation{Op: "add", Path: "/spec/planSelector", Value: struct{}{}})
	}
	for _, field := range keptFields {
		if field.when != keptWithPlan {
			continue
		}
		value := field.value(v.New.Spec)
		switch {
		case value != nil:
			operations = append(operations, operation{Op: "add", Path: "/spec/" + field.name, Value: value})
		case field.value(v.Old.Spec) != nil:
			operations = append(operations, operation{Op: "remove", Path: "/spec/" + field.name})
		}
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return ""
	}
	// A key may hold a quote: it must not end the shell's.
	quoted := strings.ReplaceAll(string(text), "'", `'\''`)
	return fmt.Sprintf("kubectl patch -n %s serviceinstance %s --type=json -p '%s'", v.Req.Namespace, v.Req.Name, quoted)
}
