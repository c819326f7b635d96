package node

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// bind gives a pod to the node that has the fewest of its kind, of those that take new
// ones. Where none does, or the pod was bound or deleted meanwhile, nothing happens:
// bindAgain tries later.
func (n *Node) bind(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	name, found := n.emptiest(pod)
	if !found {
		return
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: name},
	}
	if n.client.CoreV1().Pods(pod.Namespace).Bind(n.life, binding, metav1.CreateOptions{}) == nil {
		n.bound[pod.UID] = name
	}
}

// bindAgain tries the pods that are bound to no node, until the node stops.
func (n *Node) bindAgain() {
	ticker := time.NewTicker(rebindInterval)
	defer ticker.Stop()
	for {
		select {
		case <-n.life.Done():
			return
		case <-ticker.C:
		}
		all, err := n.podls.List(labels.Everything())
		if err != nil {
			continue
		}
		for _, pod := range all {
			if pod.Spec.NodeName == "" {
				n.bind(pod)
			}
		}
	}
}

// emptiest is the name of the node, of those that may take the pod, with the fewest
// pods of the same labels.
func (n *Node) emptiest(pod *corev1.Pod) (string, bool) {
	count := map[string]int{}
	for _, name := range n.options.Names {
		object, err := n.nodes.Get(name)
		if err == nil && !object.Spec.Unschedulable && labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(object.Labels)) {
			count[name] = 0
		}
	}
	all, err := n.podls.Pods(pod.Namespace).List(labels.SelectorFromSet(kindOf(pod)))
	if err != nil || len(count) == 0 {
		return "", false
	}
	for _, other := range all {
		name := other.Spec.NodeName
		if name == "" {
			name = n.bound[other.UID] // the watch has not told yet
		}
		if _, candidate := count[name]; candidate && other.DeletionTimestamp == nil {
			count[name]++
		}
	}
	names := slices.Sorted(maps.Keys(count))
	return slices.MinFunc(names, func(a, b string) int { return count[a] - count[b] }), true
}

// kindOf are a pod's labels without the one that tells its Deployment's revision.
func kindOf(pod *corev1.Pod) labels.Set {
	kind := maps.Clone(pod.Labels)
	delete(kind, "pod-template-hash")
	return kind
}
