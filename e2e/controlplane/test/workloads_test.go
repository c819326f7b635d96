package test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// web is a Deployment of two pods, its Service and its budget.
var web = map[string]string{"app": "web"}

// With -workloads a Deployment comes to have pods, a Service endpoints of those that are
// ready, and a budget counts them; what starts the pods is not here.
func TestWorkloadsAreMadePodsOf(t *testing.T) {
	t.Parallel()
	client := clientset(t, start(t, t.TempDir(), "-workloads"))
	createWorkload(t, client)

	var pods []corev1.Pod
	eventually(t, func(ctx context.Context) bool {
		list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err == nil {
			pods = list.Items
		}
		return len(pods) == 2
	})
	pod := pods[0]
	// Only a pod that a node has is an endpoint.
	_, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	require.NoError(t, client.CoreV1().Pods("default").Bind(t.Context(), binding, metav1.CreateOptions{}))
	fetched, err := client.CoreV1().Pods("default").Get(t.Context(), pod.Name, metav1.GetOptions{})
	require.NoError(t, err)
	pod = *fetched
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.1.2.3", PodIPs: []corev1.PodIP{{IP: "10.1.2.3"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	_, err = client.CoreV1().Pods("default").UpdateStatus(t.Context(), &pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, func(ctx context.Context) bool {
		slices, err := client.DiscoveryV1().EndpointSlices("default").List(ctx, metav1.ListOptions{})
		return err == nil && len(slices.Items) == 1 && len(slices.Items[0].Endpoints) == 1 &&
			assert.ObjectsAreEqual([]string{"10.1.2.3"}, slices.Items[0].Endpoints[0].Addresses)
	})
	eventually(t, func(ctx context.Context) bool {
		budget, err := client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && budget.Status.ExpectedPods == 2 && budget.Status.CurrentHealthy == 1
	})
}

func createWorkload(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "web"}
	selector := &metav1.LabelSelector{MatchLabels: web}
	deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(2)), Selector: selector,
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: web},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
		},
	}}
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{})
	require.NoError(t, err)
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: web, Ports: []corev1.ServicePort{{Port: 80}}}}
	_, err = client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{})
	require.NoError(t, err)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
		Selector: selector, MinAvailable: new(intstr.FromInt32(1)),
	}}
	_, err = client.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), budget, metav1.CreateOptions{})
	require.NoError(t, err)
}
