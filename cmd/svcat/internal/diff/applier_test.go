package diff

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
)

const manifestOfDB = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: db, namespace: dev}
spec: {serviceType: mysql, parameters: {size: 1, dropped: null}}
`

// fakeClient has objects of the catalog's kinds; writes are counted.
func fakeClient(t *testing.T, writes *[]string, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1beta1.GroupVersion.WithKind("ServiceInstance"), meta.RESTScopeNamespace)
	mapper.Add(v1beta1.GroupVersion.WithKind("ClusterServicePlan"), meta.RESTScopeRoot)
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			*writes = append(*writes, "create")
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			text, err := patch.Data(object)
			*writes = append(*writes, string(patch.Type())+" "+string(text))
			if err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
}

// TestApplierCreates: without the nulls, and in a dry run.
func TestApplierCreates(t *testing.T) {
	t.Parallel()
	var writes []string
	c := fakeClient(t, &writes)
	a := applier{client: client.NewDryRunClient(c), manager: "kubectl"}
	stored, merged, err := a.apply(t.Context(), objectOf(t, manifestOfDB))
	require.NoError(t, err)
	assert.Nil(t, stored)
	parameters, _, err := unstructured.NestedMap(merged.Object, "spec", "parameters")
	require.NoError(t, err)
	assert.Len(t, parameters, 1)
	assert.Contains(t, parameters, "size")
	assert.Equal(t, []string{"create"}, writes)
	assert.Error(t, c.Get(t.Context(), client.ObjectKey{Namespace: "dev", Name: "db"}, &v1beta1.ServiceInstance{}), "nothing is stored")
}

// TestApplierPatches: by what kubectl apply would send, and not at all where that is nothing.
func TestApplierPatches(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, applied, parameters, patch string }{
		"Same":    {"nothing is sent", `{"spec":{"parameters":{"size":1}}}`, `{size: 1}`, ``},
		"Changed": {"what changes", ``, `{size: 2}`, `application/merge-patch+json {"spec":{"parameters":{"size":2}}}`},
		"Dropped": {"what was applied and is no more", `{"spec":{"parameters":{"size":1}}}`, `{}`, `application/merge-patch+json {"spec":{"parameters":{"size":null}}}`},
		"Kept":    {"what another gave stays", ``, `{}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := objectOf(t, "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: db, namespace: dev}\nspec: {externalID: id, parameters: {size: 1}}\n")
			if tc.applied != "" {
				stored.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": tc.applied})
			}
			var writes []string
			a := applier{client: client.NewDryRunClient(fakeClient(t, &writes, stored)), manager: "kubectl"}
			_, _, err := a.apply(t.Context(), objectOf(t, "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: db, namespace: dev}\nspec: {parameters: "+tc.parameters+"}\n"))
			require.NoError(t, err)
			var want []string
			if tc.patch != "" {
				want = []string{tc.patch}
			}
			assert.Equal(t, want, writes, tc.reason)
		})
	}
}

// TestPlace: the namespace is found as kubectl finds it.
func TestPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, flag, object, want, wrong string }{
		"Named":       {"by the manifest", "", "kind: ServiceInstance\nmetadata: {name: db, namespace: dev}", "dev", ""},
		"Flag":        {"by the flag", "shop", "kind: ServiceInstance\nmetadata: {name: db}", "shop", ""},
		"Cluster":     {"it has none", "shop", "kind: ClusterServicePlan\nmetadata: {name: small}", "", ""},
		"Contradicts": {"which of both is not guessed", "shop", "kind: ServiceInstance\nmetadata: {name: db, namespace: dev}", "", `ServiceInstance "db" is in namespace "dev", and --namespace is "shop": leave one of them out`},
		"Generated":   {"it would be another each time", "", "kind: ServiceInstance\nmetadata: {generateName: db-}", "", "ServiceInstance has no metadata.name: what has a generated name is created each time, and changes nothing; give it a name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard())
			if tc.flag != "" {
				env.Flags.Namespace = &tc.flag
			}
			object := objectOf(t, "apiVersion: servicecatalog.k8s.io/v1beta1\n"+tc.object)
			var writes []string
			err := (&command{env: env}).place(fakeClient(t, &writes), object)
			if tc.wrong != "" {
				require.EqualError(t, err, tc.wrong, tc.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, object.GetNamespace(), tc.reason)
		})
	}
}

// TestVerdictIsNotForged: what a broker calls its plan makes neither a line of its own nor part
// of the diff, and steers no terminal, also where the output is a file.
func TestVerdictIsNotForged(t *testing.T) {
	t.Parallel()
	const forged = "s\tm\n# at the broker: nothing\n--- stored/x\x1b[2J\u009b\u202e"
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "mysql"}}
	class.Spec.ClusterServiceBrokerName, class.Spec.ExternalName, class.Spec.ExternalID = "azure", "mysql", "class"
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	plan.Spec.ClusterServiceBrokerName, plan.Spec.ExternalName, plan.Spec.ExternalID = "azure", forged, "plan"
	plan.Spec.ClusterServiceClassRef.Name = "mysql"
	plan.Spec.ExternalMetadata = &runtime.RawExtension{Raw: []byte(`{"costs": [{"amount": {"usd": 1}, "unit": "M\n# cost: free"}]}`)}
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}
	var writes []string
	c := fakeClient(t, &writes, class, plan, broker)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	cmd := &command{env: cli.NewEnv(streams), applier: applier{client: client.NewDryRunClient(c), manager: "kubectl"}}
	object := objectOf(t, manifestOfDB)
	for ref, name := range map[string]string{"clusterServiceClassRef": "mysql", "clusterServicePlanRef": "small"} {
		require.NoError(t, unstructured.SetNestedField(object.Object, name, "spec", ref, "name"))
	}
	changed, err := cmd.compare(t.Context(), c, &manifest.Document{Object: object})
	require.NoError(t, err)
	assert.True(t, changed)
	verdict, _, _ := strings.Cut(out.String(), "\ndiff ")
	assert.Equal(t, "# ServiceInstance dev/db is new\n"+
		"# at the broker: provision, of plan s m # at the broker: nothing --- stored/x\ufffd[2J\ufffd\ufffd\n"+
		"# cost: 1 usd / M # cost: free", verdict)
}
