package explain

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
)

// layersCases are parameters of class, plan and user.
var layersCases = map[string]struct {
	reason            string
	class, plan, user string
}{
	"NoDefaults":       {"What is all the user's stays as it is.", "", "", `{"a":1}`},
	"NoUser":           {"A user who wrote nothing wrote nothing.", `{"a":1}`, `{"b":{"c":2}}`, ""},
	"TogetherBelowOne": {"An object that only defaults filled is not the user's.", `{"a":{"x":{"y":1}}}`, `{"a":{"x":{"z":2}}}`, ""},
	"Deep":             {"Layers meet below the top.", `{"a":{"x":1,"y":[1]}}`, `{"a":{"x":2,"z":3}}`, `{"a":{"y":[2,3],"w":null}}`},
	"TakenAway":        {"A null over a default is the user's.", `{"a":{"x":1},"b":2}`, "", `{"a":null,"b":null,"c":null}`},
	"OddKeys":          {"Keys that a pointer has to escape.", `{"a/b":1,"~":{"":2}}`, "", `{"~":{"c/~":3}}`},
	"LargeNumber":      {"Numbers keep their text.", `{"n":9007199254740993}`, "", `{"m":9007199254740995}`},
	"EmptyDefaults":    {"Empty objects are values.", `{"a":{}}`, `{"b":[]}`, `{"c":{}}`},
}

// TestOriginalParameters: what admission merged comes apart again into what the user
// wrote, and each value has the layer that gave it.
func TestOriginalParameters(t *testing.T) {
	t.Parallel()
	for name, tc := range layersCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := object(t, tc.user)
			merged, err := merge.Layers(
				merge.Layer{Name: layerClass, Values: object(t, tc.class)}, merge.Layer{Name: layerPlan, Values: object(t, tc.plan)},
				merge.Layer{Name: layerUser, Values: user},
			)
			require.NoError(t, err)
			applied := &v1beta1.AppliedDefaults{From: map[string]string{}}
			for pointer, layer := range merged.Origin {
				if layer != layerUser {
					applied.From[string(pointer)] = layer
				}
			}
			for _, pointer := range merged.Removed {
				applied.Removed = append(applied.Removed, string(pointer))
			}
			text, err := merge.Canonical(merged.Values)
			require.NoError(t, err)
			stored := &runtime.RawExtension{Raw: text}

			original := originalParameters(stored, applied)
			if user == nil {
				assert.Nil(t, original, tc.reason)
			} else {
				require.NotNil(t, original, tc.reason)
				assert.Equal(t, user, object(t, string(original.Raw)), tc.reason)
			}
			now := mergedParameters(raw(tc.class), raw(tc.plan), raw(tc.user))
			assert.Equal(t, now, storedParameters(stored, applied), tc.reason)
			assert.Empty(t, changed(now, now))
		})
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	values, err := merge.Decode([]byte(text))
	require.NoError(t, err)
	return values
}

func raw(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

// TestOriginalInstance: nothing that admission or the controller wrote is asked for
// again.
func TestOriginalInstance(t *testing.T) {
	t.Parallel()
	stored := &v1beta1.ServiceInstance{}
	stored.Namespace, stored.Name, stored.UID, stored.Finalizers = "dev", "mydb", "1", []string{"x"}
	stored.Annotations = map[string]string{
		v1beta1.AnnotationAppliedDefaults:  `{"rule":"class-default","class":"azure","plan":"basic"}`,
		v1beta1.AnnotationMintedExternalID: "id", "mine": "yes",
	}
	stored.Spec.ClusterServiceClassExternalName, stored.Spec.ClusterServicePlanExternalName = "azure", "basic"
	stored.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "azure-basic"}
	stored.Spec.ExternalID, stored.Spec.UserInfo = "id", &v1beta1.UserInfo{Username: "eve"}
	stored.Status.ProvisionStatus = v1beta1.Provisioned

	want := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb", Annotations: map[string]string{"mine": "yes"}}}
	want.Spec.ClusterServiceClassExternalName = "azure"
	assert.Equal(t, want, originalInstance(stored))
	assert.Contains(t, stored.Annotations, v1beta1.AnnotationMintedExternalID, "what is stored is not written to")

	stored.Annotations[v1beta1.AnnotationAppliedDefaults] = `{"rule":"named"}`
	assert.Equal(t, "basic", originalInstance(stored).Spec.ClusterServicePlanExternalName, "a plan that the user named stays named")
	stored.Annotations[v1beta1.AnnotationMintedExternalID] = "another"
	assert.Equal(t, "id", originalInstance(stored).Spec.ExternalID, "an ID that the user chose stays chosen")
}

// TestOriginalBinding: of transforms and type only the user's own are asked for again.
func TestOriginalBinding(t *testing.T) {
	t.Parallel()
	remove := func(key string) v1beta1.SecretTransform {
		return v1beta1.SecretTransform{RemoveKey: &v1beta1.RemoveKeyTransform{Key: key}}
	}
	stored := &v1beta1.ServiceBinding{}
	stored.Spec.SecretTransforms = []v1beta1.SecretTransform{remove("a"), remove("b"), remove("c")}
	assert.Len(t, originalBinding(stored).Spec.SecretTransforms, 3, "without a record all are the user's")
	stored.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: `{"rule":"instance","transforms":["class","user","plan"]}`}
	assert.Equal(t, []v1beta1.SecretTransform{remove("b")}, originalBinding(stored).Spec.SecretTransforms)
	stored.Spec.ServiceType = "redis"
	assert.Equal(t, "redis", originalBinding(stored).Spec.ServiceType, "what waits has the type that its user wrote")
	stored.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "small"}
	assert.Equal(t, "redis", originalBinding(stored).Spec.ServiceType, "a claim asks by it")
	stored.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "mydb"}
	assert.Empty(t, originalBinding(stored).Spec.ServiceType, "admission fills in the plan's")
}

func TestDoesTellsNoValue(t *testing.T) {
	t.Parallel()
	for want, transform := range map[string]v1beta1.SecretTransform{
		"renameKey a → b": {RenameKey: &v1beta1.RenameKeyTransform{From: "a", To: "b"}},
		"addKey k":        {AddKey: &v1beta1.AddKeyTransform{Key: "k", StringValue: new("hush"), Value: []byte("hush")}},
		"addKey k (computed from the credentials)": {AddKey: &v1beta1.AddKeyTransform{Key: "k", JSONPathExpression: new("hush")}},
		"addKeysFrom Secret dev/s":                 {AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Namespace: "dev", Name: "s"}}},
		"removeKey k":                              {RemoveKey: &v1beta1.RemoveKeyTransform{Key: "k"}},
		"nothing":                                  {},
	} {
		assert.Equal(t, want, does(&transform))
	}
}

// A free original whose costs no relist has read is taken for unknown by admission, too.
func TestUnchosenHasUnreadCosts(t *testing.T) {
	t.Parallel()
	object := &v1beta1.ClusterServicePlan{}
	object.Spec.Free = true
	object.Spec.ExternalMetadata = &runtime.RawExtension{Raw: []byte(`{"costs": [{"amount": {"usd": 465}, "unit": "MONTHLY"}]}`)}
	plan, _ := catalog.PlanOf(object)
	s := newSlice()
	require.NoError(t, s.addOriginal(plan))
	original, is := s.unchosen()[0].(*v1beta1.ClusterServicePlan)
	require.True(t, is)
	assert.Equal(t, resolve.Costs{Unread: true, Free: true}, resolve.PlanFrom(original).Costs)
}
