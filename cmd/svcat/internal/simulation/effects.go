package simulation

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

const (
	kindInstance = "ServiceInstance"
	kindBinding  = "ServiceBinding"
)

// An item is an instance or binding as it is stored.
type item struct {
	object client.Object
	// plan is the one that it was decided on; the zero Ref where it was not.
	plan resolve.Ref
}

func (i *item) deleting() bool { return i.object.GetDeletionTimestamp() != nil }

func (i *item) decided() bool { return i.plan.Name != "" }

func instanceItems(s *side) map[client.ObjectKey]item {
	all := make(map[client.ObjectKey]item, len(s.instances))
	for at, o := range s.instances {
		all[at] = item{o, quota.OfInstance(o)[0].Ref}
	}
	return all
}

func bindingItems(s *side) map[client.ObjectKey]item {
	all := make(map[client.ObjectKey]item, len(s.bindings))
	for at, o := range s.bindings {
		all[at] = item{o, quota.OfBinding(o, nil)[0].Ref}
	}
	return all
}

func (c *comparison) instances(ctx context.Context) error {
	found, err := c.effects(ctx, kindInstance, instanceItems(c.now), instanceItems(c.then))
	c.report.Instances = found
	return err
}

func (c *comparison) bindings(ctx context.Context) error {
	found, err := c.effects(ctx, kindBinding, bindingItems(c.now), bindingItems(c.then))
	c.report.Bindings = found
	return err
}

// effects compares the objects of a kind for which something may be different.
func (c *comparison) effects(ctx context.Context, kind string, now, then map[client.ObjectKey]item) ([]Effect, error) {
	e := &effects{comparison: c, kind: kind, suspects: c.suspects(), schemas: c.schemas()}
	e.clusters = [2]*offline.Cluster{c.now.Clone(), c.then.Clone()}
	if c.parametersUnknown {
		e.clusters = [2]*offline.Cluster{c.now.withoutSchemas(c.options), c.then.withoutSchemas(c.options)}
	}
	keys := maps.Clone(now)
	maps.Copy(keys, then)
	for _, at := range slices.SortedFunc(maps.Keys(keys), compareKeys) {
		was, had := now[at]
		is, has := then[at]
		var err error
		switch {
		case !had:
			e.created(at, &is)
		case !has:
			e.add(at, Deleted, c.now.title(was.plan), "", "")
		default:
			err = e.both(ctx, at, &was, &is)
		}
		if err != nil {
			return nil, err
		}
	}
	return e.found, nil
}

// effects are those of a kind.
type effects struct {
	*comparison

	kind     string
	clusters [2]*offline.Cluster
	// suspects are plans that are offered otherwise then.
	suspects map[resolve.Ref]bool
	// schemas are plans whose schemas are others then.
	schemas map[resolve.Ref]bool
	found   []Effect
}

func (e *effects) add(at client.ObjectKey, what What, now, then, message string) {
	e.found = append(e.found, Effect{Namespace: at.Namespace, Name: at.Name, What: what, Now: now, Then: then, Message: message})
}

func (e *effects) created(at client.ObjectKey, is *item) {
	e.add(at, Created, "", e.then.title(is.plan), "")
	if !is.decided() {
		e.add(at, Waits, "", "", "")
	}
}

// both compares an object that exists now and then.
func (e *effects) both(ctx context.Context, at client.ObjectKey, was, is *item) error {
	if !was.deleting() && is.deleting() {
		e.add(at, Deleting, e.now.title(was.plan), "", "")
	}
	moved := was.plan != is.plan
	switch {
	case moved && !was.decided():
		e.add(at, WouldBeDecided, "", e.then.title(is.plan), "")
	case moved && !is.decided():
		e.add(at, Waits, e.now.title(was.plan), "", "")
	case moved:
		e.add(at, Redecided, e.now.title(was.plan), e.then.title(is.plan), "")
	case !is.deleting() && was.object.GetGeneration() != is.object.GetGeneration():
		e.add(at, Edited, e.now.title(was.plan), e.then.title(is.plan), "")
	}
	if !moved && is.decided() && !is.deleting() {
		e.plan(at, is.plan)
	}
	if is.deleting() || !e.every && !e.suspect(was, is) {
		return nil
	}
	if err := e.edits(ctx, at, is, moved); err != nil {
		return err
	}
	if e.kind != kindInstance || e.parametersUnknown || moved || !is.decided() || !e.every && !e.schemas[is.plan] {
		return nil
	}
	if e.now.gone(is.plan) != "" || e.then.gone(is.plan) != "" {
		return nil // an edit may have it decided again
	}
	return e.parameters(ctx, at)
}

