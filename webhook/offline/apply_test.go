package offline_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A denial has the code, the reason, the causes and the words of the API server.
func TestDenials(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, object string
		code           int32
		status         metav1.StatusReason
		causes         []string
		message        string
	}{
		"Hook": {
			reason: "The webhook's own word, behind the name of the hook.", object: `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: cobol}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, causes: []string{"spec.serviceType"},
			message: `admission webhook "mutate.serviceinstances.servicecatalog.k8s.io" denied the request: spec.serviceType: "cobol"`,
		},
		"Validating": {
			reason: "Of either half.", object: `{kind: ServiceBinding, metadata: {name: a}, spec: {secretName: a}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, causes: []string{"spec.instanceRef"},
			message: `admission webhook "validate.servicebindings.servicecatalog.k8s.io" denied the request: spec.instanceRef`,
		},
		"Schema": {
			reason: "The definition's.", object: `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: [mysql]}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, causes: []string{"spec.serviceType", "<nil>"},
			message: `ServiceInstance.servicecatalog.k8s.io "a" is invalid: [spec.serviceType: Invalid value: "array"`,
		},
		"Rule": {
			reason: "A rule of it.", object: `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql, planSelector: {matchLabels: {a: b}}, clusterServiceClassName: db, clusterServicePlanName: small}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, causes: []string{"spec.planSelector"},
		},
		"Metadata": {
			reason: "Its metadata.", object: `{kind: ServiceInstance, metadata: {name: A_B}, spec: {serviceType: mysql}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, causes: []string{"metadata.name"},
		},
		"Nameless": {
			reason: "It must have a name.", object: `{kind: ServiceInstance, metadata: {}, spec: {serviceType: mysql}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, causes: []string{"metadata.name", "<nil>"},
		},
		"Unknown": {
			reason: "A field that is not known, as kubectl asks for.", object: `{kind: ServiceInstance, metadata: {name: a, label: {}}, spec: {serviceTyp: mysql}}`,
			code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest,
			message: `ServiceInstance in version "v1beta1" cannot be handled as a ServiceInstance: strict decoding error: unknown field "metadata.label", unknown field "spec.serviceTyp"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shop)
			sent := read(t, tc.object)[0]
			result := w.apply(tc.object)
			require.NotNil(t, result.Denied, tc.reason)
			status := result.Denied.ErrStatus
			assert.Equal(t, tc.code, status.Code)
			assert.Equal(t, tc.status, status.Reason)
			var fields []string
			if status.Details != nil {
				for _, cause := range status.Details.Causes {
					fields = append(fields, cause.Field)
				}
			}
			assert.Equal(t, tc.causes, fields)
			assert.Contains(t, status.Message, tc.message)
			assert.Equal(t, sent, result.Object, "what was sent")
			var stored v1beta1.ServiceInstanceList
			require.NoError(t, w.Reader().List(t.Context(), &stored))
			assert.Empty(t, stored.Items, "nothing is stored")
		})
	}
}

// A created object is as the API server stores it.
func TestCreate(t *testing.T) {
	t.Parallel()
	const asked = `{kind: ServiceInstance, metadata: {name: a, uid: mine, resourceVersion: "7", creationTimestamp: "2020-01-01T00:00:00Z"}, spec: {serviceType: mysql, parameters: {big: 9007199254740993, none: null}}, status: {provisionStatus: Provisioned}}`
	got, again := newWorld(t, shop).admitted(asked), newWorld(t, shop).admitted(asked)
	assert.Equal(t, got, again, "the same each time")
	assert.Equal(t, "default", got.GetNamespace())
	assert.Equal(t, int64(1), got.GetGeneration())
	assert.NotContains(t, []string{"", "mine"}, string(got.GetUID()))
	assert.Nil(t, field(t, got, "metadata", "creationTimestamp"))
	assert.Equal(t, map[string]any{"observedGeneration": int64(-1)}, got.Object["status"], "no client writes the status; the schema has a default")
	assert.Equal(t, map[string]any{"big": int64(9007199254740993), "none": nil, "size": int64(1)}, field(t, got, "spec", "parameters"))
	assert.Equal(t, field(t, got, "spec", "externalID"), got.GetAnnotations()[v1beta1.AnnotationMintedExternalID])
	other := newWorld(t, shop).admitted(`{kind: ServiceInstance, metadata: {name: b}, spec: {serviceType: mysql}}`)
	assert.NotEqual(t, field(t, got, "spec", "externalID"), field(t, other, "spec", "externalID"))
}

// Generated names are the same each time, and no two are the same.
func TestGenerateName(t *testing.T) {
	t.Parallel()
	const asked = `{kind: ServiceInstance, metadata: {generateName: db-}, spec: {serviceType: mysql}}`
	w := newWorld(t, shop)
	first, second := w.admitted(asked), w.admitted(asked)
	assert.Regexp(t, `^db-[bcdfghjklmnpqrstvwxz2456789]{5}$`, first.GetName())
	assert.NotEqual(t, first.GetName(), second.GetName())
	assert.NotEqual(t, field(t, first, "spec", "externalID"), field(t, second, "spec", "externalID"))
	assert.Equal(t, first, newWorld(t, shop).admitted(asked))
	long := w.admitted(fmt.Sprintf(`{kind: ServiceInstance, metadata: {generateName: a%0100d}, spec: {serviceType: mysql}}`, 1))
	assert.Len(t, long.GetName(), 63)
}

// A second apply sets what it says, keeps what it leaves out, and takes away by null.
func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	first := w.admitted(`{kind: ServiceInstance, metadata: {name: a, labels: {x: z}}, spec: {serviceType: mysql, parameters: {user: me, host: here}}}`)
	same := w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)
	assert.Equal(t, first, same, "nothing changes, and nothing is written")
	changed := w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {parameters: {user: you, host: null}}}`)
	assert.Equal(t, map[string]any{"user": "you", "size": int64(1)}, field(t, changed, "spec", "parameters"))
	assert.Equal(t, int64(2), changed.GetGeneration())
	assert.Equal(t, first.GetUID(), changed.GetUID())
	assert.NotEqual(t, first.GetResourceVersion(), changed.GetResourceVersion())
	assert.Equal(t, "z", changed.GetLabels()["x"])
	stored := &v1beta1.ServiceInstance{}
	require.NoError(t, w.Reader().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, stored))
	assert.Equal(t, changed.GetResourceVersion(), stored.ResourceVersion)
	emptied := w.apply(`{kind: ServiceInstance, metadata: {name: a}, spec: {parameters: null}}`)
	require.Nil(t, emptied.Denied)
	assert.Equal(t, map[string]any{"size": int64(1)}, field(t, emptied.Object, "spec", "parameters"), "as in a cluster the default stays")
	assert.Contains(t, strings.Join(emptied.Warnings, "\n"), "kept: size (class)")
	denied := w.apply(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: redis}}`).Denied
	require.NotNil(t, denied)
	assert.Equal(t, "spec.serviceType", denied.ErrStatus.Details.Causes[0].Field, "rules hold the new against the old")
}

// The hooks are asked only about what their conditions are for.
func TestConditions(t *testing.T) {
	t.Parallel()
	const decided = `{kind: ServiceInstance, metadata: {name: a, resourceVersion: "1"}, spec: {serviceType: mysql, externalID: e, clusterServiceClassRef: {name: db}, clusterServicePlanRef: {name: small}}}`
	w := newWorld(t, shop)
	w.load(decided)
	untouched := w.admitted(`{kind: ServiceInstance, metadata: {name: a, labels: {x: z}}}`)
	assert.Equal(t, map[string]string{"x": "z"}, untouched.GetLabels(), "a label is not the hooks' affair")
	edited := w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {parameters: {b: c}}}`)
	assert.Contains(t, edited.GetLabels(), v1beta1.LabelClusterServicePlanRefName, "a changed spec is")
}

