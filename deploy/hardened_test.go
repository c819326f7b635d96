package deploy_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/defaultplan/defaultplan/osb"
)

// TestPodsAreHardened: what a pod may not do, and what keeps it there.
func TestPodsAreHardened(t *testing.T) {
	t.Parallel()
	for component, grace := range map[string]int64{"webhook": 30, "keeper": 30, "controller": 120} {
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
	assert.Positive(t, sleep.Seconds, "older clusters take no sleep of 0")
}

// TestGraceIsEnough: a pod is killed only when all is over that the code may still take,
// by the numbers of the code; and the chart refuses values by which it would be sooner.
func TestGraceIsEnough(t *testing.T) {
	t.Parallel()
	answer := secondsOf(t, "../cmd/webhook/drain.go", "answerTime")
	outcome := secondsOf(t, "../cmd/controller/run.go", "endMargin")
	// What the end of a process takes beyond that, by our own measure.
	const webhookEnds, controllerEnds = 5, 10
	for name, all := range map[string]objects{
		"Kustomize": kustomization(t, "overlays/self-managed"), "CertManager": kustomization(t, "overlays/cert-manager"), "Helm": defaults(t),
	} {
		pod := deployment(t, all, "webhook").Spec.Template.Spec
		drain, err := time.ParseDuration(flagOf(t, pod.Containers[0].Args, "--drain-time"))
		require.NoError(t, err)
		need := pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds + int64(drain.Seconds()) + answer + webhookEnds
		assert.GreaterOrEqual(t, *pod.TerminationGracePeriodSeconds, need, name)
		grace := *deployment(t, all, "controller").Spec.Template.Spec.TerminationGracePeriodSeconds
		assert.GreaterOrEqual(t, grace, int64(osb.DefaultTimeout.Seconds())+outcome+controllerEnds, name)
	}
	for name, tc := range map[string]struct {
		reason, component string
		need              int64
		set               []string
	}{
		"Webhook":      {"each counts", "webhook", 7 + 11 + answer + webhookEnds, []string{`webhook.preStopSeconds=7`, `webhook.drainSeconds=11`}},
		"NoDrain":      {"the others still do", "webhook", 5 + answer + webhookEnds, []string{`webhook.drainSeconds=0`}},
		"Controller":   {"what the flag is by default", "controller", int64(osb.DefaultTimeout.Seconds()) + outcome + controllerEnds, nil},
		"SlowBrokers":  {"in two units", "controller", 90 + outcome + controllerEnds, []string{`controller.requestTimeout="1m30s"`}},
		"FastBrokers":  {"rounded up", "controller", 2 + outcome + controllerEnds, []string{`controller.requestTimeout="1500ms"`}},
		"PartOfAnHour": {"half of one", "controller", 1800 + outcome + controllerEnds, []string{`controller.requestTimeout="0.5h"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, helm := range []string{"helm", "helm3"} {
				value := tc.component + ".terminationGracePeriodSeconds"
				with := func(grace int64) []string { return append([]string{fmt.Sprintf("%s=%d", value, grace)}, tc.set...) }
				_, said, err := template(t, helm, "defaultplan-system", with(tc.need)...)
				require.NoError(t, err, "%s: %s: %s", helm, tc.reason, said)
				_, said, err = template(t, helm, "defaultplan-system", with(tc.need-1)...)
				require.Error(t, err, "%s: %s", helm, tc.reason)
				assert.Contains(t, said, fmt.Sprintf("%s is %d, and must be at least %d: ", value, tc.need-1, tc.need))
			}
		})
	}
}

// secondsOf is a constant of a command, which cannot be imported, in seconds.
func secondsOf(t *testing.T, file, name string) int64 {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^const ` + name + ` = (\d+) \* time\.Second$`).FindSubmatch(content)
	require.NotNil(t, found, "%s of %s", name, file)
	seconds, err := strconv.ParseInt(string(found[1]), 10, 64)
	require.NoError(t, err)
	return seconds
}

// flagOf is the value of the argument that sets a flag.
func flagOf(t *testing.T, args []string, flag string) string {
	t.Helper()
	for _, argument := range args {
		if value, is := strings.CutPrefix(argument, flag+"="); is {
			return value
		}
	}
	require.Fail(t, "no argument sets it", flag)
	return ""
}

// TestServicesSelectThePods: each by the labels that the pods have, and to a port of
// them.
func TestServicesSelectThePods(t *testing.T) {
	t.Parallel()
	for name, component := range map[string]string{
		"defaultplan-webhook": "webhook", "defaultplan-webhook-metrics": "webhook", "defaultplan-keeper-metrics": "keeper", "defaultplan-controller-metrics": "controller",
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
