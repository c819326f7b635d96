package webhook

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// An instance of a binding's own is made by the controller, as admission decided it
// at the binding. It is told by its owner: so nobody else may write such an owner, or
// take the name that follows from the binding's UID.

// indexOwnInstance finds the bindings that have instances of their own by the names
// of those. It is the cache's own.
const indexOwnInstance = "defaultplan/own-instance"

func ownInstanceOf(object client.Object) []string {
	if b, ok := object.(*v1beta1.ServiceBinding); ok && b.Dedicated() {
		return []string{v1beta1.DedicatedInstanceName(b)}
	}
	return nil
}

// takeDedicated admits the instance of a binding's own just as the binding asks for
// it: nothing is merged, and it is in the name of the binding's user.
func (m *instanceMutation) takeDedicated(ctx context.Context, owner *metav1.OwnerReference) error {
	denied, err := m.refusedDedicated(ctx, m.instanceWrite, owner)
	if err != nil {
		return err
	}
	if denied != nil {
		m.Deny(denied)
		return nil
	}
	m.spec.ExternalID = mint(m.Req, "", &m.New.Metadata, m.annotations)
	applied := appliedOf(m.New.Metadata.Annotations)
	m.Rule, m.Chosen = applied.Rule, refsOf(&m.spec.DecidedReference, m.Req.Namespace).plan
	m.Audit("rule", m.Rule)
	m.Audit("plan", applied.Class+"/"+applied.Plan)
	m.Audit("own-of", owner.Name)
	return nil
}

// refusedDedicated says why an instance is not the one of its owner's own, nil if it
// is. The binding is read live: it was created a moment ago.
func (h *instances) refusedDedicated(ctx context.Context, w *instanceWrite, owner *metav1.OwnerReference) (*review.Denial, error) {
	if !h.options.isController(w.Req.UserInfo.Username) {
		return forgedOwner(w.Req.Namespace, owner.Name), nil
	}
	stored := &v1beta1.ServiceBinding{}
	found, err := scope{reader: h.resolver.catalog.live, namespace: w.Req.Namespace}.read(ctx, owner.Name, stored)
	switch {
	case err != nil:
		return nil, err
	case !found, stored.UID != owner.UID:
		return notAsAsked(owner.Name, "there is no such binding of the UID that the owner reference says"), nil
	case !stored.Dedicated():
		return notAsAsked(owner.Name, "the binding names its instance"), nil
	case !stored.Spec.Decided():
		return notAsAsked(owner.Name, "the binding is not decided"), nil
	case stored.DeletionTimestamp != nil:
		return notAsAsked(owner.Name, "the binding is being deleted"), nil
	}
	asked, err := v1beta1.DedicatedInstance(stored)
	if err != nil {
		return notAsAsked(owner.Name, err.Error()), nil
	}
	return differsFrom(asked, w, owner.Name), nil
}

// differsFrom refuses an instance that is not as the binding asks for it. Its ID is
// not the binding's to say: it is minted.
func differsFrom(asked *v1beta1.ServiceInstance, w *instanceWrite, binding string) *review.Denial {
	given := *w.New.Spec
	if given.ExternalID == w.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID] {
		given.ExternalID = ""
	}
	const record = v1beta1.AnnotationAppliedDefaults
	switch {
	case w.Req.Name != asked.Name:
		return notAsAsked(binding, fmt.Sprintf("its name is to be %q", asked.Name))
	case !sameSpec(&given, &asked.Spec), !equality.Semantic.DeepEqual(given.UserInfo, asked.Spec.UserInfo):
		return notAsAsked(binding, "its spec is another than that which was decided on at the binding")
	case w.New.Metadata.Annotations[record] != asked.Annotations[record]:
		return notAsAsked(binding, "its annotation "+record+" is another than that which follows from the binding's")
	}
	return nil
}

