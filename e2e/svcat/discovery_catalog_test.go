package svcat_test

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// proposalBroker is the broker of default-service-plans.md.
const proposalBroker = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceBroker
metadata: {name: azure}
spec: {url: "https://azure.example.com"}
`

// proposalCatalog is the catalog of the proposal's "Service Class Discovery". OWNER
// stands for the controller reference of what the broker lists.
const proposalCatalog = `
apiVersion: v1
kind: Namespace
metadata: {name: dev}
---
apiVersion: v1
kind: Namespace
metadata: {name: qa}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-redis-id, OWNER}
spec: {clusterServiceBrokerName: azure, externalID: azure-redis-id, externalName: azure-redis, serviceType: redis, description: Azure Redis, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: basic-id, OWNER, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}
spec: {clusterServiceBrokerName: azure, clusterServiceClassRef: {name: azure-redis-id}, externalID: basic-id, externalName: basic, description: Azure Redis}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-postgresql-id, OWNER}
spec: {clusterServiceBrokerName: azure, externalID: azure-postgresql-id, externalName: azure-postgresql, serviceType: postgres, description: Azure PostgreSQL, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: postgres-dev}
spec: {clusterServiceBrokerName: azure, externalID: azure-postgresql-id, externalName: postgres-dev, serviceType: postgres, description: Dev DB, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: tiny, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}
spec: {clusterServiceBrokerName: azure, clusterServiceClassRef: {name: postgres-dev}, externalID: tiny-id, externalName: tiny, description: Tiny Dev DB}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: postgres-dev, namespace: dev}
spec: {clusterServiceBrokerName: azure, externalID: azure-postgresql-id, externalName: postgres-dev, serviceType: postgres, description: Dev DB, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: postgres-qa, namespace: qa}
spec: {clusterServiceBrokerName: azure, externalID: azure-postgresql-id, externalName: postgres-qa, serviceType: postgres, description: QA DB, bindable: true}
`

// proposalInstance is the instance of "Provisioning with Defaults", with its catalog
// and a binding.
const proposalInstance = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: 997b8372-8dac-40ac-ae65-758b4a5075a5, OWNER}
spec:
  clusterServiceBrokerName: azure
  externalID: 997b8372-8dac-40ac-ae65-758b4a5075a5
  externalName: azure-mysql
  description: Azure MySQL
  bindable: true
  defaultProvisionParameters:
    location: eastus
    resourceGroup: default
    sslEnforcement: disabled
    firewallRules:
    - {name: AllowAll, startIPAddress: 0.0.0.0, endIPAddress: 255.255.255.255}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata: {name: 427559f1-bf2a-45d3-8844-32374a3e58aa, OWNER}
spec:
  serviceType: mysql
  clusterServiceBrokerName: azure
  clusterServiceClassRef: {name: 997b8372-8dac-40ac-ae65-758b4a5075a5}
  description: Basic Tier, 50 DTUs.
  externalID: 427559f1-bf2a-45d3-8844-32374a3e58aa
  externalName: basic50
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: mydb, namespace: default}
spec:
  serviceType: mysql
  clusterServiceClassExternalName: azure-mysql
  clusterServicePlanExternalName: basic50
  externalID: 6c1c2d6b-3f3c-4b0b-9a39-2c6d0d1a2d11
  parameters: {location: westus}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata: {name: mydb-admin, namespace: default}
spec:
  instanceRef: {name: mydb}
  externalID: 0f2d6f0e-6a4b-4a8c-8a63-7d6d6d3c9b22
  parameters: {user: admin}
`

// owned is a manifest with the broker's controller reference.
func (e *testEnv) owned(manifest string) string {
	e.Helper()
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}
	e.Get(broker)
	owner := "ownerReferences: [{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceBroker, name: azure, uid: " +
		string(broker.UID) + ", controller: true, blockOwnerDeletion: false}]"
	return strings.ReplaceAll(manifest, "OWNER", owner)
}

// applyAsIs creates the objects of a manifest in the namespaces that it names.
func (e *testEnv) applyAsIs(manifest string) {
	e.Helper()
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), manifest, "apply", "-f", "-")
	require.NoError(e, err, "%s%s", stdout, stderr)
}

// proposalTime is when the proposal's instance became ready.
const proposalTime = "2017-11-30T13:11:49-06:00"

// becomes writes Ready into a status, as a controller would.
func (e *testEnv) becomes(object client.Object, reason, message string) {
	e.Helper()
	patch := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"` + reason + `","message":"` + message +
		`","lastTransitionTime":"` + proposalTime + `"}]}}`
	require.NoError(e, e.Client().Status().Patch(e.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// inContext is the environment of someone whose kubeconfig says that namespace.
func (e *testEnv) inContext(namespace string) []string {
	e.Helper()
	config, err := clientcmd.LoadFromFile(e.Kubeconfig())
	require.NoError(e, err)
	for _, each := range config.Contexts {
		each.Namespace = namespace
	}
	file := filepath.Join(e.TempDir(), "kubeconfig")
	require.NoError(e, clientcmd.WriteToFile(*config, file))
	environment := []string{"KUBECONFIG=" + file}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "KUBECONFIG=") {
			environment = append(environment, pair)
		}
	}
	return environment
}
