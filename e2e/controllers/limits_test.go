package controllers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// With the one right beyond its namespaces that it can be given, to read policies, a
// controller of some namespaces keeps to their limits.
func TestLimitsHoldInNamespaces(t *testing.T) {
	e := newEnv(t)
	tenants, a := e.Name("tenants"), e.newNamespace("a")
	e.account(tenants, a)
	e.readsPolicies(tenants)
	e.restricted(tenants, []string{a})
	p := e.tenancy(a)
	e.Ready(p.broker)
	limit := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: e.Name("few")}}
	limit.Spec.Action, limit.Spec.MaxInstances = api.PolicyLimit, new(int32(1))
	limit.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{a}}
	limit.Spec.Subjects = []api.PolicySubject{{PlanSubject: api.PlanSubject{ClassName: p.instance.Spec.ServiceClassExternalName}}}
	e.Create(limit)
	t.Cleanup(func() { assert.NoError(t, client.IgnoreNotFound(e.Client().Delete(context.Background(), limit))) })

	var all []*api.ServiceInstance
	for i := range 3 {
		db := p.instance.DeepCopy()
		db.Name = fmt.Sprintf("db-%d", i)
		err := e.Client().Create(t.Context(), db)
		if apierrors.IsForbidden(err) {
			continue // what is plainly over is refused before
		}
		assert.NoError(t, err)
		all = append(all, db)
	}
	e.Eventually(func() (bool, error) {
		ready, waiting := 0, 0
		for _, db := range all {
			e.Get(db)
			switch found := env.ConditionOf(db, api.ConditionReady); {
			case found.Status == api.ConditionTrue:
				ready++
			case found.Reason == "WaitingForSlot":
				waiting++
			}
		}
		if ready == 1 && waiting == len(all)-1 {
			return true, nil
		}
		return false, fmt.Errorf("of %d: ready %d, waiting %d", len(all), ready, waiting)
	})
	assert.Len(t, p.books.Instances(), 1)
	p.books.AssertDuties(t)
}

// readsPolicies gives an account the right to read policies.
func (e *testEnv) readsPolicies(account string) {
	e.Helper()
	name := "defaultplan-controller-" + account
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name + "-policies"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{api.GroupName}, Resources: []string{"bindingpolicies", "provisioningpolicies"}, Verbs: []string{"get", "list", "watch"}},
	}}
	e.Create(role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: name}},
	})
}
