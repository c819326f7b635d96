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

// A schemaCheck validates the parameters of an instance by the schemas of its plan.
type schemaCheck struct {
	schemas *schema.Checker
	write   *Write
	defined *catalog.Definition
	// moved says that the references are not what they were.
	moved bool
}

// refuse validates what would be sent to the broker by the plan's
// schema: the one for creation until the instance is provisioned, then the one
// for updates. read gives the parameters.
func (s *schemaCheck) refuse(ctx context.Context, v *review.Result, read func() (map[string]any, error)) (*review.Denial, error) {
	w := s.write
	if w.New.Deleting() || !s.schemas.Checked() {
		return nil, nil
	}
	if w.Old != nil && !s.moved && !unmarked(w) && parameters.Same(w.Old.Spec.Parameters, w.New.Spec.Parameters) {
		return nil, nil
	}
	values, err := read()
	if err != nil {
		return nil, nil //nolint:nilerr // the shape is validated before
	}
	applied := parameters.Applied(w.New.Metadata.Annotations)
	asked := createQuestion(w.New.Spec, merge.Without(values, parameters.Removed(&applied)))
	asked.From = applied.From
	switch {
	case w.Old != nil && w.New.Status.ProvisionStatus == v1beta1.Provisioned:
		asked.Which = schema.ForUpdate
	case adopts(w):
		return nil, nil
	}
	denied, err := s.schemas.Validate(ctx, v, s.defined, asked)
	if err != nil || denied == nil {
		return nil, err
	}
	if err := s.addRemedies(ctx, denied, asked); err != nil {
		return nil, err
	}
	return denied, nil
}

// createQuestion asks whether parameters may be sent with a new instance.
func createQuestion(spec *v1beta1.ServiceInstanceSpec, sent map[string]any) schema.Question {
	return schema.Question{Which: schema.ForCreate, Sent: sent, Partial: len(spec.ParametersFrom) > 0}
}

// addRemedies adds to a denial of parameters how to leave out what the defaults of another plan
// gave, and where to read the schema.
func (s *schemaCheck) addRemedies(ctx context.Context, denied *review.Denial, asked schema.Question) error {
	if s.write.Old != nil && s.moved {
		pointers, err := s.refusedDefaults(ctx, asked)
		if err != nil {
			return err
		}
		if len(pointers) > 0 {
			denied.Remedy("leave out what the old plan's defaults gave, as in: %s", readyPatch(s.write, pointers))
		}
	}
	denied.Ways(s.defined.ToSee())
	return nil
}

// refusedDefaults are the roots of the defaults that violate the plan's schema. Without those that were
// found, it may refuse others.
func (s *schemaCheck) refusedDefaults(ctx context.Context, asked schema.Question) ([]string, error) {
	const most = 4 // rounds: each costs as much as the check that denied the write
	var found []string
	for range most {
		report, _, err := s.schemas.Check(ctx, s.defined, asked)
		if err != nil {
			return nil, err
		}
		var refused []merge.Pointer
		for _, place := range report.Places {
			if root, layer := schema.OriginOf(asked.From, string(place)); layer != "" && !slices.Contains(found, root) {
				found, refused = append(found, root), append(refused, merge.Pointer(root))
			}
		}
		if len(refused) == 0 {
			break
		}
		asked.Sent = merge.Omit(asked.Sent, refused)
	}
	return found, nil
}

// readyPatch is a command that changes the plan and removes, in one write, the
// defaults that the new plan does not take.
func readyPatch(w *Write, pointers []string) string {
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
	if w.Old.Spec.PlanSelector != nil {
		// A plan cannot be named beside the selector that decided.
		operations = append(operations, operation{Op: "add", Path: "/spec/planSelector", Value: struct{}{}})
	}
	for _, field := range keptFields {
		if field.When != restore.WithPlan {
			continue
		}
		value := field.Value(w.New.Spec)
		switch {
		case value != nil:
			operations = append(operations, operation{Op: "add", Path: "/spec/" + field.Name, Value: value})
		case field.Value(w.Old.Spec) != nil:
			operations = append(operations, operation{Op: "remove", Path: "/spec/" + field.Name})
		}
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return ""
	}
	// A key may hold a quote: it must not end the shell's.
	quoted := strings.ReplaceAll(string(text), "'", `'\''`)
	return fmt.Sprintf("kubectl patch -n %s serviceinstance %s --type=json -p '%s'", w.Req.Namespace, w.Req.Name, quoted)
}
