package attacks_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/certs"
	"github.com/defaultplan/defaultplan/deploy"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const (
	webhookUser    = "system:serviceaccount:defaultplan-system:defaultplan-webhook"
	keeperUser     = "system:serviceaccount:defaultplan-system:defaultplan-keeper"
	controllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"
)

// forbidden asserts that a policy forbids a write.
func forbidden(t *testing.T, err error, says, what string) {
	t.Helper()
	require.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
	require.ErrorContains(t, err, says, what)
}

// TestStolenTokenAndTheHooks: with the keeper's token, a thief changes the caBundle of hook configurations, and adds no hook
// that would be sent the Secrets of others.
func TestStolenTokenAndTheHooks(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	// The stack makes its certificates itself: the right is that of deploy/certs/managed, and more.
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: e.Name("hooks")}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"mutatingwebhookconfigurations"}, Verbs: []string{"create", "delete", "get", "patch"},
	}}}
	hooks := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: e.Name("hooks")}, Webhooks: []admissionregistrationv1.MutatingWebhook{
		nowhere("first.example.com"), nowhere("second.example.com"),
	}}
	e.Create(role, hooks)
	e.GrantClusterRole(keeperUser, role.Name)
	thief := e.As(keeperUser)

	issued, err := certs.Issue("x", []string{"x"}, time.Now(), time.Hour)
	require.NoError(t, err)
	bundle := base64.StdEncoding.EncodeToString(issued.CA.Cert)
	change := func(patch string) error {
		return thief.Client().Patch(t.Context(), hooks.DeepCopy(), env.RawPatch(types.JSONPatchType, patch))
	}
	const says = "of a hook configuration the keeper may change the caBundle, and nothing else"
	require.NoError(t, change(`[{"op":"add","path":"/webhooks/1/clientConfig/caBundle","value":"`+bundle+`"}]`))
	for what, patch := range map[string]string{
		"another hook":      `[{"op":"copy","from":"/webhooks/0","path":"/webhooks/-"},{"op":"replace","path":"/webhooks/2/name","value":"third.example.com"}]`,
		"the order":         `[{"op":"move","from":"/webhooks/0","path":"/webhooks/1"}]`,
		"none":              `[{"op":"remove","path":"/webhooks/0"}]`,
		"rules for Secrets": `[{"op":"replace","path":"/webhooks/0/rules/0/apiGroups","value":[""]},{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["secrets"]}]`,
		"another URL":       `[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://thief.example.com"}]`,
		"the failurePolicy": `[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`,
		"a label":           `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`,
	} {
		forbidden(t, change(patch), says, what)
	}
	forbidden(t, thief.Client().Delete(t.Context(), hooks.DeepCopy()), says, "its end")
	other := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: e.Name("others")}, Webhooks: hooks.Webhooks}
	forbidden(t, thief.Client().Create(t.Context(), other), says, "one of its own")
}

// nowhere is a hook for nothing.
func nowhere(name string) admissionregistrationv1.MutatingWebhook {
	url := "https://127.0.0.1:1/"
	return admissionregistrationv1.MutatingWebhook{
		Name: name, AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
		FailurePolicy: new(admissionregistrationv1.Ignore), ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"nothing.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"nothings"}},
		}},
	}
}

