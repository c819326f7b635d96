package install_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	old "github.com/defaultplan/defaultplan/e2e/retired"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// The IDs in testdata/retired.yaml.
const (
	storage, archive   = "2e2fc314-37b6-4587-8127-8f9ee8b33fea", "800a17e1-f20a-463d-a290-20516052f647"
	redis              = "0346088a-d4b2-4478-aa32-f18e295ec1d9"
	basic, standard    = "362b3d1b-5b57-4289-80ad-4a15a760c29c", "4af8bbd1-962d-4e26-84f1-f72d1d959d87"
	postgresql, shared = "inhouse-postgresql", "inhouse-postgresql-shared"

	ordersID, growingID, doubtfulID = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002", "11111111-0000-4000-8000-000000000004"
	localID, readerID               = "11111111-0000-4000-8000-000000000005", "22222222-0000-4000-8000-000000000001"

	// whatOrdersHas are the parameters of orders, with those from its Secret.
	whatOrdersHas = `{"note": "a&b<c>", "big": 9007199254740993, "ratio": 1.0, "burst": 1e3}`
)

// retired is a cluster with the retired catalog: its definitions, hooks, Deployments and
// objects, and two brokers that have what it made.
type retired struct {
	*cluster

	azure, inhouse *osbtest.Broker
	// password is in the Secret of orders-reader.
	password string
}

// newRetired has the catalog and its brokers as its users left them.
func newRetired(c *cluster) *retired {
	c.Helper()
	r := &retired{cluster: c, azure: osbtest.Start(c, osbtest.Demo(osbtest.Azure)), inhouse: osbtest.Start(c, osbtest.Demo(osbtest.Inhouse))}
	for _, namespace := range []string{team, "catalog"} {
		c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cluster-info"}, Data: map[string]string{"id": "old-cluster"}})
	operation := r.made()
	require.NoError(r, old.Define(r.Context(), r.client))
	r.stores(operation)
	r.keepsCredentials()
	r.runs()
	return r
}

// made has the brokers make what the objects say, and returns the key of the operation that
// goes on.
func (r *retired) made() (operation string) {
	r.Helper()
	call := func(broker *osbtest.Broker) *osb.Client {
		client, err := osb.New(osb.Config{URL: broker.URL})
		require.NoError(r, err)
		r.Cleanup(client.Close)
		return client
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}
	r.get(namespace)
	azure, uid := call(r.azure), string(namespace.UID)
	told := func(instance string) map[string]any {
		return map[string]any{"platform": "kubernetes", "namespace": team, "clusterid": "old-cluster", "instance_name": instance}
	}
	ann := &osb.Identity{Platform: "kubernetes", Value: osb.IdentityValue{Username: "ann", Groups: []string{"system:authenticated"}, Extra: map[string][]string{}}}
	provision := func(client *osb.Client, id, service, plan, name string, parameters json.RawMessage) (*osb.Response, error) {
		return client.Provision(r.Context(), osb.ProvisionRequest{
			InstanceID: id, ServiceID: service, PlanID: plan, Organization: "old-cluster", Space: uid, Context: told(name), Parameters: parameters, Identity: ann,
		})
	}
	_, err := provision(azure, ordersID, redis, basic, "orders", json.RawMessage(whatOrdersHas))
	require.NoError(r, err)
	r.azure.Next(osbtest.Provision, osbtest.CutAfter())
	_, err = provision(azure, doubtfulID, storage, archive, "doubtful", nil)
	require.Error(r, err, "it is there, and the answer did not come")
	_, err = provision(call(r.inhouse), localID, postgresql, shared, "local", nil)
	require.NoError(r, err)
	bound, err := azure.Bind(r.Context(), osb.BindRequest{InstanceID: ordersID, BindingID: readerID, ServiceID: redis, PlanID: basic, AppGUID: uid, Context: told("orders"), Identity: ann})
	require.NoError(r, err)
	require.NoError(r, json.Unmarshal(bound.Binding.Credentials["password"], &r.password))
	begun, err := provision(azure, growingID, redis, standard, "growing", nil)
	require.NoError(r, err)
	require.True(r, begun.Async)
	if begun.Operation == nil {
		return ""
	}
	return *begun.Operation
}

// stores has the objects in testdata/retired.yaml, with their status.
func (r *retired) stores(operation string) {
	r.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "retired.yaml"))
	require.NoError(r, err)
	checksum, err := old.Checksum(whatOrdersHas)
	require.NoError(r, err)
	objects, err := old.Read(strings.NewReplacer("AZURE", r.azure.URL, "INHOUSE", r.inhouse.URL, "CHECKSUM", checksum,
		"OPERATION", fmt.Sprintf("%q", operation), "STARTED", time.Now().UTC().Format(time.RFC3339)).Replace(string(text)))
	require.NoError(r, err)
	require.NoError(r, old.Store(r.Context(), r.client, objects...))
}

// keepsCredentials has the Secret of orders-reader, which its binding owns.
func (r *retired) keepsCredentials() {
	r.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "orders-reader"}}
	r.get(binding)
	r.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "orders-reader", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(binding, api.GroupVersion.WithKind("ServiceBinding"))}},
		StringData: map[string]string{"password": r.password},
	})
}

// runs has the Deployments, none of whose pods is started, and the hooks, which nothing answers.
func (r *retired) runs() {
	r.Helper()
	for _, name := range []string{"catalog-catalog-controller-manager", "catalog-catalog-webhook"} {
		labels := map[string]string{"app": name}
		r.create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "catalog", Name: name}, Spec: appsv1.DeploymentSpec{
			Paused: true, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "svr", Image: "service-catalog:v0.3.1"}}},
			},
		}})
	}
	hook := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "catalog", Name: "catalog-catalog-webhook", Path: new("/")}}
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete},
		Rule:       admissionv1.Rule{APIGroups: []string{api.GroupName}, APIVersions: []string{"v1beta1"}, Resources: []string{"*"}},
	}}
	r.create(
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "catalog-catalog-webhook"}, Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mutating.serviceinstances.servicecatalog.k8s.io", ClientConfig: hook, Rules: rules,
			FailurePolicy: new(admissionv1.Fail), SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "catalog-catalog-validating-webhook"}, Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "validating.serviceinstances.servicecatalog.k8s.io", ClientConfig: hook, Rules: rules,
			FailurePolicy: new(admissionv1.Fail), SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}}},
	)
}
