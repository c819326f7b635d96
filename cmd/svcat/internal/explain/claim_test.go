package explain

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const bindDefault = ", defaultProvisionParameters: {size: 1}, defaultBindParameters: {user: reader}"

func claimOf(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte("{kind: ServiceBinding, metadata: {name: creds, namespace: dev}, spec: "+spec+"}"), &object.Object))
	object.SetAPIVersion(v1beta1.GroupVersion.String())
	return object
}

// A claim of a file is explained as the instance that it asks for, and then as the binding to it.
func TestWrittenClaim(t *testing.T) {
	t.Parallel()
	deny := "{kind: BindingPolicy, metadata: {name: closed}, spec: {action: Deny, subjects: [{serviceType: needy}]}}\n"
	for name, tc := range map[string]struct {
		reason, objects, spec string
		verdict, headline     string
		tree                  []string
	}{
		"ByType": {
			reason: "every rule, every candidate, and both kinds of parameters", objects: shopClass + shop("p", byDefault, bindDefault), spec: "{serviceType: needy, provisionParameters: {size: 2}}",
			verdict: Decided, headline: "binding dev/creds (type needy) → k/p (default of the cluster, by annotation)",
			tree: []string{"parameters for its own instance", "size = 2 ← user", "zone = \"a\" ← class", "user = \"reader\" ← plan", "needy resolved to plan k/p (default)"},
		},
		"ByClass": {
			reason: "the class's only plan", objects: shopClass + shop("p", "", ""), spec: "{clusterServiceClassExternalName: k}", verdict: Decided,
			headline: "binding dev/creds (class k) → k/p", tree: []string{"parameters: none"},
		},
		"NoDefault": {
			reason: "nothing is decided", objects: shopClass + shop("p", "", "") + shop("q", "", ""), spec: "{serviceType: needy}", verdict: Refused,
			headline: "binding dev/creds (type needy) → refused", tree: []string{"refused: Invalid (422)"},
		},
		"Policy": {
			reason: "a policy about bindings refuses it", objects: shopClass + shop("p", byDefault, "") + deny, spec: "{serviceType: needy}", verdict: Refused,
			headline: "refused, though the choice is k/p", tree: []string{`BindingPolicy "closed" does not let namespace "dev" use plan k/p`},
		},
		"NeedsSize": {
			reason: "the plan's schema for instances", objects: shopClass + shop("p", byDefault, needsSize), spec: "{serviceType: needy}", verdict: Refused,
			headline: "refused, though", tree: []string{"spec.provisionParameters/size: is required"},
		},
		"Nothing": {
			reason: "it says how to ask", objects: shopClass, spec: "{}", verdict: Refused, headline: "binding dev/creds (asks for nothing) → refused", tree: []string{"neither a type, a class nor a selector"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written := &document{claimOf(t, tc.spec), "creds.yaml"}
			asked, is := written.typed().(*v1beta1.ServiceBinding)
			require.True(t, is)
			told, err := newAsker(t, tc.objects).writtenBinding(t.Context(), asked, written)
			require.NoError(t, err)
			assert.Equal(t, tc.verdict, told.Now.Verdict, tc.reason)
			assert.Contains(t, told.headline(), tc.headline)
			for _, line := range tc.tree {
				assert.Contains(t, told.Tree(), line)
			}
		})
	}
}

// A stored claim is told as it was decided, and asked about again as its user wrote it.
func TestStoredClaim(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"ByType": "{serviceType: needy, provisionParameters: {zone: null}}", "ByClass": "{clusterServiceClassExternalName: k, provisionParameters: {zone: null}}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newAsker(t, shopClass+shop("p", byDefault, bindDefault))
			stored, err := admittedClaim(t, x, spec)
			require.NoError(t, err)
			x = newAsker(t, shopClass+shop("p", byDefault, bindDefault)+stored)
			told, err := x.Binding(t.Context(), client.ObjectKey{Namespace: "dev", Name: "creds"})
			require.NoError(t, err)
			assert.Equal(t, "Created now it would be decided alike.", told.Difference)
			assert.Contains(t, told.Tree(), "parameters for its own instance, as stored")
			assert.Contains(t, told.Tree(), "zone = null ← user: it takes the default away, nothing is sent")

			x = newAsker(t, shopClass+shop("p", byDefault, ", defaultProvisionParameters: {size: 3}, defaultBindParameters: {user: reader}")+stored)
			told, err = x.Binding(t.Context(), client.ObjectKey{Namespace: "dev", Name: "creds"})
			require.NoError(t, err)
			assert.Equal(t, "Created now it would get the same plan; what would differ: the parameters for its instance at /size.", told.Difference)
		})
	}
}

// admittedClaim is a claim as admission stores it in the cluster of x, on one line.
func admittedClaim(t *testing.T, x *Asker, spec string) (string, error) {
	t.Helper()
	chosen, err := x.chooser.choose(t.Context(), &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev"}, Spec: v1beta1.ServiceInstanceSpec{ServiceType: "needy"}})
	require.NoError(t, err)
	result, err := x.admission.apply(t.Context(), chosen.now, chosen.matter(), claimOf(t, spec))
	require.NoError(t, err)
	require.Nil(t, result.Denied)
	text, err := result.Object.MarshalJSON()
	return string(text), err
}
