package diff

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// What a broker is asked to do for an object that it is not asked about.
const (
	deleting  = "nothing: it is being deleted"
	undecided = "nothing until a plan is decided"
)

// instanceCall says what the controller would ask of the broker for an instance that is stored so,
// and would be so: by the controller's own decision, made of the answer of the dry run.
func instanceCall(ctx context.Context, reader client.Reader, stored, merged *v1beta1.ServiceInstance) (string, error) {
	if merged.DeletionTimestamp != nil {
		return deleting, nil
	}
	offers := catalog.NewReader(reader)
	offering, problem, err := offers.OfInstance(ctx, merged)
	switch {
	case apierrors.IsForbidden(err):
		return "unknown: the class and the plan may not be read", nil
	case err != nil:
		return "", err
	case problem != nil && problem.Undecided:
		return undecided, nil
	case problem != nil:
		return "nothing: " + problem.Message, nil
	}
	resource := lifecycle.OfInstance(merged)
	updatable, err := offers.PlanUpdatable(ctx, offering, merged.Namespace, resource.Record.Applied)
	if err != nil {
		return "", err
	}
	wanted, err := wantedOf(ctx, stored, merged, &resource)
	if err != nil {
		return "", err
	}
	wanted.desired.BrokerTarget, wanted.desired.PlanName = offering.Target, offering.PlanName
	wanted.desired.MaintenanceVersion, wanted.desired.PlanUpdatable = offering.MaintenanceVersion(), updatable
	wanted.desired.AllowContextUpdates = offering.Class.AllowContextUpdates
	return wanted.call(&resource, lifecycle.Facts{
		Now: time.Now(), Desired: &wanted.desired, Fetchable: offering.Class.InstancesRetrievable,
		Settled: true, NewID: merged.Spec.ExternalID,
	}), nil
}

// A want is what is asked for of a broker, as far as it is known without the values of Secrets.
type want struct {
	desired lifecycle.Desired
	// plain are the parameters of the spec, and secrets says that others come from Secrets.
	plain   map[string]any
	secrets bool
}

func wantedOf(ctx context.Context, stored, merged *v1beta1.ServiceInstance, resource *lifecycle.Resource) (*want, error) {
	before, err := plain(ctx, stored)
	if err != nil {
		return nil, err
	}
	now, err := plain(ctx, merged)
	if err != nil {
		return nil, err
	}
	w := &want{plain: now.Values, secrets: len(merged.Spec.ParametersFrom) > 0}
	w.desired.ParameterChecksum, w.desired.UpdateRequests = now.Checksum, merged.Spec.UpdateRequests
	sent := cmp.Or(resource.Record.InProgress, resource.Record.Applied)
	if sent != nil {
		// Which annotations brokers are told of is the controller's to know.
		w.desired.ContextChecksum = sent.ContextChecksum
	}
	if same := before.Checksum == now.Checksum && equality.Semantic.DeepEqual(stored.Spec.ParametersFrom, merged.Spec.ParametersFrom); w.secrets && same && sent != nil {
		// As the controller, it presumes that the Secrets have the values that were sent last.
		w.desired.ParameterChecksum = sent.ParameterChecksum
	}
	if resource.OfRetired() {
		if sum, err := merge.RetiredChecksum(now.Values); err == nil {
			resource.Recognize(&w.desired, sum)
		}
	}
	return w, nil
}

// plain are an instance's parameters without those from Secrets.
func plain(ctx context.Context, instance *v1beta1.ServiceInstance) (parameters.Set, error) {
	reader := parameters.NewReader(nil) // no Secret is read
	set, problem, err := reader.Read(ctx, instance, instance.Spec.Parameters, nil)
	if problem != nil {
		err = fmt.Errorf("instance %q: %s", instance.Name, problem.Message)
	}
	return set, err
}

// call says which call the controller would decide on.
func (w *want) call(resource *lifecycle.Resource, facts lifecycle.Facts) string {
	changes := resource.Changes(&w.desired)
	decision := lifecycle.Next(*resource, facts)
	switch decision.Step {
	case lifecycle.Provision:
		return "provision, of plan " + w.desired.PlanName
	case lifecycle.Update:
		return w.patch(changes, resource.Record.Applied)
	case lifecycle.Fetch:
		return "fetch what it has under the ID " + cmp.Or(resource.Record.ID, resource.SpecID) + ", and compare"
	case lifecycle.MitigateOrphan:
		return "remove what an earlier attempt may have made, then provision, of plan " + w.desired.PlanName
	case lifecycle.Poll:
		return w.later("the operation that is under way is waited for", changes, resource)
	case lifecycle.Rest:
		if decision.After > 0 {
			return w.later("an earlier call is waited for", changes, resource)
		}
	case lifecycle.Deprovision, lifecycle.Release:
	}
	return "nothing"
}

// later says what is asked once something ended.
func (w *want) later(first string, changes lifecycle.Changes, resource *lifecycle.Resource) string {
	if !changes.Any() {
		return "nothing new: " + first
	}
	return first + ", then " + w.patch(changes, cmp.Or(resource.Record.Applied, resource.Record.InProgress))
}

// patch says what an update changes, without a value.
func (w *want) patch(changes lifecycle.Changes, before *lifecycle.Request) string {
	var parts []string
	if changes.Plan {
		parts = append(parts, "plan "+planChange(before, w.desired.PlanName))
	}
	if changes.Parameters {
		parts = append(parts, w.parameters(before))
	}
	if changes.Context {
		parts = append(parts, "context")
	}
	if changes.Maintenance {
		parts = append(parts, "maintenance version "+w.desired.MaintenanceVersion)
	}
	return "PATCH of " + strings.Join(parts, ", ")
}

func planChange(before *lifecycle.Request, now string) string {
	if before == nil || before.PlanName == "" {
		return "to " + now
	}
	return before.PlanName + " → " + now
}

// parameters names those that change, from what was sent last. Where a Secret's value was sent,
// whether it changes is not known.
func (w *want) parameters(before *lifecycle.Request) string {
	var sent map[string]any
	if before != nil && before.Parameters != nil {
		// The record is the controller's; one that cannot be read names nothing.
		sent, _ = merge.Decode(before.Parameters.Raw)
	}
	was, is := leaves(sent), leaves(w.plain)
	changed := map[string]bool{}
	for pointer, value := range is {
		if was[pointer] != value {
			changed[string(pointer)] = true
		}
	}
	for pointer, value := range was {
		if _, stays := is[pointer]; !stays && (!w.secrets || value != redacted) {
			changed[string(pointer)] = true
		}
	}
	names := slices.Sorted(maps.Keys(changed))
	if w.secrets {
		names = append(names, "those from Secrets, if their values changed")
	}
	if len(names) == 0 {
		return "parameters"
	}
	return "parameters " + strings.Join(names, ", ")
}

// redacted is what is recorded instead of a Secret's value, as JSON.
const redacted = `"` + v1beta1.Redacted + `"`

// leaves are the values of an object that are no objects themselves, as JSON, by their pointers.
func leaves(values map[string]any) map[merge.Pointer]string {
	all := map[merge.Pointer]string{}
	for key, value := range values {
		addLeaves(all, merge.Pointer("").Child(key), value)
	}
	return all
}

func addLeaves(all map[merge.Pointer]string, at merge.Pointer, value any) {
	if object, is := value.(map[string]any); is && len(object) > 0 {
		for key, inner := range object {
			addLeaves(all, at.Child(key), inner)
		}
		return
	}
	// It was decoded, so it can be encoded.
	text, _ := merge.Canonical(value)
	all[at] = string(text)
}
