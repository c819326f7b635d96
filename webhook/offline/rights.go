package offline

import (
	"context"
	"fmt"
	"slices"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
)

// rights are what users may do: the controller what its ClusterRole as shipped lets it, because
// admission refuses it more than it may do, such as to decide a default; any other user everything.
type rights struct{}

// Create answers a review of access.
func (rights) Create(_ context.Context, review client.Object, _ ...client.CreateOption) error {
	asked, ok := review.(*authorizationv1.SubjectAccessReview)
	if !ok {
		return fmt.Errorf("cannot create %T: only access is reviewed", review)
	}
	asked.Status.Allowed = true
	of := asked.Spec.ResourceAttributes
	if asked.Spec.User != Controller().Username || of == nil {
		return nil
	}
	role, err := controllerRole()
	asked.Status.Allowed = err == nil && slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return allows(&rule, of) })
	return err
}

// allows says whether a rule lets do what is asked. The shipped rules have no wildcards.
func allows(rule *rbacv1.PolicyRule, asked *authorizationv1.ResourceAttributes) bool {
	resource := asked.Resource
	if asked.Subresource != "" {
		resource += "/" + asked.Subresource
	}
	return slices.Contains(rule.Verbs, asked.Verb) && slices.Contains(rule.APIGroups, asked.Group) && slices.Contains(rule.Resources, resource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, asked.Name))
}

// controllerRole reads the role once.
var controllerRole = sync.OnceValues(func() (*rbacv1.ClusterRole, error) {
	role := &rbacv1.ClusterRole{}
	text, err := deploy.Manifests.ReadFile("rbac/controller_role.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, role)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the controller's role: %w", err)
	}
	return role, nil
})
