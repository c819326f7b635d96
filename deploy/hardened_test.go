package deploy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestPodsAreHardened: what a pod may not do, and what keeps it there.
func TestPodsAreHardened(t *testing.T) {
	t.Parallel()
	for component, grace := range map[string]int64{"webhook": 30, "controller": 120} {
		t.Run(component, func(t *testing.T) {
			t.Parallel()
			workload := deployment(t, defaults(t), component)
			pod := workload.Spec.Template.Spec
			container := pod.Containers[0]
			// What Pod Security calls restricted, and a little more.
			assert.Equal(t, &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)), FSGroup: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			}, pod.SecurityContext)
			assert.Equal(t, &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}, container.SecurityContext)
			assert.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
			for _, volume := range pod.Volumes {
				assert.Nil(t, volume.HostPath, volume.Name)
			}

			assert.Equal(t, int32(2), *workload.Spec.Replicas)
			assert.Equal(t, intstr.FromInt32(0), *workload.Spec.Strategy.RollingUpdate.MaxUnavailable)
			assert.Equal(t, grace, *pod.TerminationGracePeriodSeconds)
			assert.Equal(t, "defaultplan", pod.PriorityClassName)
			assert.Len(t, pod.TopologySpreadConstraints, 2, "zones and nodes")
			for _, constraint := range pod.TopologySpreadConstraints {
				assert.Equal(t, corev1.ScheduleAnyway, constraint.WhenUnsatisfiable)
				assert.Equal(t, workload.Spec.Selector, constraint.LabelSelector)
			}
			assert.NotZero(t, container.Resources.Limits.Memory().Value())
			assert.Zero(t, container.Resources.Limits.Cpu().Value(), "to be throttled would make everyone wait")

			budget := &policyv1.PodDisruptionBudget{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(
				defaults(t)["PodDisruptionBudget defaultplan-system/defaultplan-"+component].Object, budget))
			assert.Equal(t, workload.Spec.Selector, budget.Spec.Selector)
			assert.Equal(t, intstr.FromInt32(1), *budget.Spec.MinAvailable)
		})
	}
}

// TestTheKeyIsInMemory: the webhook's own key is written to memory; and it goes on
// serving for a while when its pod is to go.
func TestTheKeyIsInMemory(t *testing.T) {
	t.Parallel()
	pod := deployment(t, defaults(t), "webhook").Spec.Template.Spec
	require.Len(t, pod.Volumes, 1)
	assert.Equal(t, corev1.StorageMediumMemory, pod.Volumes[0].EmptyDir.Medium)
	assert.Equal(t, "/run/defaultplan/serving", pod.Containers[0].VolumeMounts[0].MountPath)
	sleep := pod.Containers[0].Lifecycle.PreStop.Sleep
	require.NotNil(t, sleep)
	assert.Less(t, sleep.Seconds, *pod.TerminationGracePeriodSeconds)
}

// TestServicesSelectThePods: each by the labels that the pods have, and to a port of
// them.
func TestServicesSelectThePods(t *testing.T) {
	t.Parallel()
	for name, component := range map[string]string{
		"defaultplan-webhook": "webhook", "defaultplan-webhook-metrics": "webhook", "defaultplan-controller-metrics": "controller",
	} {
		service := &corev1.Service{}
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(defaults(t)["Service defaultplan-system/"+name].Object, service))
		template := deployment(t, defaults(t), component).Spec.Template
		for label, value := range service.Spec.Selector {
			assert.Equal(t, value, template.Labels[label], name)
		}
		var ports []string
		for _, port := range template.Spec.Containers[0].Ports {
			ports = append(ports, port.Name)
		}
		require.Len(t, service.Spec.Ports, 1)
		assert.Contains(t, ports, service.Spec.Ports[0].TargetPort.StrVal, name)
	}
}
