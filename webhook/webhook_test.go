package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"unique"
	"unsafe"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// What Register serves answers at the paths that the configurations name.
func TestRegister(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	mux := muxRegistrar{http.NewServeMux()}
	Register(mux, Readers{Cached: w.cached, Live: w.live, Policies: policies.NewRuleSet()}, options.New())
	for _, path := range []string{MutateInstances, ValidateInstances} {
		body, err := json.Marshal(w.review(instanceOf(byType), nil))
		require.NoError(t, err)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(body)))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		mux.ServeHTTP(recorder, request)
		assert.Equal(t, http.StatusOK, recorder.Code)
		assert.Contains(t, recorder.Body.String(), `"allowed":true`)
	}
	assert.Len(t, Watched(), 10)
}

type muxRegistrar struct{ *http.ServeMux }

func (m muxRegistrar) Register(path string, handler http.Handler) { m.Handle(path, handler) }

type brokenIndexer struct{}

func (brokenIndexer) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return errors.New("too late")
}

func TestIndexFails(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, Index(t.Context(), brokenIndexer{}), "too late")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		wrong  string
	}{
		"Defaults":    {reason: "The defaults are allowed.", args: nil},
		"AllSet":      {reason: "So is every value.", args: []string{"--unresolved=wait", "--schema-check=warn", "--feature-gates=ServiceTypes=false"}},
		"Unresolved":  {reason: "A wrong value is told with what is allowed.", args: []string{"--unresolved=ignore"}, wrong: `--unresolved is "ignore"; allowed are [reject wait]`},
		"SchemaCheck": {reason: "Each of them.", args: []string{"--schema-check=maybe"}, wrong: `--schema-check is "maybe"; allowed are [enforce warn off]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options, flags := options.New(), pflag.NewFlagSet("webhook", pflag.ContinueOnError)
			options.Bind(flags)
			require.NoError(t, flags.Parse(tc.args))
			err := options.Validate()
			if tc.wrong == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.ErrorContains(t, err, tc.wrong, tc.reason)
		})
	}
}

// A catalog of 100,000 plans has few brokers, classes and types: what many plans name is held once.
func TestSlimShares(t *testing.T) {
	t.Parallel()
	held := unique.Make("mysql") // without it, a garbage collection could come between
	plan := &v1beta1.ClusterServicePlan{}
	plan.Spec.ServiceType = strings.Clone("mysql")
	_, err := catalog.Slim(plan)
	require.NoError(t, err)
	assert.Same(t, unsafe.StringData(held.Value()), unsafe.StringData(plan.Spec.ServiceType))
	runtime.KeepAlive(held)
}

// The cache drops what admission does not read, and keeps what it does.
func TestSlim(t *testing.T) {
	t.Parallel()
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: "x", Labels: map[string]string{"a": "b"},
			Annotations:   map[string]string{v1beta1.AnnotationDefaultPlan: "true", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		}
	}
	plan := v1beta1.CommonServicePlanSpec{
		ExternalName: "small", Description: "Small.", ExternalMetadata: rawExtension(`{}`), InstanceCreateParameterSchema: rawExtension(countSchema), InstanceUpdateParameterSchema: rawExtension(`null`),
	}
	plan.DefaultProvisionParameters = rawExtension(`{"a":1}`)
	class := v1beta1.CommonServiceClassSpec{ExternalName: "db", Description: "A database.", ExternalMetadata: rawExtension(`{}`)}
	class.DefaultProvisionParameters = rawExtension(`{"a":1}`)
	for _, object := range []client.Object{
		&v1beta1.ClusterServicePlan{ObjectMeta: meta(), Spec: v1beta1.ClusterServicePlanSpec{CommonServicePlanSpec: plan}},
		&v1beta1.ServicePlan{ObjectMeta: meta(), Spec: v1beta1.ServicePlanSpec{CommonServicePlanSpec: plan}},
		&v1beta1.ClusterServiceClass{ObjectMeta: meta(), Spec: v1beta1.ClusterServiceClassSpec{CommonServiceClassSpec: class}},
		&v1beta1.ServiceClass{ObjectMeta: meta(), Spec: v1beta1.ServiceClassSpec{CommonServiceClassSpec: class}},
		&v1beta1.ServiceInstance{ObjectMeta: meta(), Spec: v1beta1.ServiceInstanceSpec{ServiceType: "mysql", Parameters: rawExtension(`{}`)}},
		&v1beta1.ServiceBinding{
			ObjectMeta: meta(),
			Spec: v1beta1.ServiceBindingSpec{
				InstanceRef: &v1beta1.InstanceReference{Name: "mydb"}, Parameters: rawExtension(`{}`),
				SecretTransforms: []v1beta1.SecretTransform{{AddKey: &v1beta1.AddKeyTransform{Key: "externalMetadata"}}},
			},
			Status: v1beta1.ServiceBindingStatus{ExternalProperties: &v1beta1.ServiceBindingPropertiesState{Parameters: rawExtension(`{}`)}},
		},
	} {
		_, err := catalog.Slim(object)
		require.NoError(t, err)
		text, err := json.Marshal(object)
		require.NoError(t, err)
		for _, gone := range []string{"managedFields", "last-applied", "externalMetadata", `"description":"`, `"required"`, `"parameters"`} {
			assert.NotContains(t, string(text), gone, "%T", object)
		}
		assert.Contains(t, string(text), v1beta1.AnnotationDefaultPlan, "%T", object)
		again, err := catalog.Slim(object)
		require.NoError(t, err)
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(twice), "slim is slim")
		switch o := object.(type) {
		case *v1beta1.ClusterServicePlan:
			assert.Regexp(t, `^"sha256:[0-9a-f]{64}"$`, string(o.Spec.InstanceCreateParameterSchema.Raw))
			assert.NotNil(t, o.Spec.DefaultProvisionParameters, "defaults are read on every admission")
		case *v1beta1.ServiceClass:
			assert.NotNil(t, o.Spec.DefaultProvisionParameters)
		case *v1beta1.ServiceInstance:
			assert.Equal(t, "mysql", o.Spec.ServiceType)
		case *v1beta1.ServiceBinding:
			assert.Equal(t, "mydb", o.Spec.InstanceRef.Name)
			assert.NotNil(t, o.Status.ExternalProperties, "that a broker was asked is what the keeper goes by")
		}
	}
	other, err := catalog.Slim("tombstone")
	require.NoError(t, err)
	assert.Equal(t, "tombstone", other)
}