// TestStolenTokenOfTheKeeper: of classes and plans it writes the annotation that marks a
// default, and nothing that a plan is.
func TestStolenTokenOfTheKeeper(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddCatalog(env.Class{Namespace: e.Namespace, Name: "db", ServiceType: "sql"}, env.Plan{Namespace: e.Namespace, Name: "small", Class: "db"})
	thief := e.As(keeperUser)
	plan := &api.ServicePlan{ObjectMeta: e.Meta("small")}
	const says = "of a class or plan the keeper may write the annotation that marks a default, and nothing else"
	for what, patch := range map[string]string{
		"parameters":         `{"spec":{"defaultProvisionParameters":{"admin":true}}}`,
		"what it says":       `{"spec":{"description":"other"}}`,
		"a label":            `{"metadata":{"labels":{"tier":"free"}}}`,
		"another annotation": `{"metadata":{"annotations":{"a":"b"}}}`,
		"a finalizer":        `{"metadata":{"finalizers":["example.com/stays"]}}`,
	} {
		forbidden(t, thief.TryPatch(plan, patch), says, what)
	}
	require.NoError(t, thief.TryPatch(plan, `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"true"}}}`))

	decided := e.CreateInstance("mydb", env.OfLocalPlan("db", "small"))
	waits := e.CreateInstance("waits", env.OfLocalPlan("db", "large"))
	for _, object := range []client.Object{decided, waits} {
		require.NoError(t, thief.TryPatch(object, `{}`))
		for what, patch := range map[string]string{
			"parameters":       `{"spec":{"parametersFrom":[{"secretKeyRef":{"name":"others","key":"k"}}]}}`,
			"a request":        `{"spec":{"updateRequests":7}}`,
			"sharing":          `{"spec":{"sharing":{"namespaces":["thief"]}}}`,
			"an owner":         `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}`,
			"no finalizer":     `{"metadata":{"finalizers":null}}`,
			"giving it up":     `{"metadata":{"annotations":{"` + api.AnnotationAbandon + `":"true"}}}`,
			"another's at its": `{"metadata":{"finalizers":["kubernetes-incubator/service-catalog","example.com/stays"]}}`,
		} {
			forbidden(t, thief.TryPatch(object, patch), "the keeper may change nothing, and admission only what it decides", object.GetName()+": "+what)
		}
	}
	forbidden(t, thief.TryPatch(decided, `{"spec":{"parameters":{"a":1}}}`), "the keeper may change nothing", "parameters of what is decided")
	e.Create(env.Plan{Namespace: e.Namespace, Name: "large", Class: "db"}.Object())
	e.InstanceDecided("waits")
}

// TestStolenTokenOfTheController: who has it leads no broker, with its credentials,
// elsewhere, and makes nothing in kube-system.
func TestStolenTokenOfTheController(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	broker := e.Register(e.StartBroker(osbtest.Options{Catalog: e.Catalog(e.Service(e.Plan("small")))}))
	thief := e.As(controllerUser)
	const says = "of a broker the controller may write the status and its own finalizer, and nothing else"
	for what, patch := range map[string]string{
		"another URL":         `{"spec":{"url":"https://thief.example.com"}}`,
		"a label":             `{"metadata":{"labels":{"a":"b"}}}`,
		"an annotation":       `{"metadata":{"annotations":{"a":"b"}}}`,
		"another's finalizer": `{"metadata":{"finalizers":["kubernetes-incubator/service-catalog","example.com/stays"]}}`,
	} {
		forbidden(t, thief.TryPatch(broker, patch), says, what)
	}

	instance := e.CreateInstance("mydb", env.OfPlan(e.Name("db"), "small"))
	for what, patch := range map[string]string{
		"parameters":          `{"spec":{"parameters":{"a":1}}}`,
		"an owner":            `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}`,
		"another's finalizer": `{"metadata":{"finalizers":["kubernetes-incubator/service-catalog","example.com/stays"]}}`,
		"another annotation":  `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/other":"true"}}}`,
	} {
		forbidden(t, thief.TryPatch(instance, patch), "of an instance or binding the controller may write the status", what)
	}

	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: instance.Spec.ClusterServicePlanRef.Name}}
	forbidden(t, thief.TryPatch(plan, `{"metadata":{"finalizers":["example.com/stays"]}}`),
		"of the finalizers of a class or plan the controller may write its own, and no other", "another's finalizer")

	forged := e.Instance("forged", env.OfPlan(e.Name("db"), "small"))
	forged.OwnerReferences = []metav1.OwnerReference{{APIVersion: api.GroupName + "/v9", Kind: "ServiceBinding", Name: "forged", UID: "forged", Controller: new(true)}}
	assert.True(t, apierrors.IsForbidden(thief.Client().Create(t.Context(), forged)), "an instance of a binding of a version that there is not")

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceSystem, Name: e.Name("forged"), Labels: map[string]string{api.LabelManagedBy: api.ManagedByController},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: api.GroupVersion.String(), Kind: "ServiceBinding", Name: "forged", UID: "forged", Controller: new(true)}},
	}}
	forbidden(t, thief.Client().Create(t.Context(), secret), "the controller makes nothing in kube-system", "a Secret with an owner that is not there")
	assert.NoError(t, client.IgnoreNotFound(e.Client().Delete(t.Context(), secret)))
}