// parameters compares whether the schema of its plan takes the parameters of an instance.
func (e *effects) parameters(ctx context.Context, at client.ObjectKey) error {
	var refused [2]string
	for i, cluster := range e.clusters {
		var err error
		if refused[i], err = parametersRefused(ctx, cluster, at); err != nil {
			return err
		}
	}
	switch was, is := refused[0], refused[1]; {
	case was == "" && is != "":
		e.add(at, ParametersRefused, "", "", is)
		e.report.Refusals = append(e.report.Refusals, Refusal{Kind: e.kind, Namespace: at.Namespace, Name: at.Name, Message: is})
	case was != "" && is == "":
		e.add(at, ParametersAllowed, "", "", was)
	}
	return nil
}

// plan tells that the plan of an object went or came back.
func (e *effects) plan(at client.ObjectKey, ref resolve.Ref) {
	was, is := e.now.gone(ref), e.then.gone(ref)
	switch {
	case was == "" && is != "":
		e.add(at, PlanGone, e.now.title(ref), "", is)
	case was != "" && is == "":
		e.add(at, PlanBack, "", e.then.title(ref), "")
	}
}

// suspect says whether the next edit of an object may end otherwise then.
func (e *effects) suspect(was, is *item) bool {
	if len(e.changes) == 0 {
		return false
	}
	return was.object.GetResourceVersion() != is.object.GetResourceVersion() ||
		e.suspects[is.plan] || e.now.gone(is.plan) != "" || e.then.gone(is.plan) != ""
}

// edits compares the next edit of an object.
func (e *effects) edits(ctx context.Context, at client.ObjectKey, is *item, moved bool) error {
	was, err := editOf(ctx, e.clusters[0], e.kind, at)
	if err != nil {
		return err
	}
	then, err := editOf(ctx, e.clusters[1], e.kind, at)
	if err != nil || was == then {
		return err
	}
	switch {
	case !is.decided() && (then.refused != was.refused || then.warnings != was.warnings):
		e.add(at, Waits, "", "", then.refused+then.warnings)
	case was.refused == "" && then.refused != "":
		e.add(at, EditRefused, "", "", then.refused)
		e.report.Refusals = append(e.report.Refusals, Refusal{Kind: e.kind, Namespace: at.Namespace, Name: at.Name, Message: then.refused})
	case was.refused != "" && then.refused == "":
		e.add(at, EditAllowed, "", "", was.refused)
	case was.refused != then.refused:
		e.add(at, EditRefused, "refused", "refused", then.refused)
	case !moved && then.decided && was.plan != then.plan:
		e.add(at, Redecided, e.now.title(was.plan), e.then.title(then.plan), "at its next edit")
	}
	return nil
}

// schemas are the plans whose schemas are others then.
func (c *comparison) schemas() map[resolve.Ref]bool {
	found := map[resolve.Ref]bool{}
	for i := range c.changes {
		was, had := c.changes[i].Before.(v1beta1.PlanObject)
		is, has := c.changes[i].After.(v1beta1.PlanObject)
		if !had || !has {
			continue
		}
		a, b := was.GetSpec(), is.GetSpec()
		if !equality.Semantic.DeepEqual(a.InstanceCreateParameterSchema, b.InstanceCreateParameterSchema) ||
			!equality.Semantic.DeepEqual(a.InstanceUpdateParameterSchema, b.InstanceUpdateParameterSchema) {
			found[resolve.Ref{Namespace: was.GetNamespace(), Name: was.GetName()}] = true
		}
	}
	return found
}

// suspects are the plans that matter otherwise to admission then, by themselves or by
// their classes.
func (c *comparison) suspects() map[resolve.Ref]bool {
	found, classes := map[resolve.Ref]bool{}, map[resolve.Ref]bool{}
	for i := range c.changes {
		change := &c.changes[i]
		if !matters(change) {
			continue
		}
		object := change.After
		if object == nil {
			object = change.Before
		}
		switch object.(type) {
		case v1beta1.PlanObject:
			found[resolve.Ref{Namespace: change.Namespace, Name: change.Name}] = true
		case v1beta1.ClassObject:
			classes[resolve.Ref{Namespace: change.Namespace, Name: change.Name}] = true
		}
	}
	if len(classes) == 0 {
		return found
	}
	for _, s := range []*side{c.now, c.then} {
		for ref, plan := range s.plans {
			if classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}] {
				found[ref] = true
			}
		}
	}
	return found
}
