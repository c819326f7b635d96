package e2e_test

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// manifestOf is a manifest of one of our kinds as a person writes it; in spec the
// names of the world stand as NAME(base), in name as they are.
func (w *world) manifestOf(kind, name, spec string) string {
	return strings.Replace(w.manifest(name, spec), "kind: ServiceInstance", "kind: "+kind, 1)
}

// files are manifests in one file.
func files(manifests ...string) string { return strings.Join(manifests, "---\n") }

// The worked example: the plan reads, and calls a key otherwise; who binds wants
// to write.
const (
	readerClass = "{externalName: NAME(c), externalID: NAME(c), serviceType: NAME(mysql), bindable: true, clusterServiceBrokerName: broker}"
	readerPlan  = "{externalName: NAME(p), externalID: NAME(p), clusterServiceBrokerName: broker, clusterServiceClassRef: {name: NAME(c)}, " +
		"defaultBindParameters: {user: reader, tls: true}, defaultSecretTransforms: [{renameKey: {from: db-name, to: database}}]}"
	readInstance = "{clusterServiceClassExternalName: NAME(c), clusterServicePlanExternalName: NAME(p)}"
	adminBinding = "{instanceRef: {name: mydb}, parameters: {user: admin}}"
)

func (w *world) readerClass() string {
	return w.manifestOf("ClusterServiceClass", w.name("c"), readerClass)
}
func (w *world) readerPlan() string {
	return w.manifestOf("ClusterServicePlan", w.name("p"), readerPlan)
}
func (w *world) readInstance() string { return w.manifestOf("ServiceInstance", "mydb", readInstance) }
func (w *world) adminBinding() string { return w.manifestOf("ServiceBinding", "creds", adminBinding) }

// addReader stores class and plan of the worked example, and an instance of it.
func (w *world) addReader() {
	w.Helper()
	w.create(
		w.unwritten(ruledKind{kind: "ClusterServiceClass"}, w.name("c"), readerClass),
		w.unwritten(ruledKind{kind: "ClusterServicePlan"}, w.name("p"), readerPlan),
		w.unwritten(ruledKind{kind: "ServiceInstance", namespaced: true}, "mydb", readInstance),
	)
}

// isWhole asserts that the binding "creds" is what the worked example says.
func (w *world) isWhole(reason string) *api.ServiceBinding {
	w.Helper()
	got := w.waiting("creds")
	require.NotNil(w, got.Spec.ClusterServicePlanRef, reason)
	require.NotNil(w, got.Spec.ClusterServiceClassRef, reason)
	assert.Equal(w, w.name("p"), got.Spec.ClusterServicePlanRef.Name, reason)
	assert.Equal(w, w.name("c"), got.Spec.ClusterServiceClassRef.Name, reason)
	assert.JSONEq(w, `{"tls":true,"user":"admin"}`, string(got.Spec.Parameters.Raw), reason)
	assert.JSONEq(w, `[{"renameKey":{"from":"db-name","to":"database"}}]`, w.json(got.Spec.SecretTransforms), reason)
	assert.Equal(w, "creds", got.Spec.SecretName, reason)
	assert.Equal(w, got.Spec.ExternalID, got.Annotations[api.AnnotationMintedExternalID], reason)
	assert.Equal(w, []string{api.FinalizerServiceCatalog}, got.Finalizers, reason)
	assert.Equal(w, api.AppliedDefaults{
		Rule: "instance", Class: w.name("c"), Plan: w.name("p"), From: map[string]string{"/tls": "plan"}, Transforms: []string{"plan"},
	}, w.appliedOn(got.Annotations), reason)
	return got
}

// binding is a binding in the world's namespace to instance "mydb", not yet
// created.
func (w *world) binding(name string) *api.ServiceBinding {
	return &api.ServiceBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceBinding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       api.ServiceBindingSpec{InstanceRef: &api.InstanceReference{Name: "mydb"}},
	}
}

// appliedOn is the record of what admission applied to an object.
func (w *world) appliedOn(annotations map[string]string) api.AppliedDefaults {
	w.Helper()
	applied, err := api.ParseAppliedDefaults(annotations[api.AnnotationAppliedDefaults])
	require.NoError(w, err)
	return applied
}

// essence is a binding without what any write may change: the revision, the
// managers of its fields, labels, the generation, status, and kubectl's record of
// what it applied.
func essence(binding *api.ServiceBinding) *api.ServiceBinding {
	bare := binding.DeepCopy()
	bare.ResourceVersion, bare.ManagedFields, bare.Labels, bare.Generation = "", nil, nil, 0
	bare.Status = api.ServiceBindingStatus{}
	delete(bare.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return bare
}

// wireBinding is binding "creds" in JSON, as the API server sends it.
func (w *world) wireBinding() *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersion.WithKind("ServiceBinding"))
	object.SetNamespace(w.namespace)
	object.SetName("creds")
	w.get(object)
	return object
}

// grantResources lets alice and bob write objects of our kinds in the world's
// namespace, and nothing else.
func (w *world) grantResources(resources ...string) {
	w.Helper()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: "writers-of-" + resources[0]}
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: resources,
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: alice},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: bob},
		},
	})
	w.eventually(func() (bool, error) {
		return w.as(bob).mayDo(authorizationv1.ResourceAttributes{
			Namespace: w.namespace, Verb: "patch", Group: api.GroupName, Resource: resources[len(resources)-1],
		})
	})
}

// mayDo asks whether the world's user has a right: the API server learns of
// rights by a watch.
func (w *world) mayDo(right authorizationv1.ResourceAttributes) (bool, error) {
	w.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right}}
	err := w.client.Create(w.Context(), review)
	return review.Status.Allowed, err
}
