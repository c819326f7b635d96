package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// environment are the variables that the manifest gives the container.
func (c *container) environment(ctx context.Context) (map[string]string, error) {
	if len(c.spec.EnvFrom) > 0 {
		return nil, errors.New("cannot make the environment: this node knows no envFrom")
	}
	env := map[string]string{}
	for i := range c.spec.Env {
		variable := &c.spec.Env[i]
		if variable.ValueFrom == nil {
			env[variable.Name] = expand(variable.Value, env)
			continue
		}
		value, found, err := c.valueFrom(ctx, variable.ValueFrom)
		if err != nil {
			return nil, fmt.Errorf("cannot make variable %q: %w", variable.Name, err)
		}
		if found {
			env[variable.Name] = value
		}
	}
	return env, nil
}

func (c *container) valueFrom(ctx context.Context, from *corev1.EnvVarSource) (value string, found bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err := c.pod.field(from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		return c.resource(from.ResourceFieldRef), true, nil
	case from.SecretKeyRef != nil:
		return c.pod.secretKey(ctx, from.SecretKeyRef)
	case from.ConfigMapKeyRef != nil:
		return c.pod.configMapKey(ctx, from.ConfigMapKeyRef)
	}
	return "", false, errors.New("its source is none that this node knows")
}

// field is a field of the downward API.
func (p *pod) field(fieldPath string) (string, error) {
	o := p.object
	if key, is := strings.CutPrefix(fieldPath, "metadata.labels['"); is {
		return o.Labels[strings.TrimSuffix(key, "']")], nil
	}
	if key, is := strings.CutPrefix(fieldPath, "metadata.annotations['"); is {
		return o.Annotations[strings.TrimSuffix(key, "']")], nil
	}
	value, known := map[string]string{
		"metadata.name": o.Name, "metadata.namespace": o.Namespace, "metadata.uid": string(o.UID),
		"spec.nodeName": o.Spec.NodeName, "spec.serviceAccountName": o.Spec.ServiceAccountName,
		"status.podIP": p.ip, "status.podIPs": p.ip, "status.hostIP": hostIP, "status.hostIPs": hostIP,
	}[fieldPath]
	if !known {
		return "", fmt.Errorf("field %q is not known", fieldPath)
	}
	return value, nil
}

// resource is a request or limit of the container, in units of the divisor, rounded up.
func (c *container) resource(from *corev1.ResourceFieldSelector) string {
	kind, name, _ := strings.Cut(from.Resource, ".")
	list := c.spec.Resources.Limits
	if kind == "requests" {
		list = c.spec.Resources.Requests
	}
	quantity, given := list[corev1.ResourceName(name)]
	if !given {
		// A kubelet gives what the node has.
		quantity = map[string]resource.Quantity{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi")}[name]
	}
	divisor := from.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == string(corev1.ResourceCPU) {
		return fmt.Sprint((quantity.MilliValue() + divisor.MilliValue() - 1) / divisor.MilliValue())
	}
	return fmt.Sprint((quantity.Value() + divisor.Value() - 1) / divisor.Value())
}

func (p *pod) secretKey(ctx context.Context, from *corev1.SecretKeySelector) (value string, found bool, err error) {
	secret, err := p.node.client.CoreV1().Secrets(p.object.Namespace).Get(ctx, from.Name, metav1.GetOptions{})
	if err != nil {
		return "", false, ignoreAbsent(err, from.Optional)
	}
	content, found := secret.Data[from.Key]
	if !found && (from.Optional == nil || !*from.Optional) {
		return "", false, fmt.Errorf("no key: Secret %q has no key %q", from.Name, from.Key)
	}
	return string(content), found, nil
}

func (p *pod) configMapKey(ctx context.Context, from *corev1.ConfigMapKeySelector) (value string, found bool, err error) {
	object, err := p.node.client.CoreV1().ConfigMaps(p.object.Namespace).Get(ctx, from.Name, metav1.GetOptions{})
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

// processEnv is all that the process gets: nothing of this one's. The kubeconfig is for
// commands that look for it; the daemons get a flag.
func (c *container) processEnv(env map[string]string) []string {
	all := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/"}
	if c.hasToken() && !c.isDaemon() {
		all = append(all, "KUBECONFIG="+c.pod.path(kubeconfigFile))
	}
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}
