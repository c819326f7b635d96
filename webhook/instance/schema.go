package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// refusedBySchema is the denial that the merged parameters would get, nil for
// none. Updates that do not change spec must not be denied for it, so such an
// instance stays undecided.
func (m *Mutation) refusedBySchema(ctx context.Context, defined *catalog.Definition, merged *merge.Result) (*review.Denial, error) {
	if !m.Schemas.Enforced() || adopts(m.Write) {
		return nil, nil
	}
	asked := schema.Question{Which: schema.ForCreate, Sent: merged.Sent(), Partial: len(m.Spec.ParametersFrom) > 0}
	report, _, err := m.Schemas.Check(ctx, defined, asked)
	if err != nil || len(report.Violations) == 0 {
		return nil, err
	}
	return schema.FirstViolation(report), nil
}

// validateParameters validates what would be sent to the broker by the plan's
// schema: the one for creation until the instance is provisioned, then the one
// for updates.
func (v *Validation) validateParameters(ctx context.Context) error {
	if v.Defined == nil || v.New.Deleting() || !v.Schemas.Checked() {
		return nil
	}
	if v.Old != nil && v.was == v.Now && parameters.Same(v.Old.Spec.Parameters, v.New.Spec.Parameters) {
		return nil
	}
	values, err := v.ParameterReader()
	if err != nil {
		return nil //nolint:nilerr // told where the shape is validated
	}
	applied := parameters.Applied(v.New.Metadata.Annotations)
	asked := schema.Question{Which: schema.ForCreate, Sent: merge.Without(values, parameters.Removed(&applied)), Partial: len(v.New.Spec.ParametersFrom) > 0}
	switch {
	case v.Old != nil && v.New.Status.ProvisionStatus == v1beta1.Provisioned:
		asked.Which = schema.ForUpdate
	case adopts(v.Write):
		return nil
	}
	report, warning, err := v.Schemas.Check(ctx, v.Defined, asked)
	if err != nil {
		return err
	}
	if warning != "" {
		v.Warnf("%s", warning)
	}
	if refused := v.Schemas.TellReport(&v.Result, report, applied.From); refused != nil {
		return v.denyParameters(ctx, refused, asked, applied.From)
	}
	return nil
}

// denyParameters denies parameters, and adds the remedy.
func (v *Validation) denyParameters(ctx context.Context, denied *review.Denial, asked schema.Question, from map[string]string) error {
	if v.Old != nil && v.was != v.Now {
		pointers, err := v.refusedDefaults(ctx, asked, from)
		if err != nil {
			return err
		}
		if len(pointers) > 0 {
			denied.Remedy("leave out what the old plan's defaults gave, as in: %s", v.readyPatch(pointers))
		}
	}
	v.Deny(denied.Ways(v.Defined.ToSee()))
	return nil
}

// refusedDefaults are the roots of all defaults that violate the plan's schema.
// A report is limited, so the rest is validated again without those that were
// found.
func (v *Validation) refusedDefaults(ctx context.Context, asked schema.Question, from map[string]string) ([]string, error) {
	const most = 32 // rounds; each finds several
	var found []string
	for range most {
		report, _, err := v.Schemas.Check(ctx, v.Defined, asked)
		if err != nil {
			return nil, err
		}
		before := len(found)
		for _, violation := range report.Violations {
			root, layer := schema.OriginOf(from, string(violation.Pointer))
			if layer != "" && !slices.Contains(found, root) {
				found = append(found, root)
				asked.Sent = parameters.Without(asked.Sent, merge.Pointer(root).Tokens())
			}
		}
		if len(found) == before {
			break
		}
	}
	return found, nil
}

// readyPatch is a command that changes the plan and removes, in one write, the
// defaults that the new plan does not take.
func (v *Validation) readyPatch(pointers []string) string {
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
		if field.When != restore.WithPlan {
			continue
		}
		value := field.Value(v.New.Spec)
		switch {
		case value != nil:
			operations = append(operations, operation{Op: "add", Path: "/spec/" + field.Name, Value: value})
		case field.Value(v.Old.Spec) != nil:
			operations = append(operations, operation{Op: "remove", Path: "/spec/" + field.Name})
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
