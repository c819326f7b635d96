package keeper

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A jsonOp is one operation of a JSON patch.
type jsonOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// write stores the slots of a namespace, if they changed and nobody wrote the policy
// since it was read. Only they are sent: a policy may have many thousands.
func (s *slotter) write(ctx context.Context, l *limiter) error {
	if slices.Equal(l.slots.Instances, l.before.Instances) && slices.Equal(l.slots.Bindings, l.before.Bindings) {
		return nil
	}
	data, err := json.Marshal([]jsonOp{{Op: "replace", Path: "/metadata/resourceVersion", Value: l.policy.ResourceVersion}, l.change()})
	if err != nil {
		return fmt.Errorf("cannot encode the slots of policy %q: %w", l.policy.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	written := &v1beta1.ProvisioningPolicy{}
	written.SetName(l.policy.Name)
	err = s.options.Client.Status().Patch(ctx, written, client.RawPatch(types.JSONPatchType, data), recorderOwner)
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		// What was read is not there any more, in part or in whole.
		err = apierrors.NewConflict(v1beta1.Resource("provisioningpolicies"), l.policy.Name, err)
	}
	if err != nil {
		return fmt.Errorf("cannot patch the slots of policy %q: %w", l.policy.Name, err)
	}
	s.options.Log.V(1).Info("slots granted", "policy", l.policy.Name, "namespace", l.slots.Namespace,
		"instances", len(l.slots.Instances), "bindings", len(l.slots.Bindings))
	return nil
}

// change is the operation that makes the stored slots those that are to be. It stands
// beside the version of what was read, so that the place in the list is the same.
func (l *limiter) change() jsonOp {
	stored := l.policy.Status.Slots
	at := slices.IndexFunc(stored, func(s v1beta1.PolicySlots) bool { return s.Namespace == l.slots.Namespace })
	empty := len(l.slots.Instances)+len(l.slots.Bindings) == 0
	switch {
	case at < 0 && len(stored) == 0:
		return jsonOp{Op: "add", Path: "/status/slots", Value: []v1beta1.PolicySlots{l.slots}}
	case at < 0:
		return jsonOp{Op: "add", Path: "/status/slots/-", Value: l.slots}
	case empty:
		return jsonOp{Op: "remove", Path: fmt.Sprintf("/status/slots/%d", at)}
	}
	return jsonOp{Op: "replace", Path: fmt.Sprintf("/status/slots/%d", at), Value: l.slots}
}
