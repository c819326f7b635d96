package export

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// identity is the ID by which brokers know a cluster, found as its controller finds it; empty: the
// user may not read it.
func identity(ctx context.Context, reader client.Reader) (string, error) {
	info := &corev1.ConfigMap{}
	err := reader.Get(ctx, types.NamespacedName{Namespace: "default", Name: "cluster-info"}, info)
	switch {
	case apierrors.IsForbidden(err):
		return "", nil
	case err != nil && !apierrors.IsNotFound(err):
		return "", fmt.Errorf("cannot read ConfigMap default/cluster-info: %w", err)
	case info.Data["id"] != "":
		return info.Data["id"], nil
	}
	system := &corev1.Namespace{}
	err = reader.Get(ctx, types.NamespacedName{Name: metav1.NamespaceSystem}, system)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("cannot read namespace %q: %w", metav1.NamespaceSystem, err)
	}
	return string(system.UID), nil
}

// exportedFrom says whether a cluster is the one of the file, as far as both IDs are known. It is
// an error if it is not: what it does not have would count as released before, and is still in
// the old one.
func exportedFrom(ctx context.Context, header *moving.Header, old client.Reader) (sure bool, err error) {
	id, err := identity(ctx, old)
	switch {
	case err != nil:
		return false, err
	case id == "" || header.ClusterID == "":
		return false, nil
	case id != header.ClusterID:
		return false, fmt.Errorf("cannot release: the file was exported from the cluster with the ID %q, and the current one has %q: "+
			"choose the old cluster with --kubeconfig or --context", header.ClusterID, id)
	}
	return true, nil
}
