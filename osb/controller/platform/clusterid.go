package platform

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FindClusterID finds the ID that identifies this cluster to brokers. One that
// was sent to brokers before stays.
func FindClusterID(ctx context.Context, live client.Reader, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var info corev1.ConfigMap
	err := live.Get(ctx, client.ObjectKey{Namespace: "default", Name: "cluster-info"}, &info)
	if err == nil && info.Data["id"] != "" {
		return info.Data["id"], nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("cannot read ConfigMap default/cluster-info: %w", err)
	}
	var system corev1.Namespace
	if err := live.Get(ctx, client.ObjectKey{Name: "kube-system"}, &system); err != nil {
		return "", fmt.Errorf("cannot find out the cluster's ID (set --cluster-id): %w", err)
	}
	return string(system.UID), nil
}
