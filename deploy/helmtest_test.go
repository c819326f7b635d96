package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestHelmTest: it is a Pod that runs svcat check; its rights go with it, and it may do no more
// than other pods of the chart. That the rights are enough is proven in e2e/install.
func TestHelmTest(t *testing.T) {
	t.Parallel()
	all := defaults(t)
	var hooks []string
	for key, object := range all {
		if !isHook(object) {
			continue
		}
		hooks = append(hooks, key)
		annotations := object.GetAnnotations()
		assert.Equal(t, "test", annotations["helm.sh/hook"], key)
		want := "before-hook-creation,hook-succeeded"
		if object.GetKind() == "Pod" {
			want = "before-hook-creation" // its log is read afterwards
		}
		assert.Equal(t, want, annotations["helm.sh/hook-delete-policy"], key)
		assert.Equal(t, object.GetKind() != "Pod", annotations["helm.sh/hook-weight"] == "-1", "%s: the Pod is last", key)
	}
	assert.ElementsMatch(t, []string{
		"ServiceAccount defaultplan-system/defaultplan-test", "ClusterRole defaultplan-test", "ClusterRoleBinding defaultplan-test",
		"Role defaultplan-system/defaultplan-test", "RoleBinding defaultplan-system/defaultplan-test", "Pod defaultplan-system/defaultplan-test",
	}, hooks)

	pod := &corev1.Pod{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(all["Pod defaultplan-system/defaultplan-test"].Object, pod))
	like := deployment(t, all, "webhook").Spec.Template.Spec
	assert.Equal(t, like.SecurityContext, pod.Spec.SecurityContext)
	require.Len(t, pod.Spec.Containers, 1)
	container := pod.Spec.Containers[0]
	assert.Equal(t, like.Containers[0].SecurityContext, container.SecurityContext)
	assert.Equal(t, corev1.RestartPolicyNever, pod.Spec.RestartPolicy)
	assert.Equal(t, "defaultplan-test", pod.Spec.ServiceAccountName)
	assert.Equal(t, strings.Replace(like.Containers[0].Image, "webhook", "svcat", 1), container.Image)
	assert.Equal(t, []string{"/svcat"}, container.Command)
	_, said, err := run(t, "svcat", append(slices.Clone(container.Args), "--help")...)
	require.NoError(t, err, said)
}
