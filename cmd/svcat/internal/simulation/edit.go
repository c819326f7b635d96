package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

// An edit is what becomes of the next edit of an object's spec that changes nothing that
// matters.
type edit struct {
	refused string
	plan    resolve.Ref
	decided bool
	// warnings are what admission says of an object that stays undecided.
	warnings string
}

// editOf tries that edit: it raises a counter of the spec.
func editOf(ctx context.Context, cluster *offline.Cluster, kind string, at client.ObjectKey) (edit, error) {
	_, object, err := cluster.Stored(v1beta1.GroupVersion.WithKind(kind), at)
	if err != nil || object == nil {
		return edit{}, err
	}
	counter := []string{"spec", "updateRequests"}
	if kind == kindBinding {
		counter = []string{"spec", "rotation", "requests"}
	}
	count, _, _ := unstructured.NestedInt64(object.Object, counter...)
	if err := unstructured.SetNestedField(object.Object, count+1, counter...); err != nil {
		return edit{}, fmt.Errorf("cannot edit %s %q: %w", kind, at, err)
	}
	result, err := cluster.Update(ctx, offline.Request{Object: object, User: offline.Admin(), DryRun: true})
	if err != nil {
		return edit{}, fmt.Errorf("cannot edit %s %q: %w", kind, at, err)
	}
	if denied := result.Denied; denied != nil {
		return edit{refused: denied.ErrStatus.Message}, nil //nolint:nilerr // a denial is a result
	}
	made := edit{}
	if made.plan, made.decided = planOf(result.Object); !made.decided {
		made.warnings = joined(result.Warnings)
	}
	return made, nil
}

// parametersRefused is the denial of an edit that makes the parameters of an instance what
// they are; empty for none. The cluster holds the same objects afterwards.
func parametersRefused(ctx context.Context, cluster *offline.Cluster, at client.ObjectKey) (string, error) {
	_, object, err := cluster.Stored(v1beta1.GroupVersion.WithKind(kindInstance), at)
	if err != nil || object == nil {
		return "", err
	}
	parameters, _, _ := unstructured.NestedMap(object.Object, "spec", "parameters")
	if parameters == nil {
		parameters = map[string]any{}
	}
	kept, other := object.DeepCopy(), object.DeepCopy()
	before := maps.Clone(parameters)
	before["simulated"] = "edited before"
	for changed, to := range map[*unstructured.Unstructured]map[string]any{object: parameters, other: before} {
		if err := unstructured.SetNestedMap(changed.Object, to, "spec", "parameters"); err != nil {
			return "", fmt.Errorf("cannot edit the parameters of %s %q: %w", kindInstance, at, err)
		}
	}
	if err := restore(cluster, other); err != nil { //nolint:contextcheck // it waits for nothing
		return "", fmt.Errorf("cannot edit the parameters of %s %q: %w", kindInstance, at, err)
	}
	result, err := cluster.Update(ctx, offline.Request{Object: object, User: offline.Admin(), DryRun: true})
	if err := errors.Join(err, restore(cluster, kept)); err != nil { //nolint:contextcheck // nor does this
		return "", fmt.Errorf("cannot edit the parameters of %s %q: %w", kindInstance, at, err)
	}
	if denied := result.Denied; denied != nil {
		return denied.ErrStatus.Message, nil //nolint:nilerr // a denial is a result
	}
	return "", nil
}

// planOf is the plan that an instance was decided on.
func planOf(object *unstructured.Unstructured) (resolve.Ref, bool) {
	if name, _, _ := unstructured.NestedString(object.Object, "spec", "clusterServicePlanRef", "name"); name != "" {
		return resolve.Ref{Name: name}, true
	}
	name, _, _ := unstructured.NestedString(object.Object, "spec", "servicePlanRef", "name")
	return resolve.Ref{Namespace: object.GetNamespace(), Name: name}, name != ""
}

func joined(warnings []string) string { return strings.Join(warnings, "\n") }