// TestNothingIsBoundInKubeSystem: a binding whose Secret the controller could not make is
// not asked for.
func TestNothingIsBoundInKubeSystem(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	broker := e.StartBroker(osbtest.Options{Catalog: e.Catalog(e.Service(e.Plan("small")))})
	e.Register(broker)
	system := e.InNamespace(metav1.NamespaceSystem)
	instance := system.CreateInstance(e.Name("mydb"), env.OfPlan(e.Name("db"), "small"))
	system.Ready(instance)
	binding := system.Binding(e.Name("creds"), instance.Name)
	system.Create(binding)
	said := system.HasCondition(binding, api.ConditionReady, api.ConditionUnknown, "ErrorInjectingBindResult")
	assert.Equal(t, "nothing is made in kube-system: make the binding in another namespace", said.Message)
	system.Delete(binding)
	system.Gone(binding)
	system.Delete(instance)
	system.Gone(instance)
	for _, call := range broker.Calls() {
		assert.NotEqual(t, osbtest.Bind, call.Verb)
	}
}

// TestStolenTokenOfTheWebhook: the webhook's token reads what admission reads, and writes nothing, with all the rights
// that are shipped for managed certificates.
func TestStolenTokenOfTheWebhook(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	managed, err := deploy.Manifests.ReadFile("certs/managed/role.yaml")
	require.NoError(t, err)
	e.Apply(string(managed))
	e.AddCatalog(env.Class{Name: e.Name("db"), ServiceType: e.Name("sql")}, env.Plan{Name: e.Name("small"), Class: e.Name("db"), Default: true})
	mine := e.CreateInstance("mine", env.OfType(e.Name("sql")))
	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: e.Name("small")}}
	thief := e.As(webhookUser).Client()
	require.NoError(t, thief.Get(t.Context(), client.ObjectKeyFromObject(mine), mine), "it may read instances")

	touch := env.RawPatch(types.MergePatchType, `{"metadata":{"labels":{"stolen":"yes"}}}`)
	patch := func(object client.Object) error { return thief.Patch(t.Context(), object, touch) }
	named := metav1.ObjectMeta{Namespace: "defaultplan-system", Name: "defaultplan-webhook-certs"}
	authority := metav1.ObjectMeta{Namespace: "defaultplan-system", Name: "defaultplan-keeper-ca"}
	hooks := metav1.ObjectMeta{Name: "defaultplan-webhook"}
	for what, try := range map[string]func() error{
		"an instance": func() error { return patch(mine.DeepCopy()) },
		"its status":  func() error { return thief.Status().Patch(t.Context(), mine.DeepCopy(), touch) },
		"a plan":      func() error { return patch(plan) },
		"a type's record": func() error {
			return patch(&api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: e.Name("sql")}})
		},
		"the keeper's Lease": func() error {
			return patch(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: named.Namespace, Name: "defaultplan-keeper"}})
		},
		"its certificate": func() error { return patch(&corev1.Secret{ObjectMeta: named}) },
		"the authority":   func() error { return patch(&corev1.Secret{ObjectMeta: authority}) },
		"the authority, read": func() error {
			return thief.Get(t.Context(), client.ObjectKey{Namespace: authority.Namespace, Name: authority.Name}, &corev1.Secret{})
		},
		"Secrets of the namespace": func() error {
			return thief.List(t.Context(), &corev1.SecretList{}, client.InNamespace(named.Namespace))
		},
		"a tenant's Secrets":   func() error { return thief.List(t.Context(), &corev1.SecretList{}, client.InNamespace(e.Namespace)) },
		"the mutating hooks":   func() error { return patch(&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: hooks}) },
		"the validating hooks": func() error { return patch(&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: hooks}) },
		"a pod": func() error {
			return thief.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: named.Namespace, Name: "own"}})
		},
		"a binding of roles": func() error {
			return thief.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: e.Name("own")},
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}})
		},
	} {
		err := try()
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
	}
}
