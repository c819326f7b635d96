package deploy_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A second controller is the first once more, under its name: nothing of the first is
// touched, nothing of the webhook is in it, and its pods belong to no other part.
func TestSecondController(t *testing.T) {
	t.Parallel()
	all := documentedFolder(t, "east")
	assert.Equal(t, []string{
		"ClusterRoleBinding defaultplan-controller-east", "ClusterRoleBinding defaultplan-metrics-auth-east", "Deployment defaultplan-system/defaultplan-controller-east",
		"NetworkPolicy defaultplan-system/defaultplan-controller-east", "PodDisruptionBudget defaultplan-system/defaultplan-controller-east",
		"Role defaultplan-system/defaultplan-controller-east", "RoleBinding defaultplan-system/defaultplan-controller-east",
		"Service defaultplan-system/defaultplan-controller-metrics-east", "ServiceAccount defaultplan-system/defaultplan-controller-east",
	}, slices.Sorted(maps.Keys(all)))
	assert.Empty(t, strict(t, all))
	one, other := defaults(t)["Deployment defaultplan-system/defaultplan-controller"], all["Deployment defaultplan-system/defaultplan-controller-east"]
	want := asText(t, one)
	want = strings.ReplaceAll(want, `"app.kubernetes.io/component":"controller"`, `"app.kubernetes.io/component":"controller-east"`)
	want = strings.ReplaceAll(want, `"serviceAccountName":"defaultplan-controller"`, `"serviceAccountName":"defaultplan-controller-east"`)
	want = strings.ReplaceAll(want, `"--log-level=info"]`, `"--log-level=info","--controller-name=east"]`)
	assert.JSONEq(t, want, asText(t, other))
}

// asText is what a Deployment says of its pods.
func asText(t *testing.T, deployment *unstructured.Unstructured) string {
	t.Helper()
	require.NotNil(t, deployment)
	text, err := json.Marshal(deployment.Object["spec"])
	require.NoError(t, err)
	return string(text)
}
