package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The sources of a pod's variables and volumes are its own fields, and the Secrets and
// ConfigMaps of its namespace.
type sources struct {
	client kubernetes.Interface
	pod    *corev1.Pod
	ip     string
}

// field is a field of the downward API.
func (s sources) field(fieldPath string) (string, error) {
	o := s.pod
	if key, is := strings.CutPrefix(fieldPath, "metadata.labels['"); is {
		return o.Labels[strings.TrimSuffix(key, "']")], nil
	}
	if key, is := strings.CutPrefix(fieldPath, "metadata.annotations['"); is {
		return o.Annotations[strings.TrimSuffix(key, "']")], nil
	}
	value, known := map[string]string{
		"metadata.name": o.Name, "metadata.namespace": o.Namespace, "metadata.uid": string(o.UID),
		"spec.nodeName": o.Spec.NodeName, "spec.serviceAccountName": o.Spec.ServiceAccountName,
		"status.podIP": s.ip, "status.podIPs": s.ip, "status.hostIP": hostIP, "status.hostIPs": hostIP,
	}[fieldPath]
	if !known {
		return "", fmt.Errorf("field %q is not known", fieldPath)
	}
	return value, nil
}

func (s sources) secretKey(ctx context.Context, from *corev1.SecretKeySelector) (value string, found bool, err error) {
	secret, err := s.client.CoreV1().Secrets(s.pod.Namespace).Get(ctx, from.Name, metav1.GetOptions{})
	if err != nil {
		return "", false, ignoreAbsent(err, from.Optional)
	}
	content, found := secret.Data[from.Key]
	if !found && (from.Optional == nil || !*from.Optional) {
		return "", false, fmt.Errorf("no key: Secret %q has no key %q", from.Name, from.Key)
	}
	return string(content), found, nil
}

func (s sources) configMapKey(ctx context.Context, from *corev1.ConfigMapKeySelector) (value string, found bool, err error) {
	object, err := s.client.CoreV1().ConfigMaps(s.pod.Namespace).Get(ctx, from.Name, metav1.GetOptions{})
	if err != nil {
		return "", false, ignoreAbsent(err, from.Optional)
	}
	value, found = object.Data[from.Key]
	if !found && (from.Optional == nil || !*from.Optional) {
		return "", false, fmt.Errorf("no key: ConfigMap %q has no key %q", from.Name, from.Key)
	}
	return value, found, nil
}

// ignoreAbsent is no error for what need not be there.
func ignoreAbsent(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil
	}
	return err
}

func (s sources) secretFiles(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, string, error) {
	secret, err := s.client.CoreV1().Secrets(s.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, "", ignoreAbsent(err, optional)
	}
	files, err := chosen(secret.Data, items, optional)
	return files, secret.ResourceVersion, err
}

func (s sources) configMapFiles(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, string, error) {
	object, err := s.client.CoreV1().ConfigMaps(s.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, "", ignoreAbsent(err, optional)
	}
	content := map[string][]byte{}
	for key, value := range object.Data {
		content[key] = []byte(value)
	}
	maps.Copy(content, object.BinaryData)
	files, err := chosen(content, items, optional)
	return files, object.ResourceVersion, err
}

// chosen are the items of an object as files; without any, all of it.
func chosen(content map[string][]byte, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	if len(items) == 0 {
		return content, nil
	}
	files := map[string][]byte{}
	for _, item := range items {
		value, found := content[item.Key]
		if !found && (optional == nil || !*optional) {
			return nil, fmt.Errorf("it has no key %q", item.Key)
		}
		if found {
			files[item.Path] = value
		}
	}
	return files, nil
}

func (s sources) downwardFiles(source *corev1.DownwardAPIProjection) (map[string][]byte, string, error) {
	files := map[string][]byte{}
	for _, item := range source.Items {
		if item.FieldRef == nil {
			return nil, "", errors.New("this node projects fields only")
		}
		value, err := s.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, "", err
		}
		files[item.Path] = []byte(value)
	}
	return files, "", nil
}
