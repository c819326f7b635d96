package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb"
)

// platformName is the specification's name of this platform.
const platformName = "kubernetes"

// A platform is the context object of every request: the Kubernetes profile of
// the specification.
type platform struct {
	reader client.Reader
	// clusterID tells this cluster from others.
	clusterID string
	// annotations are the prefixes of the annotations that are sent to brokers;
	// none: no annotation is sent.
	annotations []string
}

// An origin is where one request comes from.
type origin struct {
	context  map[string]any
	checksum string
	// organization and space are deprecated, and still required.
	organization, space string
}

// origin describes an instance, or the instance of a binding, in a namespace.
func (p *platform) origin(ctx context.Context, namespace string, instance *v1beta1.ServiceInstance) (origin, error) {
	var ns corev1.Namespace
	if err := p.reader.Get(ctx, client.ObjectKey{Name: namespace}, &ns); err != nil {
		return origin{}, fmt.Errorf("cannot read namespace %q: %w", namespace, err)
	}
	told := map[string]any{"platform": platformName, "namespace": namespace, "clusterid": p.clusterID, "instance_name": instance.Name}
	if len(p.annotations) > 0 {
		told["namespace_annotations"] = p.prefixed(ns.Annotations)
		told["instance_annotations"] = p.prefixed(instance.Annotations)
	}
	checksum, err := merge.Checksum(told)
	if err != nil {
		return origin{}, fmt.Errorf("cannot encode the context: %w", err)
	}
	return origin{context: told, checksum: checksum, organization: p.clusterID, space: string(ns.UID)}, nil
}

// ends says whether a namespace is being deleted.
func (p *platform) ends(ctx context.Context, namespace string) (bool, error) {
	var ns corev1.Namespace
	if err := p.reader.Get(ctx, client.ObjectKey{Name: namespace}, &ns); err != nil {
		return false, fmt.Errorf("cannot read namespace %q: %w", namespace, err)
	}
	return ns.DeletionTimestamp != nil, nil
}

// prefixed are the annotations that may be sent to brokers.
func (p *platform) prefixed(annotations map[string]string) map[string]any {
	told := map[string]any{}
	for key, value := range annotations {
		for _, prefix := range p.annotations {
			if strings.HasPrefix(key, prefix) {
				told[key] = value
			}
		}
	}
	return told
}

// identityOf is the user for whom a request is sent; nil where none is known.
func identityOf(user *v1beta1.UserInfo) *osb.Identity {
	if user == nil {
		return nil
	}
	extra := map[string][]string{}
	for key, values := range user.Extra {
		extra[key] = values
	}
	return &osb.Identity{Platform: platformName, Value: osb.IdentityValue{
		Username: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
	}}
}