// No number of denied objects exceeds the rate limit.
func TestManyRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	first := ""
	for i := range 450 {
		denied := w.apply(fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: a%d}, spec: {clusterServiceClassName: none}}`, i)).Denied
		require.NotNil(t, denied)
		if i == 0 {
			first = denied.ErrStatus.Message
		}
		require.Equal(t, first, denied.ErrStatus.Message)
	}
}

// The webhook's options are those that were given.
func TestOptions(t *testing.T) {
	t.Parallel()
	const untyped = `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: cobol}}`
	waits := newWorld(t, shop, func(o *options.Options) { o.Unresolved = options.UnresolvedWait }).apply(untyped)
	require.Nil(t, waits.Denied)
	assert.Contains(t, waits.Warnings[0], "the instance waits")
	closed := newWorld(t, shop, func(o *options.Options) { require.NoError(t, o.Gates.Set("ParameterDefaults=false")) })
	assert.Nil(t, field(t, closed.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`), "spec", "parameters"))
}

// Kinds of the catalog are admitted like every other.
func TestApplyCatalog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	near := w.apply(`{kind: ClusterServicePlan, metadata: {name: large, annotations: {servicecatalog.kubernetes.io/is-default-plan: "yes"}}}`)
	require.Nil(t, near.Denied)
	assert.Contains(t, strings.Join(near.Warnings, "\n"), `it is "yes"`)
	denied := w.apply(`{kind: ClusterServicePlan, metadata: {name: large, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}}`).Denied
	require.NotNil(t, denied, "a second default")
	assert.Equal(t, metav1.StatusReasonForbidden, denied.ErrStatus.Reason)
	w.admitted(`{kind: ClusterServiceBroker, metadata: {name: b}, spec: {url: "https://b.example.com", authInfo: {basic: {secretRef: {namespace: a, name: b}}}}}`)
	policy := w.apply(`{kind: ProvisioningPolicy, metadata: {name: none}, spec: {action: Deny, subjects: [{serviceType: mysql}]}}`)
	require.Nil(t, policy.Denied)
	assert.NotNil(t, w.apply(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`).Denied, "a policy rules as soon as it is stored")
	retyped := w.apply(`{kind: ClusterServiceClass, metadata: {name: db}, spec: {serviceType: redis}}`)
	require.Nil(t, retyped.Denied)
	assert.Contains(t, retyped.Warnings, "mysql/small was the default plan for mysql, which has none now; it is the default plan for redis now")
}

// What ends is told as such, not as a refusal.
func TestCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Apply(ctx, read(t, `{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)[0])
	assert.ErrorContains(t, err, `cannot admit ServiceInstance "a"`)
}
