package externalid

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// verbAdopt is the verb required to set the external ID of an instance or binding:
// the ID of another user's database gives access to that database.
const verbAdopt = "adopt"

// An Adoption is a write by which an instance or binding gets its external ID.
type Adoption struct {
	Req  *admission.Request
	Meta *review.ObjectMeta
	// Id is the external ID to be, and Was the one that is stored.
	Id, Was string
}

// A holder is another object that has the ID: in its spec, or in its status as
// the current one.
type holder struct {
	types.NamespacedName

	// field is where it has it.
	field string
}

// chosen says whether the requester chose the ID: it is new, and was not
// generated. The mutating phase discards a marker that the requester sets.
func (a *Adoption) chosen() bool {
	return a.Id != "" && a.Was == "" && a.Id != a.Meta.Annotations[v1beta1.AnnotationMintedExternalID]
}

// Refuse denies an external ID that the requester chose without permission to adopt,
// and one that another object has. The permission is checked first, so that users
// without it do not learn which IDs exist.
func (a *Adoption) Refuse(ctx context.Context, rights access.Rights, live client.Reader) (*review.Denial, error) {
	if !a.chosen() {
		return nil, nil
	}
	allowed, why, err := rights.Allowed(ctx, a.Req.UserInfo, a.attributes(verbAdopt, types.NamespacedName{Namespace: a.Req.Namespace, Name: a.Req.Name}))
	if err != nil {
		return nil, err
	}
	if !allowed {
		return a.notAllowed(why), nil
	}
	held, err := a.holder(ctx, live)
	if err != nil || held == nil {
		return nil, err
	}
	seen, _, err := rights.Allowed(ctx, a.Req.UserInfo, a.attributes("get", held.NamespacedName))
	if err != nil {
		return nil, err
	}
	return a.duplicate(held, seen), nil
}

// attributes are a verb on an object of the write's kind, for a
// SubjectAccessReview.
func (a *Adoption) attributes(verb string, object types.NamespacedName) authorizationv1.ResourceAttributes {
	return authorizationv1.ResourceAttributes{
		Verb: verb, Group: v1beta1.GroupName, Version: v1beta1.GroupVersion.Version, Resource: a.Req.Resource.Resource,
		Namespace: object.Namespace, Name: object.Name,
	}
}

// holder is another object of the kind that has the ID, in whatever namespace, nil
// if there is none. The read is live: IDs are chosen rarely, and so no cache needs
// to hold all instances. Two concurrent writes of one ID both pass.
func (a *Adoption) holder(ctx context.Context, live client.Reader) (*holder, error) {
	for _, field := range []string{v1beta1.FieldExternalID, v1beta1.FieldStatusExternalID} {
		having, err := a.having(ctx, live, client.MatchingFields{field: a.Id})
		if err != nil {
			return nil, fmt.Errorf("cannot find the holder of an external ID: %w", err)
		}
		for _, other := range having {
			// The same create, sent twice: the API server answers
			// AlreadyExists.
			if other != (types.NamespacedName{Namespace: a.Req.Namespace, Name: a.Req.Name}) {
				return &holder{other, field}, nil
			}
		}
	}
	return nil, nil
}

// having lists the objects of the write's kind that match.
func (a *Adoption) having(ctx context.Context, live client.Reader, match client.ListOption) ([]types.NamespacedName, error) {
	var list client.ObjectList = &v1beta1.ServiceInstanceList{}
	if a.Req.Kind.Kind == "ServiceBinding" {
		list = &v1beta1.ServiceBindingList{}
	}
	if err := live.List(ctx, list, match); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", a.Req.Resource.Resource, err)
	}
	var found []types.NamespacedName
	err := apimeta.EachListItem(list, func(item runtime.Object) error {
		object, err := apimeta.Accessor(item)
		if err == nil {
			found = append(found, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of %s: %w", a.Req.Resource.Resource, err)
	}
	return found, nil
}

// notAllowed refuses a requester who may not adopt.
func (a *Adoption) notAllowed(why string) *review.Denial {
	user := a.Req.UserInfo.Username
	denied := review.Forbidden("AdoptForbidden", "spec.externalID",
		"a %s with an ID of your choosing takes over what has that ID at the broker: that takes the verb %s on %s.%s, which user %q does not have in namespace %q%s",
		a.Req.Kind.Kind, verbAdopt, a.Req.Resource.Resource, v1beta1.GroupName, user, a.Req.Namespace, access.Because(why))
	if Marked(a.Meta) {
		return denied.Remedy("an administrator lets you: %s", grantAdopt(a.Req.Namespace, user))
	}
	return denied.Remedy("%s", a.leaveOut()).
		Remedy("or an administrator lets you: %s", grantAdopt(a.Req.Namespace, user))
}

// leaveOut is the remedy that needs no permission.
func (a *Adoption) leaveOut() string {
	if a.Req.Operation == admissionv1.Create && parameters.Applied(a.Meta.Annotations).Rule == review.RuleRestored {
		return "leave it out, and the references with it, to get a new one at the broker"
	}
	return "leave it out: an ID is made"
}

// grantAdopt is the command that lets a user adopt in a namespace.
func grantAdopt(namespace, user string) string {
	return fmt.Sprintf("kubectl create rolebinding servicecatalog-adopt -n %s --clusterrole=servicecatalog-adopt --user=%s", namespace, suggest.Word(user))
}

// duplicate denies an ID that another object has, and names that object only to
// users who may see it.
func (a *Adoption) duplicate(held *holder, seen bool) *review.Denial {
	kind, resource := a.Req.Kind.Kind, singular[a.Req.Kind.Kind]
	if !seen {
		return duplicateID("it is in use by another %s, which user %q may not see", kind, a.Req.UserInfo.Username).
			Remedy("%s", a.leaveOut()).
			Remedy("or ask an administrator, who can find the other: kubectl get %s -A --field-selector %s=%s", resource, held.field, suggest.Word(a.Id))
	}
	return duplicateID("%s %q has it already", kind, held.String()).
		Remedy("%s", a.leaveOut()).
		Ways("or let the other go first, and what it has at the broker stay",
			suggest.Order{Kind: kind, Namespace: held.Namespace, Name: held.Name}.Abandon())
}

func duplicateID(format string, args ...any) *review.Denial {
	denied := review.Invalid("DuplicateID", "spec.externalID", format, args...)
	denied.Causes[0].Type = metav1.CauseTypeFieldValueDuplicate
	return denied
}

// singular is how kubectl calls a kind.
var singular = map[string]string{"ServiceInstance": "serviceinstance", "ServiceBinding": "servicebinding"}
