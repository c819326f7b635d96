package admission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestWhatThePeoplesRolesGive asks the API server what the cluster's own roles
// give for our kinds, once the shipped ones are part of them.
func TestWhatThePeoplesRolesGive(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for _, role := range []string{"view", "edit", "admin"} {
		bindRole(e, role)
	}
	// The roles are summed up by a controller, a moment after they are installed.
	e.Eventually(func() (bool, error) { return mayUser(e, "edit", "create", "serviceinstances"), nil })
	e.Eventually(func() (bool, error) { return mayUser(e, "admin", "create", "serviceplans"), nil })
	for name, tc := range map[string]struct {
		reason string
		ask    []string
		roles  []string
	}{
		"See":            {reason: "each role has what the lesser one has", ask: []string{"list", "serviceplans"}, roles: []string{"view", "edit", "admin"}},
		"Provision":      {reason: "what the catalog is for", ask: []string{"create", "serviceinstances"}, roles: []string{"edit", "admin"}},
		"Unbind":         {reason: "and to give it back", ask: []string{"delete", "servicebindings"}, roles: []string{"edit", "admin"}},
		"OwnPlans":       {reason: "the namespace's own", ask: []string{"update", "serviceplans"}, roles: []string{"admin"}},
		"OwnDefaults":    {reason: "the namespace's own", ask: []string{"update", "servicetypes"}, roles: []string{"admin"}},
		"Use":            {reason: "no cluster class is copied without a grant", ask: []string{"use", "clusterservicebrokers"}},
		"Adopt":          {reason: "what exists at a broker is not adopted without a grant", ask: []string{"adopt", "serviceinstances"}},
		"AdoptBinding":   {reason: "nor another's credentials", ask: []string{"adopt", "servicebindings"}},
		"Defaults":       {reason: "the cluster's defaults are not chosen without a grant", ask: []string{"update", "clusterservicetypes"}},
		"ClusterPlans":   {reason: "the operator's", ask: []string{"update", "clusterserviceplans"}},
		"InstanceStatus": {reason: "the controller's", ask: []string{"update", "serviceinstances", "--subresource=status"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			var got []string
			for _, role := range []string{"view", "edit", "admin"} {
				if mayUser(e, role, tc.ask...) {
					got = append(got, role)
				}
			}
			assert.Equal(t, tc.roles, got, tc.reason)
		})
	}
}

// bindRole gives a user of the role's name that role in the namespace.
func bindRole(e *env.Env, role string) {
	e.Helper()
	e.Create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role}},
	})
}

// mayUser says what the API server says to a user who asks for a right.
func mayUser(e *env.Env, user string, ask ...string) bool {
	e.Helper()
	_, _, err := e.Stack.Kubectl(e.Context(), "", append([]string{"-n", e.Namespace, "--as", user, "auth", "can-i"}, ask...)...)
	return err == nil
}
