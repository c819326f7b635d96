package access

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A Reviewer creates SubjectAccessReviews at the API server, as the client
// of a manager does: such an object is answered, and never stored.
type Reviewer interface {
	Create(ctx context.Context, review client.Object, options ...client.CreateOption) error
}

// Rights sends SubjectAccessReviews for the user of a request, because the
// controller later acts on what that user writes here.
type Rights struct{ reviewer Reviewer }

// New returns the rights that the reviewer knows of.
func New(reviewer Reviewer) Rights { return Rights{reviewer} }

// Allowed says whether user may do what attributes say, and the API server's
// reason, "" for none.
func (a Rights) Allowed(ctx context.Context, user authenticationv1.UserInfo, attributes authorizationv1.ResourceAttributes) (bool, string, error) {
	if user.Username == "" && len(user.Groups) == 0 {
		// The API server denies reviews of no user.
		return false, "no user is on record", nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: &attributes, User: user.Username, UID: user.UID, Groups: user.Groups,
	}}
	if len(user.Extra) > 0 {
		review.Spec.Extra = make(map[string]authorizationv1.ExtraValue, len(user.Extra))
		for key, value := range user.Extra {
			review.Spec.Extra[key] = authorizationv1.ExtraValue(value)
		}
	}
	if err := a.reviewer.Create(ctx, review); err != nil {
		return false, "", fmt.Errorf("cannot review whether user %q may %s %s %q: %w",
			user.Username, attributes.Verb, attributes.Resource, attributes.Name, err)
	}
	return review.Status.Allowed && !review.Status.Denied, reasonOf(&review.Status), nil
}

// reasonOf is the reason of a review. It includes an evaluation error: one
// authorizer could not decide, and the others did not allow.
func reasonOf(status *authorizationv1.SubjectAccessReviewStatus) string {
	switch {
	case status.EvaluationError == "":
		return status.Reason
	case status.Reason == "":
		return "evaluation error: " + status.EvaluationError
	}
	return status.Reason + "; evaluation error: " + status.EvaluationError
}

// Because formats the reason for the end of a denial.
func Because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// SecretNotReadable denies a field that names a Secret which the user may not
// get. Otherwise the writer of the field would obtain what others read by it.
func (a Rights) SecretNotReadable(ctx context.Context, user authenticationv1.UserInfo, secret types.NamespacedName, field string) (*review.Denial, error) {
	allowed, reason, err := a.Allowed(ctx, user, authorizationv1.ResourceAttributes{
		Verb: "get", Version: "v1", Resource: "secrets", Namespace: secret.Namespace, Name: secret.Name,
	})
	if allowed || err != nil {
		return nil, err
	}
	return review.Forbidden("SecretForbidden", field, "user %q may not get Secret %q%s", user.Username, secret.String(), Because(reason)).
		Remedy("someone who may get the Secret writes this, or an administrator lets you; to check: kubectl auth can-i get secret/%s -n %s --as %s",
			secret.Name, secret.Namespace, suggest.Word(user.Username)), nil
}

// BrokerNotUsable denies a field by which instances of a namespace would be
// provisioned at a ClusterServiceBroker that user may not use.
func (a Rights) BrokerNotUsable(ctx context.Context, user authenticationv1.UserInfo, broker, field string) (*review.Denial, error) {
	allowed, reason, err := a.Allowed(ctx, user, authorizationv1.ResourceAttributes{
		Verb: verbUse, Group: v1beta1.GroupName, Version: v1beta1.GroupVersion.Version, Resource: "clusterservicebrokers", Name: broker,
	})
	if allowed || err != nil {
		return nil, err
	}
	return review.Forbidden("BrokerForbidden", field, "user %q may not use ClusterServiceBroker %q%s", user.Username, broker, Because(reason)).
		Remedy("an administrator lets you, as in: %s", grantUse(user.Username, broker)), nil
}

// DefaultNotDecidable denies a field that changes the default of a type if user
// may not update the type's object.
func (a Rights) DefaultNotDecidable(ctx context.Context, user authenticationv1.UserInfo, serviceType resolve.Ref, field string) (*review.Denial, error) {
	allowed, reason, err := a.Allowed(ctx, user, authorizationv1.ResourceAttributes{
		Verb: "update", Group: v1beta1.GroupName, Version: v1beta1.GroupVersion.Version, Resource: suggest.ScopedResource(serviceType.Namespace, "servicetypes"),
		Namespace: serviceType.Namespace, Name: serviceType.Name,
	})
	if allowed || err != nil {
		return nil, err
	}
	return review.Forbidden("DefaultRight", field, "user %q may not decide the default of type %q %s: that takes the right to update %s%s",
		user.Username, serviceType.Name, resolve.InScope(serviceType.Namespace), suggest.ObjectNamed("ServiceType", serviceType), Because(reason)).
		Remedy("an administrator grants it: %s", suggest.GrantDefault(serviceType, user.Username)), nil
}

// MayBind says whether user may bind to an instance from another namespace than its
// own.
func (a Rights) MayBind(ctx context.Context, user authenticationv1.UserInfo, instance types.NamespacedName) (bool, error) {
	allowed, _, err := a.Allowed(ctx, user, authorizationv1.ResourceAttributes{
		Verb: VerbBind, Group: v1beta1.GroupName, Version: v1beta1.GroupVersion.Version, Resource: "serviceinstances",
		Namespace: instance.Namespace, Name: instance.Name,
	})
	return allowed, err
}

// VerbBind is the verb required to bind to an instance from another namespace.
const VerbBind = "bind"

// verbUse is the verb required to have instances of a namespace provisioned at
// a ClusterServiceBroker.
const verbUse = "use"

// grantUse is the command that lets a user use a broker. "kubectl create
// clusterrole" knows the verb only for kinds of its own.
func grantUse(user, broker string) string {
	role := fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"use-%s"},`+
		`"rules":[{"apiGroups":[%q],"resources":["clusterservicebrokers"],"resourceNames":[%q],"verbs":[%q]}]}`, broker, v1beta1.GroupName, broker, verbUse)
	return fmt.Sprintf("echo %s | kubectl apply -f - && kubectl create clusterrolebinding use-%s --clusterrole=use-%s --user=%s",
		suggest.Word(role), broker, broker, suggest.Word(user))
}
