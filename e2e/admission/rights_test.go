package admission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
)

// A right is a row of the table of what a write takes beside the right to write:
// it is refused by the field, and passes once that right is granted.
type right struct {
	reason     string
	of         env.Kind
	spec       string
	annotation string
	field      string
	// grant is what is granted.
	grant func(e *env.Env, user string)
}

// TestRightsThatAWriteTakes: each is refused with 403 to who lacks the right, and
// the golden file has what that user is told.
func TestRightsThatAWriteTakes(t *testing.T) { //nolint:tparallel // the golden file is compared once all rows are told
	t.Parallel()
	vault := func(e *env.Env, user string) { letReadSecret(e, user, "vault") }
	use := func(e *env.Env, user string) { grantUse(e, e.Name("broker"), user) }
	refusals := &goldenTexts{texts: map[string]string{}}
	e := env.New(t)
	e.Run("Writes", func(t *testing.T) {
		for name, r := range map[string]right{
			"ClusterBroker": {
				"it is sent the Secret", env.Kind{Name: "ClusterServiceBroker"},
				"{url: 'https://a.example', authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: vault}}}}", "",
				"spec.authInfo.basic.secretRef", vault,
			},
			"Broker": {
				"it is sent the Secret", env.Kind{Name: "ServiceBroker", Namespaced: true},
				"{url: 'https://a.example', authInfo: {bearer: {secretRef: {name: vault}}}}", "", "spec.authInfo.bearer.secretRef", vault,
			},
			"ClusterClass": {
				"its keys reach others", env.Kind{Name: "ClusterServiceClass"},
				"{externalID: a, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults, vault,
			},
			"Class": {
				"its keys reach others", env.Kind{Name: "ServiceClass", Namespaced: true},
				"{externalID: a, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults, vault,
			},
			"ClusterPlan": {
				"its keys reach others", env.Kind{Name: "ClusterServicePlan"},
				"{externalID: a, clusterServiceClassRef: {name: c}, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults,
				vault,
			},
			"Plan": {
				"its keys reach others", env.Kind{Name: "ServicePlan", Namespaced: true},
				"{externalID: a, serviceClassRef: {name: c}, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults, vault,
			},
			"Binding": {
				"its keys reach the writer", env.Kind{Name: "ServiceBinding", Namespaced: true},
				"{instanceRef: {name: later}, secretTransforms: [" + fromVault + "]}", "", "spec.secretTransforms[0].addKeysFrom.secretRef",
				vault,
			},
			"CopiedClass": {
				"it provisions at the cluster's broker", env.Kind{Name: "ServiceClass", Namespaced: true},
				"{externalID: a, clusterServiceBrokerName: NAME(broker)}", "", "spec.clusterServiceBrokerName", use,
			},
			"CopiedPlan": {
				"it provisions at the cluster's broker", env.Kind{Name: "ServicePlan", Namespaced: true},
				"{externalID: a, serviceClassRef: {name: c}, clusterServiceBrokerName: NAME(broker)}", "", "spec.clusterServiceBrokerName",
				use,
			},
			"ClusterDefault": {
				"it decides for the cluster", env.Kind{Name: "ClusterServicePlan"},
				"{externalID: a, clusterServiceClassRef: {name: c}, serviceType: NAME(db)}", api.AnnotationDefaultPlan,
				"metadata.annotations[" + api.AnnotationDefaultPlan + "]", grantDefaults,
			},
			"Default": {
				"it decides for the namespace", env.Kind{Name: "ServicePlan", Namespaced: true},
				"{externalID: a, serviceClassRef: {name: c}, serviceType: NAME(db)}", api.AnnotationDefaultPlan,
				"metadata.annotations[" + api.AnnotationDefaultPlan + "]", grantDefaults,
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				refusals.add(name, takesRight(env.New(t), r))
			})
		}
	})
	golden.MatchAll(e, "rules/rights", refusals.texts)
}

// fromVault is a transform that adds the keys of Secret "vault".
const (
	fromVault       = "{addKeysFrom: {secretRef: {name: vault, namespace: NAMESPACE}}}"
	vaultInDefaults = "spec.defaultSecretTransforms[0].addKeysFrom.secretRef"
)

func takesRight(e *env.Env, r right) string {
	e.Helper()
	mallory := addMallory(e)
	object := e.Unwritten(r.of, e.Name("new"), r.spec)
	if r.annotation != "" {
		object.SetAnnotations(map[string]string{r.annotation: "true"})
	}
	err := mallory.Client().Create(e.Context(), object.DeepCopy(), client.DryRunAll)
	e.RefusedAt(err, r.field, r.reason)
	require.True(e, apierrors.IsForbidden(err), "%v", err)
	require.NoError(e, e.Client().Create(e.Context(), object.DeepCopy(), client.DryRunAll), "who has the right writes the same")
	r.grant(e, e.Name("mallory"))
	e.Eventually(func() (bool, error) {
		err := mallory.Client().Create(e.Context(), object, client.DryRunAll)
		return err == nil, err
	})
	assert.Contains(e, env.Said(err), `"`+e.Name("mallory")+`"`, "it says who")
	return r.spec + "\n" + e.Normal(env.Said(err))
}

// grantDefaults lets a user decide the defaults of type "db", in the cluster and in
// every namespace.
func grantDefaults(e *env.Env, user string) {
	e.Helper()
	name := "defaults-" + e.Suffix
	e.Create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{"clusterservicetypes", "servicetypes"},
		ResourceNames: []string{e.Name("db")}, Verbs: []string{"update"},
	}}})
	bindCluster(e, name, user)
}
