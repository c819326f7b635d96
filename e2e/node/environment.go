package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
		value, err := c.pod.sources.field(from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		return c.resource(from.ResourceFieldRef), true, nil
	case from.SecretKeyRef != nil:
		return c.pod.sources.secretKey(ctx, from.SecretKeyRef)
	case from.ConfigMapKeyRef != nil:
		return c.pod.sources.configMapKey(ctx, from.ConfigMapKeyRef)
	}
	return "", false, errors.New("its source is none that this node knows")
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
