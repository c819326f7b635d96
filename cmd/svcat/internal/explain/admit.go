package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// An admission is the webhook's own handlers with these options. They run here, in memory, so no
// user needs a right to write.
type admission struct {
	scheme  *runtime.Scheme
	options *options.Options
}

// apply creates an object in a cluster of these objects, and tells what admission
// says.
func (a admission) apply(ctx context.Context, now *Now, objects []client.Object, written client.Object) (offline.Result, error) {
	cluster, err := offline.New(a.options) //nolint:contextcheck // it is made in memory, and waits for nothing
	if err != nil {
		return offline.Result{}, fmt.Errorf("cannot ask admission: %w", err)
	}
	for _, object := range objects {
		one, err := a.unstructured(object)
		if err == nil {
			err = cluster.Load(one) //nolint:contextcheck // as above
		}
		if err != nil {
			return offline.Result{}, fmt.Errorf("cannot ask admission: %w", err)
		}
	}
	one, err := a.unstructured(written)
	if err != nil {
		return offline.Result{}, err
	}
	result, err := cluster.Apply(ctx, one)
	if err != nil {
		return offline.Result{}, fmt.Errorf("cannot ask admission: %w", err)
	}
	now.hear(&result)
	return result, nil
}

// hear takes over what admission says: it has the last word.
func (n *Now) hear(result *offline.Result) {
	n.Warnings = result.Warnings
	if result.Denied != nil {
		status := result.Denied.ErrStatus
		n.Verdict, n.Refusal = Refused, &Refusal{Code: status.Code, Reason: string(status.Reason), Message: status.Message}
		if details := status.Details; details != nil && len(details.Causes) > 0 {
			var lines []string
			for _, cause := range details.Causes {
				lines = append(lines, strings.TrimPrefix(cause.Field+": "+cause.Message, ": "))
			}
			n.Refusal.Message = strings.Join(lines, "\n")
		}
		return
	}
	n.Refusal = nil
	if !decided(result.Object) {
		n.Verdict, n.Waits = Waits, waitsFor(result.Warnings)
		return
	}
	n.Verdict = Decided
	n.takeOver(result.Object)
}

// takeOver tells what admission wrote: to what comes with its references or an ID
// it adds no defaults, whatever the catalog has.
func (n *Now) takeOver(object *unstructured.Unstructured) {
	admitted := struct {
		metav1.ObjectMeta `json:"metadata"`

		Spec struct {
			Parameters          *runtime.RawExtension     `json:"parameters"`
			ProvisionParameters *runtime.RawExtension     `json:"provisionParameters"`
			SecretTransforms    []v1beta1.SecretTransform `json:"secretTransforms"`
		} `json:"spec"`
	}{}
	text, err := object.MarshalJSON()
	if err != nil || json.Unmarshal(text, &admitted) != nil {
		return
	}
	applied := appliedOf(&admitted.ObjectMeta)
	n.Rule = cmp.Or(applied.Rule, n.Rule)
	n.Transforms = storedTransforms(admitted.Spec.SecretTransforms, &applied)
	if !applied.Truncated {
		n.Parameters = storedParameters(admitted.Spec.Parameters, &applied)
	}
	if own := applied.OfInstance(); !own.Truncated {
		n.ProvisionParameters = storedParameters(admitted.Spec.ProvisionParameters, &own)
	}
}

// decided says whether an instance or binding has its plan.
func decided(object *unstructured.Unstructured) bool {
	for _, field := range []string{"clusterServicePlanRef", "servicePlanRef"} {
		if name, _, _ := unstructured.NestedString(object.Object, "spec", field, "name"); name != "" {
			return true
		}
	}
	return false
}

// waitsFor is what admission says that an undecided object waits for.
func waitsFor(warnings []string) string {
	for _, warning := range warnings {
		if why, ok := strings.CutPrefix(warning, "no plan is decided yet: "); ok {
			return strings.TrimSuffix(strings.TrimSuffix(why, "; the instance waits"), "; the binding waits")
		}
	}
	return ""
}

// unstructured is an object as it is on the wire.
func (a admission) unstructured(object client.Object) (*unstructured.Unstructured, error) {
	if one, is := object.(*unstructured.Unstructured); is {
		return one, nil
	}
	kind, err := apiutil.GVKForObject(object, a.scheme)
	if err != nil {
		return nil, fmt.Errorf("cannot tell the kind of %T: %w", object, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %T %q: %w", object, object.GetName(), err)
	}
	one := &unstructured.Unstructured{Object: content}
	one.SetGroupVersionKind(kind)
	return one, nil
}

// malformed explains an object that cannot be read: nothing is chosen for it.
func (a admission) malformed(ctx context.Context, written *document) (Explanation, error) {
	told := Explanation{Subject: written.subject(), Asks: map[string]string{}, Now: &Now{}}
	_, err := a.apply(ctx, told.Now, nil, written.object)
	return told, err
}
