package node

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// hostIP is invented too: nothing connects to it.
const hostIP = "10.255.0.1"

func terminated(code int, reason string, began, ended time.Time) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: int32(code), Reason: reason, //nolint:gosec // an exit code is a byte
		StartedAt: metav1.NewTime(began), FinishedAt: metav1.NewTime(ended),
	}
}

// writeStatus writes what is true now. What fails is written with the next change; a
// pod that is no more needs none.
func (p *pod) writeStatus() {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.uid}, "status": p.status()})
	if err != nil {
		return
	}
	_, err = p.node.client.CoreV1().Pods(p.object.Namespace).Patch(p.life, p.object.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && p.life.Err() == nil {
		time.AfterFunc(retryInterval, p.change)
	}
}

func (p *pod) status() corev1.PodStatus {
	status := corev1.PodStatus{
		Phase: p.phase(), HostIP: hostIP, HostIPs: []corev1.HostIP{{IP: hostIP}},
		PodIP: p.ports.ip, PodIPs: []corev1.PodIP{{IP: p.ports.ip}}, StartTime: new(metav1.NewTime(p.startTime)),
		ObservedGeneration: p.object.Generation,
	}
	allReady := true
	for _, c := range p.containers {
		s := c.now()
		allReady = allReady && s.ready
		status.ContainerStatuses = append(status.ContainerStatuses, c.status(&s))
	}
	p.condition(&status, corev1.PodScheduled, true)
	p.condition(&status, corev1.PodReadyToStartContainers, len(p.volumes) > 0 || len(p.object.Spec.Volumes) == 0)
	p.condition(&status, corev1.PodInitialized, true)
	p.condition(&status, corev1.ContainersReady, allReady)
	p.condition(&status, corev1.PodReady, allReady)
	return status
}

// phase is the pod's: of containers that are all over, it is how they ended.
func (p *pod) phase() corev1.PodPhase {
	begun, over, failed := false, true, false
	for _, c := range p.containers {
		s := c.now()
		begun = begun || s.running || s.last != nil
		over = over && s.over && s.last != nil
		failed = failed || (s.last != nil && s.last.ExitCode != 0)
	}
	switch {
	case over && failed:
		return corev1.PodFailed
	case over:
		return corev1.PodSucceeded
	case begun:
		return corev1.PodRunning
	}
	return corev1.PodPending
}

// condition adds one to the status; its time is when it last changed.
func (p *pod) condition(status *corev1.PodStatus, kind corev1.PodConditionType, is bool) {
	value := corev1.ConditionFalse
	if is {
		value = corev1.ConditionTrue
	}
	old, known := p.told[kind]
	if !known || old.Status != value {
		old = corev1.PodCondition{Type: kind, Status: value, LastTransitionTime: metav1.Now(), ObservedGeneration: p.object.Generation}
		p.told[kind] = old
	}
	status.Conditions = append(status.Conditions, old)
}

func (c *container) status(s *state) corev1.ContainerStatus {
	status := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image, ContainerID: "process://" + string(c.pod.uid) + "/" + c.spec.Name,
		Ready: s.ready, Started: new(s.started), RestartCount: s.restarts,
	}
	switch {
	case s.running:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(s.runningSince)}
	case s.over && s.last != nil:
		status.State.Terminated = s.last
		return status
	default:
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: s.waiting, Message: s.message}
	}
	status.LastTerminationState.Terminated = s.last
	return status
}
