package node

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	ready := discoveryv1.EndpointConditions{Ready: new(true)}
	starting := discoveryv1.EndpointConditions{Ready: new(false), Serving: new(false)}
	ending := discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
	for name, tc := range map[string]struct {
		reason  string
		a, b    discoveryv1.EndpointConditions
		address string
		want    []string
	}{
		"Both":      {reason: "in turn", a: ready, b: ready, address: "10.0.0.7:443", want: []string{"127.0.0.1:2", "127.0.0.1:1", "127.0.0.1:2"}},
		"OneReady":  {reason: "one that ends gets nothing while another is ready", a: ready, b: ending, address: "10.0.0.7:443", want: []string{"127.0.0.1:1"}},
		"OneEnding": {reason: "better than none, as kube-proxy has it", a: starting, b: ending, address: "10.0.0.7:443", want: []string{"127.0.0.1:2"}},
		"NoneReady": {reason: "a Service without endpoints refuses", a: starting, b: starting, address: "10.0.0.7:443"},
		"WrongPort": {reason: "the Service has no such port", a: ready, b: ready, address: "10.0.0.7:444"},
		"Pod":       {reason: "a pod is reached by its own address, ready or not", a: starting, b: ready, address: "10.244.0.1:9443", want: []string{"127.0.0.1:1"}},
		"Elsewhere": {reason: "what is not in the cluster is where it says", a: ready, b: ready, address: "192.0.2.1:80", want: []string{"192.0.2.1:80"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := routesOf(t, tc.a, tc.b)
			for _, want := range tc.want {
				found, err := r.find(tc.address)
				require.NoError(t, err, tc.reason)
				assert.Equal(t, want, found, tc.reason)
			}
			if tc.want == nil {
				_, err := r.find(tc.address)
				require.Error(t, err, tc.reason)
			}
		})
	}
}

// routesOf are those of a Service, 10.0.0.7:443, with two pods.
func routesOf(t *testing.T, a, b discoveryv1.EndpointConditions) *routes {
	t.Helper()
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	slices := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	require.NoError(t, services.Add(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "hooks"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.0.0.7", Ports: []corev1.ServicePort{{Name: "hooks", Port: 443}}},
	}))
	require.NoError(t, slices.Add(&discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "hooks-1", Labels: map[string]string{discoveryv1.LabelServiceName: "hooks"}},
		Ports:      []discoveryv1.EndpointPort{{Name: new("hooks"), Port: new(int32(9443))}},
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.244.0.1"}, Conditions: a}, {Addresses: []string{"10.244.0.2"}, Conditions: b},
		},
	}))
	return &routes{
		services: corelisters.NewServiceLister(services), slices: discoverylisters.NewEndpointSliceLister(slices),
		pods: map[string]map[int32]int{"10.244.0.1": {9443: 1}, "10.244.0.2": {9443: 2}},
	}
}
