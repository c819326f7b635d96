package importing

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// A moved instance is what became of one of the file, and what it is an instance of here.
type movedInstance struct {
	*outcome

	offer offer
}

// An instanceStep adopts the instances of the file.
type instanceStep struct {
	*side

	contents *moving.Contents
	offers   map[string]offer
}

// moveInstances adopts the instances of the file, and returns what became of each, by its place
// on the old side.
func moveInstances(ctx context.Context, s *side, contents *moving.Contents, offers map[string]offer) map[types.NamespacedName]movedInstance {
	step := &instanceStep{s, contents, offers}
	moved := map[types.NamespacedName]movedInstance{}
	outcomes := make([]*outcome, 0, len(contents.Instances))
	for _, exported := range contents.Instances {
		o := &outcome{exported: exported}
		found := step.offered(exported)
		o.attempt(ctx, func() error { return step.one(ctx, exported, found, o) })
		moved[client.ObjectKeyFromObject(exported)] = movedInstance{o, found}
		outcomes = append(outcomes, o)
	}
	s.settle(ctx, outcomes)
	return moved
}

// offered is what the plan of an instance is here.
func (i *instanceStep) offered(exported *v1beta1.ServiceInstance) offer {
	namespace, plan := "", exported.Spec.ClusterServicePlanRef.GetName()
	if local := exported.Spec.ServicePlanRef.GetName(); local != "" {
		namespace, plan = exported.Namespace, local
	}
	title := v1beta1.ScopedKind(namespace, "ServicePlan") + " " + cli.Qualified(namespace, plan)
	found, is := i.offers[title]
	if !is {
		return offer{why: title + ", its plan, is not in the file: it was gone on the old side; change its plan there, or adopt it with svcat adopt"}
	}
	if found.why != "" {
		found.why = title + ", its plan: " + found.why
	}
	return found
}

func (i *instanceStep) one(ctx context.Context, exported *v1beta1.ServiceInstance, found offer, o *outcome) error {
	switch why := i.contents.Obstacle(exported); {
	case why != "":
		o.endf(moving.NotMoved, "%s", why)
		return nil
	case i.collides(exported, o):
		return nil
	case found.why != "":
		o.endf(moving.NotMoved, "%s", found.why)
		return nil
	case found.untried != "":
		o.endf(moving.WouldMove, "%s", found.untried)
		return nil
	}
	wanted := i.wanted(exported, found)
	if done, err := i.already(ctx, wanted, o); done || err != nil {
		return err
	}
	for key := range moving.ParameterSecrets(exported.Spec.ParametersFrom, exported.Namespace) {
		if why, err := i.need(ctx, i.contents.Secret(key), i.names.Key(key)); err != nil || why != "" {
			o.endf(moving.NotMoved, "%s", why)
			return err
		}
	}
	return i.adopt(ctx, wanted, o)
}

// collides says whether an object comes to the place of another one of the file, as --map can have it.
func (s *side) collides(exported client.Object, o *outcome) bool {
	place := moving.KindOf(exported) + " " + s.names.Place(exported).String()
	if other := s.taken[place]; other != "" {
		o.endf(moving.Conflict, "%s comes to the same place: give it or its namespace another name with --map", other)
		return true
	}
	if s.taken == nil {
		s.taken = map[string]string{}
	}
	s.taken[place] = moving.Title(exported)
	return false
}

// already looks whether the object is here. One that is otherwise than wanted is a conflict.
func (s *side) already(ctx context.Context, wanted client.Object, o *outcome) (bool, error) {
	has, _ := wanted.DeepCopyObject().(client.Object)
	err := s.client.Get(ctx, client.ObjectKeyFromObject(wanted), has)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch fields := differences(has, wanted); {
	case has.GetDeletionTimestamp() != nil:
		o.endf(moving.Conflict, "one of that name is being deleted here: wait until it is gone, and run the command again")
	case len(fields) > 0 && moving.IDOf(has) == moving.IDOf(wanted):
		o.endf(moving.Conflict, "it is here under the same ID, with other values in %s: it is not overwritten, and there is nothing to do if they were changed here", strings.Join(fields, ", "))
	case len(fields) > 0:
		o.endf(moving.Conflict, "another one of that name is here, with other values in %s; it is not overwritten: "+
			"give it another name or namespace with --map, or remove it here if it is not needed", strings.Join(fields, ", "))
	default:
		o.here, o.existed = has, true
	}
	return true, nil
}

// adopt creates the object, which admission takes as it is and the controller adopts.
func (s *side) adopt(ctx context.Context, wanted client.Object, o *outcome) error {
	if s.lacking[wanted.GetNamespace()] {
		o.endf(moving.WouldMove, "not tried: its namespace is not here yet")
		return nil
	}
	annotations := wanted.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1beta1.AnnotationAdopt] = "true"
	wanted.SetAnnotations(annotations)
	if err := s.create(ctx, wanted); err != nil {
		return err
	}
	if s.dryRun {
		o.endf(moving.WouldMove, "admission takes it")
		return nil
	}
	o.here = wanted
	return nil
}

// wanted is the instance as it is to be here: its spec as it was exported, with the names that
// its class and plan have here.
func (i *instanceStep) wanted(exported *v1beta1.ServiceInstance, found offer) *v1beta1.ServiceInstance {
	wanted := exported.DeepCopy()
	bare(wanted, i.names.Place(exported))
	wanted.Status = v1beta1.ServiceInstanceStatus{}
	spec := &wanted.Spec
	spec.UserInfo, spec.ExternalID = nil, moving.IDOf(exported)
	spec.DecidedReference = found.references()
	found.rename(&spec.PlanReference)
	if has := found.serviceType(); has != "" && spec.ServiceType != has {
		spec.ServiceType = "" // it says what the plan is no more
	}
	if spec.Sharing != nil {
		for at, namespace := range spec.Sharing.Namespaces {
			spec.Sharing.Namespaces[at] = i.names.New(namespace)
		}
		spec.Sharing.Namespaces = slices.Compact(slices.Sorted(slices.Values(spec.Sharing.Namespaces)))
	}
	return wanted
}
