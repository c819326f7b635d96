package instance

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// The controller creates a binding's dedicated instance as admission decided it
// at the binding. Its owner reference identifies it, so no other user may write
// such an owner reference, or use the name derived from the binding's UID.

// owners validates who writes an instance that belongs to a binding.
type owners struct {
	options      *options.Options
	cached, live client.Reader
}

func ownersOf(tools *decision.Tools) owners {
	return owners{tools.Options, tools.Resolver.Catalog.Cached, tools.Resolver.Catalog.Live}
}

// refuse denies an instance that is not the dedicated one of its
// owner; nil if it is. The read of the binding is live, because it has just
// been created.
func (o owners) refuse(ctx context.Context, w *Write, owner *metav1.OwnerReference) (*review.Denial, error) {
	if !o.options.IsController(w.Req.UserInfo.Username) {
		return forgedOwner(w.Req.Namespace, owner.Name), nil
	}
	stored := &v1beta1.ServiceBinding{}
	found, err := catalog.Scope{Reader: o.live, Namespace: w.Req.Namespace}.Read(ctx, owner.Name, stored)
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

// differsFrom denies an instance that is not as the binding specifies it. Its
// ID is generated, and not taken from the binding.
func differsFrom(asked *v1beta1.ServiceInstance, w *Write, binding string) *review.Denial {
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

// refuseNew denies what is wrong with the owner or the name of a new instance. It returns done
// for a dedicated one, of which nothing else is to be validated: that was done for the binding.
func (o owners) refuseNew(ctx context.Context, w *Write) (done bool, denied *review.Denial, err error) {
	owner, dedicated := w.New.Metadata.DedicatedTo()
	if !dedicated {
		denied, err = o.refuseName(ctx, w.Req.Namespace, w.Req.Name)
		return false, denied, err
	}
	denied, err = o.refuse(ctx, w, &owner)
	if err == nil && denied == nil && w.New.Spec.ExternalID != w.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID] {
		denied = notAsAsked(owner.Name, "its externalID was not minted")
	}
	return true, denied, err
}

// refuseName denies a name that is reserved for a dedicated instance, which
// could not be created otherwise.
func (o owners) refuseName(ctx context.Context, namespace, name string) (*review.Denial, error) {
	owner, err := OwnerByName(ctx, o.cached, namespace, name)
	if err != nil || owner == "" {
		return nil, err
	}
	return review.Forbidden("DedicatedForged", "metadata.name", "%q is the name of the instance that belongs to binding %q", name, owner).
		Remedy("name it otherwise"), nil
}

// OwnerByName is the binding whose own instance has that name, empty for none.
func OwnerByName(ctx context.Context, cached client.Reader, namespace, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var list v1beta1.ServiceBindingList
	options := []client.ListOption{client.InNamespace(namespace), client.MatchingFields{IndexDedicated: name}, client.UnsafeDisableDeepCopy}
	if err := cached.List(ctx, &list, options...); err != nil {
		return "", fmt.Errorf("cannot list bindings: %w", err)
	}
	if len(list.Items) == 0 {
		return "", nil
	}
	return list.Items[0].Name, nil
}

// refuseOwner denies making a stored instance a dedicated one, and sharing a
// dedicated one.
func refuseOwner(w *Write) *review.Denial {
	owner, dedicated := w.New.Metadata.DedicatedTo()
	if !dedicated {
		return nil
	}
	if was, before := w.Old.Metadata.DedicatedTo(); !before || was.UID != owner.UID {
		return forgedOwner(w.Req.Namespace, owner.Name)
	}
	shared := w.New.Spec.Sharing
	if shared == nil || len(shared.Namespaces) == 0 && shared.NamespaceSelector == nil || reflect.DeepEqual(shared, w.Old.Spec.Sharing) {
		return nil
	}
	return NotYours("spec.sharing", w.Req.Name, owner.Name).
		Ways("share an instance that belongs to no binding; those that there are", suggest.Instances(w.Req.Namespace))
}

// NotYours denies what would give a dedicated instance to another binding.
func NotYours(field, instance, binding string) *review.Denial {
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

// IndexDedicated finds the bindings that have instances of their own by the names
// of those. It is the cache's own.
const IndexDedicated = "defaultplan/own-instance"

// DedicatedOf is the value of IndexDedicated: the name of a binding's own instance.
func DedicatedOf(object client.Object) []string {
	if b, ok := object.(*v1beta1.ServiceBinding); ok && b.Dedicated() {
		return []string{v1beta1.DedicatedInstanceName(b)}
	}
	return nil
}
