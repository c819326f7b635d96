package endpoints_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// tokenSecret is one that the cluster fills in with a token of a ServiceAccount.
func tokenSecret(meta metav1.ObjectMeta, account string) client.Object {
	meta = *meta.DeepCopy()
	meta.Annotations = map[string]string{corev1.ServiceAccountNameKey: account}
	return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeServiceAccountToken}
}

// Its token cannot point a Service to where none points in any cluster: of whatever the
// controller refuses by itself, and that is the same everywhere, nothing is left out.
func TestPoliciesHaveEveryFixedRule(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.binding("reader", nil)
	e.Create(b)
	own := metav1.ObjectMeta{
		Namespace: e.Namespace, Name: "new", Labels: map[string]string{api.LabelManagedBy: api.ManagedByController},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b, api.GroupVersion.WithKind("ServiceBinding"))},
	}
	theirs := e.As(env.ControllerUser).Client()
	for _, host := range expose.Fixed() {
		err := theirs.Create(t.Context(), leadsTo(own, host), client.DryRunAll)
		// What no EndpointSlice may have, for any user, is not the policy's to
		// check.
		assert.True(t, apierrors.IsForbidden(err) || apierrors.IsInvalid(err), "%s: %v", host, err)
	}
}

// leadsTo is what leads to a host: an alias of a name, or a slice with an address.
func leadsTo(meta metav1.ObjectMeta, host string) client.Object {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host}}
	}
	family := discoveryv1.AddressTypeIPv4
	if address.Is6() {
		family = discoveryv1.AddressTypeIPv6
	}
	return &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: family, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{host}}}}
}
