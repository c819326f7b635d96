// Package platform is what brokers are told of where a request comes from, and for whom it is sent.
package platform

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

// name is what the specification calls us.
const name = "kubernetes"

// A Profile is what every broker is told of where a request comes from: the Kubernetes
// profile of the specification.
type Profile struct {
	Reader client.Reader
	// ClusterID tells this cluster from others.
	ClusterID string
	// Annotations are the prefixes of those that brokers are told of; none: no annotation
	// is told.
	Annotations []string
}

// An Origin is where one request comes from.
type Origin struct {
	Context  map[string]any
	Checksum string
	// Organization and space are deprecated, and still required.
	Organization, Space string
}

// Origin describes an instance, or the instance of a binding, in a namespace.
func (p *Profile) Origin(ctx context.Context, namespace string, instance *v1beta1.ServiceInstance) (Origin, error) {
	var ns corev1.Namespace
	if err := p.Reader.Get(ctx, client.ObjectKey{Name: namespace}, &ns); err != nil {
		return Origin{}, fmt.Errorf("cannot read namespace %q: %w", namespace, err)
	}
	told := map[string]any{"platform": name, "namespace": namespace, "clusterid": p.ClusterID, "instance_name": instance.Name}
	if len(p.Annotations) > 0 {
		told["namespace_annotations"] = p.prefixed(ns.Annotations)
		told["instance_annotations"] = p.prefixed(instance.Annotations)
	}
	checksum, err := merge.Checksum(told)
	if err != nil {
		return Origin{}, fmt.Errorf("cannot encode the context: %w", err)
	}
	return Origin{Context: told, Checksum: checksum, Organization: p.ClusterID, Space: string(ns.UID)}, nil
}

// Ends says whether a namespace is being deleted.
func (p *Profile) Ends(ctx context.Context, namespace string) (bool, error) {
	var ns corev1.Namespace
	if err := p.Reader.Get(ctx, client.ObjectKey{Name: namespace}, &ns); err != nil {
		return false, fmt.Errorf("cannot read namespace %q: %w", namespace, err)
	}
	return ns.DeletionTimestamp != nil, nil
}

// prefixed are the annotations that brokers may know.
func (p *Profile) prefixed(annotations map[string]string) map[string]any {
	told := map[string]any{}
	for key, value := range annotations {
		for _, prefix := range p.Annotations {
			if strings.HasPrefix(key, prefix) {
				told[key] = value
			}
		}
	}
	return told
}

// IdentityOf is the user for whom a request is sent; nil where none is known.
func IdentityOf(user *v1beta1.UserInfo) *osb.Identity {
	if user == nil {
		return nil
	}
	extra := map[string][]string{}
	for key, values := range user.Extra {
		extra[key] = values
	}
	return &osb.Identity{Platform: name, Value: osb.IdentityValue{
		Username: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
	}}
}
