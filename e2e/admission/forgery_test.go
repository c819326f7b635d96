package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestWhatIsAdmissionsIsNobodyElses: the asker, the record, the marker and the
// references of an instance and of a binding, forged in every write there is.
func TestWhatIsAdmissionsIsNobodyElses(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.GrantResources("serviceinstances", "servicebindings")
	e.AddReader()
	forgery := map[string]string{
		api.AnnotationAppliedDefaults:  `{"rule":"selector","class":"forged","plan":"forged","from":{"/user":"class"}}`,
		api.AnnotationMintedExternalID: "forged",
	}
	root := &api.UserInfo{Username: "root", UID: "0", Groups: []string{"system:masters"}}
	theirs := e.As(env.Alice)

	instance := theirs.Instance("db", env.OfPlan(e.Name("c"), e.Name("p")))
	instance.Annotations, instance.Spec.UserInfo = forgery, root
	theirs.Create(instance)
	binding := theirs.Binding("creds", "mydb")
	binding.Annotations, binding.Spec.UserInfo = forgery, root
	theirs.Create(binding)
	for kind, object := range map[string]struct {
		info        *api.UserInfo
		externalID  string
		annotations map[string]string
	}{
		"instance": {instance.Spec.UserInfo, instance.Spec.ExternalID, instance.Annotations},
		"binding":  {binding.Spec.UserInfo, binding.Spec.ExternalID, binding.Annotations},
	} {
		assert.Equal(t, env.Alice, object.info.Username, kind)
		assert.NotContains(t, object.info.Groups, "system:masters", kind)
		assert.Equal(t, object.externalID, object.annotations[api.AnnotationMintedExternalID], kind)
		assert.NotContains(t, e.JSON(e.AppliedOn(object.annotations)), "forged", kind)
	}
	forgesInVain(e, instance, func() client.Object { return e.Stored("db") })
	forgesInVain(e, binding, func() client.Object { return e.StoredBinding("creds") })
}

// forgesInVain writes an object as bob in ways that would change what is
// admission's, and asserts that nothing changes.
func forgesInVain(e *env.Env, object client.Object, stored func() client.Object) {
	e.Helper()
	trace := func(o client.Object) client.Object {
		o.SetResourceVersion("")
		o.SetManagedFields(nil)
		o.SetGeneration(0)
		return o
	}
	theirs := e.As(env.Bob).Client()
	for name, patch := range map[string]string{
		"UserInfo":      `{"spec":{"userInfo":{"username":"root","groups":["system:masters"]}}}`,
		"NoUserInfo":    `{"spec":{"userInfo":null}}`,
		"Record":        `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{\"rule\":\"selector\"}"}}}`,
		"UnreadableOne": `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{"}}}`,
		"NoRecord":      `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":null}}}`,
		"Marker":        `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":"x"}}}`,
		"NoMarker":      `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":null}}}`,
		"NoReferences":  `{"spec":{"clusterServiceClassRef":null,"clusterServicePlanRef":null}}`,
	} {
		before := trace(stored())
		require.NoError(e, theirs.Patch(e.Context(), stored(), env.MergePatch(patch)), name)
		assert.Empty(e, cmp.Diff(before, trace(stored())), "(-before +after) %T: %s", object, name)
	}
	before := stored()
	for name, patch := range map[string]string{
		"References":      `{"spec":{"clusterServicePlanRef":{"name":"another"}}}`,
		"EmptyReferences": `{"spec":{"clusterServiceClassRef":{"name":""},"clusterServicePlanRef":{"name":""}}}`,
		"OtherScope":      `{"spec":{"serviceClassRef":{"name":"another"},"servicePlanRef":{"name":"another"}}}`,
		"ExternalID":      `{"spec":{"externalID":"another"}}`,
		"IDAndItsMarker":  `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":"another"}},"spec":{"externalID":"another"}}`,
		"RefAndItsRecord": `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}"}},"spec":{"clusterServicePlanRef":{"name":"another"}}}`,
	} {
		err := theirs.Patch(e.Context(), stored(), env.MergePatch(patch))
		require.True(e, apierrors.IsInvalid(err), "%T: %s: %v", object, name, err)
		assert.Empty(e, cmp.Diff(before, stored()), "(-before +after) %T: %s", object, name)
	}
	// What is written beside the status is not written at all.
	status := stored()
	status.SetAnnotations(nil)
	require.NoError(e, e.Client().Status().Update(e.Context(), status))
	assert.Equal(e, before.GetAnnotations(), stored().GetAnnotations(), "%T: through the status", object)
}
