package charts_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A kubelet stands in for all that runs pods, which the control plane has none of: a
// Deployment becomes available once every Secret that its pods mount is there, as it
// would, and no sooner.
type kubelet struct {
	client client.WithWatch
	end    context.CancelFunc
	done   chan struct{}
}

func startKubelet(ctx context.Context, c client.WithWatch) (*kubelet, error) {
	ctx, cancel := context.WithCancel(ctx)
	k := &kubelet{client: c, end: cancel, done: make(chan struct{})}
	deployments, err := c.Watch(ctx, &appsv1.DeploymentList{})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot watch Deployments: %w", err)
	}
	secrets, err := c.Watch(ctx, &corev1.SecretList{})
	if err != nil {
		cancel()
		deployments.Stop()
		return nil, fmt.Errorf("cannot watch Secrets: %w", err)
	}
	go func() {
		defer close(k.done)
		defer deployments.Stop()
		defer secrets.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-deployments.ResultChan():
			case <-secrets.ResultChan():
			}
			k.look(ctx)
		}
	}()
	return k, nil
}

func (k *kubelet) stop() {
	k.end()
	<-k.done
}

// look makes those available that can be. What fails is looked at again at the next
// event; a test that waits for it says what is missing.
func (k *kubelet) look(ctx context.Context) {
	list := appsv1.DeploymentList{}
	if err := k.client.List(ctx, &list); err != nil {
		return
	}
	for i := range list.Items {
		d := &list.Items[i]
		if d.DeletionTimestamp != nil || d.Status.ObservedGeneration == d.Generation || !k.mounts(ctx, d) {
			continue
		}
		replicas := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		_ = k.client.Status().Update(ctx, d)
	}
}

// mounts says whether the Secrets of the volumes are there.
func (k *kubelet) mounts(ctx context.Context, d *appsv1.Deployment) bool {
	for _, volume := range d.Spec.Template.Spec.Volumes {
		if volume.Secret == nil {
			continue
		}
		key := client.ObjectKey{Namespace: d.Namespace, Name: volume.Secret.SecretName}
		if err := k.client.Get(ctx, key, &corev1.Secret{}); err != nil {
			return false
		}
	}
	return true
}
