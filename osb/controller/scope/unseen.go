package scope

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An Unseen object is one that the controller of a name has not seen, and how long that controller has to see it.
type Unseen struct {
	By       string
	Patience time.Duration
	Now      time.Time
}

// TellUnseen says in status which controller an object waits for that none has written to since it
// was created: else nothing would say why it waits. It returns how long that controller has still.
// That is told by the controller without a name, where it may look into all namespaces, and once.
func TellUnseen(ctx context.Context, c client.Client, s Scope, o client.Object, u Unseen) (wait time.Duration, err error) {
	next, _ := o.DeepCopyObject().(client.Object)
	conditions, last := conditionsOf(next)
	if s.Name != "" || s.Restricted() || o.GetDeletionTimestamp() != nil || len(*conditions) > 0 {
		return 0, nil
	}
	if wait := o.GetCreationTimestamp().Add(u.Patience).Sub(u.Now); wait > 0 {
		return wait, nil
	}
	waits := v1beta1.Waiting(v1beta1.ReasonWaitsForController, fmt.Sprintf("no controller called %q, which the broker names in spec.controllerName, has seen it yet", u.By))
	*conditions = v1beta1.SetCondition(*conditions, waits, o.GetGeneration(), metav1.NewTime(u.Now))
	*last = v1beta1.LastConditionState(*conditions)
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController)); client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("cannot write the status of %q: %w", o.GetName(), err)
	}
	return 0, nil
}

// conditionsOf are the conditions in the status of an object that a controller handles, and what
// they come to in a word.
func conditionsOf(o client.Object) (conditions *[]v1beta1.Condition, last *string) {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		return &o.Status.Conditions, &o.Status.LastConditionState
	case *v1beta1.ServiceBinding:
		return &o.Status.Conditions, &o.Status.LastConditionState
	}
	if b, is := o.(v1beta1.BrokerObject); is {
		return &b.GetStatus().Conditions, &b.GetStatus().LastConditionState
	}
	return new([]v1beta1.Condition), new(string)
}
