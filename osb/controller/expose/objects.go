package expose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Service is the Service of a target, with the metadata that it is given: an ExternalName
// for a name; for addresses one with an address of its own and without a selector. It is
// not headless: the DNS name would resolve to every address, including those without the
// requested port.
func (t *Target) Service(meta metav1.ObjectMeta) *corev1.Service {
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}}
	if t.name != "" {
		service.Spec.Type, service.Spec.ExternalName = corev1.ServiceTypeExternalName, t.name
	} else {
		service.Spec.IPFamilyPolicy, service.Spec.IPFamilies = t.families()
	}
	for _, p := range t.ports {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: p.name(), Protocol: p.kind(), Port: int32(p.number), TargetPort: intstr.FromInt32(int32(p.number)), //nolint:gosec // at most 65535
		})
	}
	return service
}

// families are the IP families of a Service for addresses: if all are of one
// family, that one, so that the API server denies a family that this cluster
// lacks; otherwise both, as far as it has both.
func (t *Target) families() (*corev1.IPFamilyPolicy, []corev1.IPFamily) {
	found := map[corev1.IPFamily]bool{}
	for _, g := range t.groups {
		found[g.family()] = true
	}
	if len(found) > 1 {
		return new(corev1.IPFamilyPolicyPreferDualStack), nil
	}
	return new(corev1.IPFamilyPolicySingleStack), []corev1.IPFamily{t.groups[0].family()}
}

// Slices are the EndpointSlices of a target, for a Service and with the metadata that they
// are given; each has a name of its own, which follows from its family and ports.
func (t *Target) Slices(service string, meta metav1.ObjectMeta) []discoveryv1.EndpointSlice {
	slices := make([]discoveryv1.EndpointSlice, 0, len(t.groups))
	for _, g := range t.groups {
		slice := discoveryv1.EndpointSlice{ObjectMeta: *meta.DeepCopy(), AddressType: discoveryv1.AddressType(g.family())}
		slice.Name = service + "-" + g.sum()
		for _, address := range g.addresses {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{address.String()}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			})
		}
		for _, p := range g.ports {
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: new(p.name()), Protocol: new(p.kind()), Port: new(int32(p.number))}) //nolint:gosec // at most 65535
		}
		slices = append(slices, slice)
	}
	return slices
}

// String describes the target: a name, or the number of addresses.
func (t *Target) String() string {
	if t.name != "" {
		return t.name
	}
	count := 0
	for _, g := range t.groups {
		count += len(g.addresses)
	}
	if count == 1 {
		return t.groups[0].addresses[0].String()
	}
	return fmt.Sprintf("%d addresses", count)
}

func (g *group) family() corev1.IPFamily {
	if g.addresses[0].Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// sum is eight digits derived from family and ports.
func (g *group) sum() string {
	const digits = 8
	sum := sha256.Sum256(fmt.Append(nil, g.family(), g.ports))
	return hex.EncodeToString(sum[:])[:digits]
}

func (p port) name() string { return fmt.Sprintf("%s-%d", p.protocol, p.number) }

func (p port) kind() corev1.Protocol { return corev1.Protocol(strings.ToUpper(p.protocol)) }
