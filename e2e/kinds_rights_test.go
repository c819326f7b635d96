package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A right is a row of the table of what a write takes beside the right to write:
// it is refused by the field, and passes once that right is granted.
type right struct {
	reason     string
	of         ruledKind
	spec       string
	annotation string
	field      string
	// grant is what is granted.
	grant func(w *world, user string)
}

// TestRightsThatAWriteTakes: each is refused with 403 to who lacks the right, and
// the golden file has what that user is told.
func TestRightsThatAWriteTakes(t *testing.T) { //nolint:tparallel // the golden file is compared once all rows are told
	t.Parallel()
	vault := func(w *world, user string) { w.letReadSecret(user, "vault") }
	use := func(w *world, user string) { w.grantUse(w.name("broker"), user) }
	refusals := &goldenTexts{texts: map[string]string{}}
	w := newWorld(t)
	w.Run("Writes", func(t *testing.T) {
		for name, r := range map[string]right{
			"ClusterBroker": {
				"it is sent the Secret", ruledKind{kind: "ClusterServiceBroker"},
				"{url: 'https://a.example', authInfo: {basic: {secretRef: {namespace: NAMESPACE, name: vault}}}}", "",
				"spec.authInfo.basic.secretRef", vault,
			},
			"Broker": {
				"it is sent the Secret", ruledKind{kind: "ServiceBroker", namespaced: true},
				"{url: 'https://a.example', authInfo: {bearer: {secretRef: {name: vault}}}}", "", "spec.authInfo.bearer.secretRef", vault,
			},
			"ClusterClass": {
				"its keys reach others", ruledKind{kind: "ClusterServiceClass"},
				"{externalID: a, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults, vault,
			},
			"Class": {
				"its keys reach others", ruledKind{kind: "ServiceClass", namespaced: true},
				"{externalID: a, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults, vault,
			},
			"ClusterPlan": {
				"its keys reach others", ruledKind{kind: "ClusterServicePlan"},
				"{externalID: a, clusterServiceClassRef: {name: c}, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults,
				vault,
			},
			"Plan": {
				"its keys reach others", ruledKind{kind: "ServicePlan", namespaced: true},
				"{externalID: a, serviceClassRef: {name: c}, defaultSecretTransforms: [" + fromVault + "]}", "", vaultInDefaults, vault,
			},
			"Binding": {
				"its keys reach the writer", ruledKind{kind: "ServiceBinding", namespaced: true},
				"{instanceRef: {name: later}, secretTransforms: [" + fromVault + "]}", "", "spec.secretTransforms[0].addKeysFrom.secretRef",
				vault,
			},
			"CopiedClass": {
				"it provisions at the cluster's broker", ruledKind{kind: "ServiceClass", namespaced: true},
				"{externalID: a, clusterServiceBrokerName: NAME(broker)}", "", "spec.clusterServiceBrokerName", use,
			},
			"CopiedPlan": {
				"it provisions at the cluster's broker", ruledKind{kind: "ServicePlan", namespaced: true},
				"{externalID: a, serviceClassRef: {name: c}, clusterServiceBrokerName: NAME(broker)}", "", "spec.clusterServiceBrokerName",
				use,
			},
			"ClusterDefault": {
				"it decides for the cluster", ruledKind{kind: "ClusterServicePlan"},
				"{externalID: a, clusterServiceClassRef: {name: c}, serviceType: NAME(db)}", api.AnnotationDefaultPlan,
				"metadata.annotations[" + api.AnnotationDefaultPlan + "]", (*world).grantDefaults,
			},
			"Default": {
				"it decides for the namespace", ruledKind{kind: "ServicePlan", namespaced: true},
				"{externalID: a, serviceClassRef: {name: c}, serviceType: NAME(db)}", api.AnnotationDefaultPlan,
				"metadata.annotations[" + api.AnnotationDefaultPlan + "]", (*world).grantDefaults,
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				refusals.add(name, newWorld(t).takesRight(r))
			})
		}
	})
	w.goldenCatalog("rules/rights", refusals.texts)
}

// fromVault is a transform that adds the keys of Secret "vault".
const (
	fromVault       = "{addKeysFrom: {secretRef: {name: vault, namespace: NAMESPACE}}}"
	vaultInDefaults = "spec.defaultSecretTransforms[0].addKeysFrom.secretRef"
)

func (w *world) takesRight(r right) string {
	w.Helper()
	mallory := w.mallory()
	object := w.unwritten(r.of, w.name("new"), r.spec)
	if r.annotation != "" {
		object.SetAnnotations(map[string]string{r.annotation: "true"})
	}
	err := mallory.client.Create(w.Context(), object.DeepCopy(), client.DryRunAll)
	w.refusedAt(err, r.field, r.reason)
	require.True(w, apierrors.IsForbidden(err), "%v", err)
	require.NoError(w, w.client.Create(w.Context(), object.DeepCopy(), client.DryRunAll), "who has the right writes the same")
	r.grant(w, w.name("mallory"))
	w.eventually(func() (bool, error) {
		err := mallory.client.Create(w.Context(), object, client.DryRunAll)
		return err == nil, err
	})
	assert.Contains(w, said(err), `"`+w.name("mallory")+`"`, "it says who")
	return r.spec + "\n" + w.normal(said(err))
}

// grantDefaults lets a user decide the defaults of type "db", in the cluster and in
// every namespace.
func (w *world) grantDefaults(user string) {
	w.Helper()
	name := "defaults-" + w.suffix
	w.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: []string{"clusterservicetypes", "servicetypes"},
		ResourceNames: []string{w.name("db")}, Verbs: []string{"update"},
	}}})
	w.bindCluster(name, user)
}