// judgeNewOwner judges a new instance of a binding's own. It says that nothing else
// is to be judged: that was done at the binding.
func (v *instanceValidation) judgeNewOwner(ctx context.Context) (done bool, err error) {
	owner, dedicated := v.New.Metadata.DedicatedTo()
	if !dedicated {
		return false, v.judgeName(ctx)
	}
	v.Chosen = v.now.plan
	v.Denied, err = v.refusedDedicated(ctx, v.instanceWrite, &owner)
	if err == nil && v.Denied == nil && v.New.Spec.ExternalID != v.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID] {
		v.Denied = notAsAsked(owner.Name, "its externalID was not minted")
	}
	return true, err
}

// judgeName refuses a name that is kept for the instance of a binding's own: that
// would never be made.
func (v *instanceValidation) judgeName(ctx context.Context) error {
	owner, err := v.ownerByName(ctx, v.Req.Namespace, v.Req.Name)
	if err == nil && owner != "" {
		v.Deny(review.Forbidden("DedicatedForged", "metadata.name", "%q is the name of the instance that belongs to binding %q", v.Req.Name, owner).
			Remedy("name it otherwise"))
	}
	return err
}

// ownerByName is the binding whose own instance has that name, empty for none.
func (h *commons) ownerByName(ctx context.Context, namespace, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var list v1beta1.ServiceBindingList
	options := []client.ListOption{client.InNamespace(namespace), client.MatchingFields{indexOwnInstance: name}, client.UnsafeDisableDeepCopy}
	if err := h.resolver.catalog.cached.List(ctx, &list, options...); err != nil {
		return "", fmt.Errorf("cannot list bindings: %w", err)
	}
	if len(list.Items) == 0 {
		return "", nil
	}
	return list.Items[0].Name, nil
}

// judgeOwner refuses to make a stored instance one of a binding's own, and to share
// one that is.
func (v *instanceValidation) judgeOwner() {
	owner, dedicated := v.New.Metadata.DedicatedTo()
	if !dedicated {
		return
	}
	if was, before := v.Old.Metadata.DedicatedTo(); !before || was.UID != owner.UID {
		v.Deny(forgedOwner(v.Req.Namespace, owner.Name))
		return
	}
	shared := v.New.Spec.Sharing
	if shared != nil && (len(shared.Namespaces) > 0 || shared.NamespaceSelector != nil) && !sameValue(shared, v.Old.Spec.Sharing) {
		v.Deny(notYours("spec.sharing", v.Req.Name, owner.Name).Ways("share an instance that belongs to no binding; those that there are", suggest.Instances(v.Req.Namespace)))
	}
}

// refusedOwn refuses to bind to an instance that another binding has for itself: by
// its owner, or, where someone took that away, by its name.
func (h *bindings) refusedOwn(ctx context.Context, instance *v1beta1.ServiceInstance) (*review.Denial, error) {
	owner, dedicated := instance.DedicatedTo()
	if !dedicated {
		var err error
		if owner.Name, err = h.ownerByName(ctx, instance.Namespace, instance.Name); err != nil || owner.Name == "" {
			return nil, err
		}
	}
	return notYours("spec.instanceRef.name", instance.Name, owner.Name).
		Ways("bind to another instance; those that there are", suggest.Instances(instance.Namespace)).
		Ways("or ask for a binding that gets an instance of its own", suggest.Claim(instance.Namespace)), nil
}

// notYours refuses what would give an instance of a binding's own to another.
func notYours(field, instance, binding string) *review.Denial {
	return review.Forbidden("Dedicated", field, "instance %q belongs to binding %q: no other binds to it", instance, binding)
}

// forgedOwner refuses an owner that only the controller may write, at creation.
func forgedOwner(namespace, binding string) *review.Denial {
	return review.Forbidden("DedicatedForged", "metadata.ownerReferences", "it makes the instance belong to binding %q, and such an instance is made by the controller alone", binding).
		Remedy("leave the owner out").
		Ways("or ask for a binding that gets an instance of its own", suggest.Claim(namespace))
}

// notAsAsked refuses to the controller an instance that is not as its binding asks
// for it.
func notAsAsked(binding, why string) *review.Denial {
	return review.Forbidden("DedicatedForged", "metadata.ownerReferences", "it is not the instance that binding %q asks for: %s", binding, why).
		Remedy("leave the owner out; the controller makes what the binding asks for by itself")
}
