package test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestADeletedNamespaceGoesWithAllThatIsInIt(t *testing.T) {
	t.Parallel()
	client := clientset(t, useShared(t))
	name := namespace(t, client)
	_, err := client.CoreV1().ConfigMaps(name).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}))
	eventually(t, func(ctx context.Context) bool {
		_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestAnOwnedObjectIsCollectedWithItsOwner(t *testing.T) {
	t.Parallel()
	client := clientset(t, useShared(t))
	maps := client.CoreV1().ConfigMaps(namespace(t, client))
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "owned",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
	}}
	_, err = maps.Create(t.Context(), owned, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, maps.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}))
	eventually(t, func(ctx context.Context) bool {
		_, err := maps.Get(ctx, owned.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestAnAggregatedClusterRoleGetsTheRulesOfItsParts(t *testing.T) {
	t.Parallel()
	roles := clientset(t, useShared(t)).RbacV1().ClusterRoles()
	labels := map[string]string{"aggregate-to": "whole"}
	part := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "part", Labels: labels},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}},
	}
	whole := &rbacv1.ClusterRole{
		ObjectMeta:      metav1.ObjectMeta{Name: "whole"},
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: labels}}},
	}
	for _, role := range []*rbacv1.ClusterRole{whole, part} {
		_, err := roles.Create(t.Context(), role, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	eventually(t, func(ctx context.Context) bool {
		role, err := roles.Get(ctx, whole.Name, metav1.GetOptions{})
		return err == nil && assert.ObjectsAreEqual(part.Rules, role.Rules)
	})
}

func TestAResourceQuotaCountsAndRefuses(t *testing.T) {
	t.Parallel()
	client := clientset(t, useShared(t))
	name := namespace(t, client)
	const counted corev1.ResourceName = "count/configmaps"
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{counted: resource.MustParse("1")}},
	}
	_, err := client.CoreV1().ResourceQuotas(name).Create(t.Context(), quota, metav1.CreateOptions{})
	require.NoError(t, err)
	used := func(want int64) {
		eventually(t, func(ctx context.Context) bool {
			got, err := client.CoreV1().ResourceQuotas(name).Get(ctx, "one", metav1.GetOptions{})
			if err != nil {
				return false
			}
			quantity, counts := got.Status.Used[counted]
			return counts && quantity.Value() == want
		})
	}
	used(0)
	maps := client.CoreV1().ConfigMaps(name)
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "first"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "second"}}, metav1.CreateOptions{})
	require.ErrorContains(t, err, "exceeded quota")
	require.NoError(t, maps.Delete(t.Context(), "first", metav1.DeleteOptions{}))
	used(0)
}

func TestAServiceAccountTokenIsWhatItsRolesAllow(t *testing.T) {
	t.Parallel()
	p := useShared(t)
	config := p.config(t)
	config.CertData, config.KeyData, config.BearerToken = nil, nil, tokenOf(t, clientset(t, p))
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)

	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "system:serviceaccount:default:default", self.Status.UserInfo.Username)
	_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "RBAC: %v", err)
}

// namespace makes a namespace of the test's own, which also proves that every new one gets its service account.
func namespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	object, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, func(ctx context.Context) bool {
		_, err := client.CoreV1().ServiceAccounts(object.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	return object.Name
}

// tokenOf is a token of the default namespace's default service account.
func tokenOf(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	request, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return request.Status.Token
}
