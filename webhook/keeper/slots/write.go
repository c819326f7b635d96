package slots

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// The reason and action of the event about a policy whose slots the API server
// rejects.
const (
	reasonNotStored = "SlotsNotStored"
	actionGrant     = "Grant"
)

// A jsonOp is one operation of a JSON patch.
type jsonOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// write stores the slots of a namespace if they changed, on the condition that
// the policy was not written since it was read. It sends only those of the
// namespace, because a policy may have many thousands.
func (s *slotAllocator) write(ctx context.Context, l *limiter) error {
	if slices.Equal(l.slots.Instances, l.before.Instances) && slices.Equal(l.slots.Bindings, l.before.Bindings) {
		return nil
	}
	data, err := json.Marshal([]jsonOp{{Op: "replace", Path: "/metadata/resourceVersion", Value: l.policy.ResourceVersion}, l.change()})
	if err != nil {
		return fmt.Errorf("cannot encode the slots of policy %q: %w", l.policy.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, controller.WriteTimeout)
	defer cancel()
	written := &v1beta1.ProvisioningPolicy{}
	written.SetName(l.policy.Name)
	err = s.options.Client.Status().Patch(ctx, written, client.RawPatch(types.JSONPatchType, data), controller.FieldOwner)
	if err != nil {
		err = s.refused(ctx, l, err)
		return fmt.Errorf("cannot patch the slots of policy %q: %w", l.policy.Name, err)
	}
	s.options.Log.V(1).Info("slots granted", "policy", l.policy.Name, "namespace", l.slots.Namespace,
		"instances", len(l.slots.Instances), "bindings", len(l.slots.Bindings))
	return nil
}

// refused handles a rejected write of slots. If the policy was changed or
// deleted since it was read, that is a conflict. Otherwise the policy itself is
// the cause, and an event tells its administrators.
func (s *slotAllocator) refused(ctx context.Context, l *limiter, err error) error {
	if !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) && !tooLarge(err) {
		return err
	}
	now := &v1beta1.ProvisioningPolicy{}
	getErr := s.options.Live.Get(ctx, client.ObjectKeyFromObject(l.policy), now)
	switch {
	case apierrors.IsNotFound(getErr), getErr == nil && now.ResourceVersion != l.policy.ResourceVersion:
		return apierrors.NewConflict(v1beta1.Resource("provisioningpolicies"), l.policy.Name, err)
	case getErr != nil:
		return fmt.Errorf("cannot get policy %q, whose slots were refused: %w", l.policy.Name, getErr)
	}
	s.options.Recorder.Eventf(l.policy, nil, corev1.EventTypeWarning, reasonNotStored, actionGrant,
		"the API server does not take the slots of namespace %q (code %d, %s): no slot is granted there until it does; "+
			"a policy has room for some 30,000, so let several policies limit fewer namespaces each",
		l.slots.Namespace, controller.StatusCode(err), apierrors.ReasonForError(err))
	return err
}

// tooLarge says whether etcd rejected an object for its size, for which API
// servers have no code.
func tooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || strings.Contains(err.Error(), "request is too large")
}

// change is the patch operation that stores the slots. It is sent together with
// the resourceVersion that was read, so that the index in the list is valid.
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
