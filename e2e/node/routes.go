package node

import (
	"fmt"
	"net"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// routes know where on this machine an address of the cluster is: what kube-proxy and
// the pods' network know on a node.
type routes struct {
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister

	mu sync.Mutex
	// pods are the local ports by pod address and container port.
	pods map[string]map[int32]int
	next int
}

// find returns the local host:port of a Service's or pod's host:port; any other
// address is itself.
func (r *routes) find(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("cannot read address: %w", err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return "", fmt.Errorf("cannot read port: %w", err)
	}
	service, err := r.service(host)
	if err != nil {
		return "", err
	}
	if service != nil {
		return r.endpoint(service, int32(number))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ports, known := r.pods[host]; known {
		return localPort(ports, host, int32(number))
	}
	return address, nil
}

func (r *routes) service(host string) (*corev1.Service, error) {
	all, err := r.services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, service := range all {
		if service.Spec.ClusterIP == host {
			return service, nil
		}
	}
	return nil, nil //nolint:nilnil // that there is none is an answer
}

// endpoint chooses the next of a Service's ready pods; where none is ready, of those
// that still serve while they end, as kube-proxy does.
func (r *routes) endpoint(service *corev1.Service, port int32) (string, error) {
	name, found := "", false
	for _, p := range service.Spec.Ports {
		if p.Port == port {
			name, found = p.Name, true
		}
	}
	if !found {
		return "", fmt.Errorf("cannot find port %d of Service %q", port, service.Name)
	}
	selector := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name})
	slices, err := r.slices.EndpointSlices(service.Namespace).List(selector)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, usable := range []func(discoveryv1.EndpointConditions) bool{isReady, isEnding} {
		if local := r.reachable(slices, name, usable); len(local) > 0 {
			r.next++
			return local[r.next%len(local)], nil
		}
	}
	return "", fmt.Errorf("cannot find a ready endpoint of Service %q", service.Name)
}

func isReady(c discoveryv1.EndpointConditions) bool { return c.Ready == nil || *c.Ready }

func isEnding(c discoveryv1.EndpointConditions) bool {
	return c.Serving != nil && *c.Serving && c.Terminating != nil && *c.Terminating
}

func (r *routes) reachable(slices []*discoveryv1.EndpointSlice, portName string, usable func(discoveryv1.EndpointConditions) bool) []string {
	var found []string
	for _, slice := range slices {
		for _, port := range slice.Ports {
			if port.Name == nil || *port.Name != portName || port.Port == nil {
				continue
			}
			for _, endpoint := range slice.Endpoints {
				if !usable(endpoint.Conditions) || len(endpoint.Addresses) == 0 {
					continue
				}
				host := endpoint.Addresses[0]
				if local, err := localPort(r.pods[host], host, *port.Port); err == nil {
					found = append(found, local)
				}
			}
		}
	}
	return found
}

func localPort(ports map[int32]int, host string, port int32) (string, error) {
	if local, known := ports[port]; known {
		return loopback.Address(local), nil
	}
	return "", fmt.Errorf("cannot find port %d of pod %s", port, host)
}

// add makes the ports of a pod reachable by its address.
func (r *routes) add(ip string, ports map[int32]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods[ip] = ports
}

// remove forgets the pod of an address.
func (r *routes) remove(ip string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, ip)
}
