package endpoints_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// The controller's own token writes nothing but what a binding owns and the controller
// labels, and no Service that leads into the cluster, whatever the role allows.
func TestControllerIsHeldToItsObjects(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.binding("reader", object{"region": "west"}, endpoint("10.1.2.3", "443"))
	e.Create(b)
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	own := metav1.ObjectMeta{
		Namespace: e.Namespace, Name: "new", Labels: map[string]string{api.LabelManagedBy: api.ManagedByController},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b, api.GroupVersion.WithKind("ServiceBinding"))},
	}
	unowned, unlabelled := *own.DeepCopy(), *own.DeepCopy()
	unowned.OwnerReferences, unlabelled.Labels = nil, nil
	alias := func(meta metav1.ObjectMeta, name string) client.Object {
		return &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: name}}
	}
	plain := func(edit func(*corev1.ServiceSpec)) client.Object {
		s := &corev1.Service{ObjectMeta: own, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}}
		edit(&s.Spec)
		return s
	}
	slice := func(meta metav1.ObjectMeta, family discoveryv1.AddressType, address string) client.Object {
		return &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: family, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}}}}
	}
	cases := map[string]struct {
		reason string
		object client.Object
		may    bool
	}{
		"Alias":          {reason: "what it is there for", object: alias(own, "db.example.com"), may: true},
		"Plain":          {reason: "what it is there for", object: plain(func(*corev1.ServiceSpec) {}), may: true},
		"Slice":          {reason: "what it is there for", object: slice(own, discoveryv1.AddressTypeIPv4, "10.1.2.3"), may: true},
		"ConfigMap":      {reason: "what it is there for", object: &corev1.ConfigMap{ObjectMeta: own}, may: true},
		"Unowned":        {reason: "it has no owner", object: alias(unowned, "db.example.com")},
		"Unlabelled":     {reason: "it would not be found", object: alias(unlabelled, "db.example.com")},
		"UnownedSlice":   {reason: "it has no owner", object: slice(unowned, discoveryv1.AddressTypeIPv4, "10.1.2.3")},
		"UnownedMap":     {reason: "it has no owner", object: &corev1.ConfigMap{ObjectMeta: unowned}},
		"APIServer":      {reason: "Attack", object: alias(own, "kubernetes.default.svc")},
		"Cluster":        {reason: "Attack", object: alias(own, "db.prod.svc.cluster.local")},
		"ClusterOther":   {reason: "Attack: another domain", object: alias(own, "db.prod.svc.k8s.example")},
		"Localhost":      {reason: "Attack", object: alias(own, "x.localhost")},
		"NoDot":          {reason: "Attack", object: alias(own, "kubernetes")},
		"Number":         {reason: "Attack", object: alias(own, "127.1")},
		"MetadataByName": {reason: "Attack", object: alias(own, "metadata.google.internal")},
		"Selector":       {reason: "Attack: another's pods", object: plain(func(s *corev1.ServiceSpec) { s.Selector = map[string]string{"app": "a"} })},
		"ExternalIPs":    {reason: "Attack: traffic of others", object: plain(func(s *corev1.ServiceSpec) { s.ExternalIPs = []string{"10.1.1.1"} })},
		"LoadBalancer":   {reason: "Attack: a door from outside", object: plain(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeLoadBalancer })},
		"NodePort":       {reason: "Attack: a door from outside", object: plain(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort })},
		"Metadata":       {reason: "Attack", object: slice(own, discoveryv1.AddressTypeIPv4, "100.100.100.200")},
		"MetadataOfIPv6": {reason: "Attack", object: slice(own, discoveryv1.AddressTypeIPv6, "fd00:ec2::254")},
		"ThisNetwork":    {reason: "Attack: the machine itself", object: slice(own, discoveryv1.AddressTypeIPv4, "0.1.2.3")},
		"Secret":         {reason: "what it is there for", object: &corev1.Secret{ObjectMeta: own, Type: "servicebinding.io/mysql"}, may: true},
		"SecretOpaque":   {reason: "of no service type", object: &corev1.Secret{ObjectMeta: own}, may: true},
		"SecretOfToken":  {reason: "Attack: the cluster would fill in a token", object: tokenSecret(own, "default")},
		"SecretOfImages": {reason: "none of its types", object: &corev1.Secret{ObjectMeta: own, Type: corev1.SecretTypeBootstrapToken}},
		"UnownedSecret":  {reason: "it has no owner", object: &corev1.Secret{ObjectMeta: unowned}},
		"Translated":     {reason: "an address of IPv4, by way of IPv6", object: slice(own, discoveryv1.AddressTypeIPv6, "64:ff9b::808:808"), may: true},
		"NamesInSlice":   {reason: "Attack: a name for an address", object: slice(own, discoveryv1.AddressTypeFQDN, "db.prod.svc")},
	}
	theirs := e.As(env.ControllerUser).Client()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := theirs.Create(t.Context(), tc.object, client.DryRunAll)
			if tc.may {
				require.NoError(t, err, tc.reason)
				return
			}
			require.Error(t, err, tc.reason)
			assert.True(t, apierrors.IsForbidden(err), "%s: %v", tc.reason, err)
			assert.ErrorContains(t, err, "servicecatalog.k8s.io' with binding")
		})
	}
	foreign := []client.Object{alias(e.Meta("theirs"), "db.example.com"), &corev1.ConfigMap{ObjectMeta: e.Meta("theirs")}, slice(e.Meta("theirs"), discoveryv1.AddressTypeIPv4, "10.1.2.3")}
	e.Create(foreign...)
	for _, o := range foreign {
		assert.Error(t, theirs.Delete(t.Context(), o, client.DryRunAll), "delete %T", o)
		o.SetOwnerReferences(own.OwnerReferences)
		o.SetLabels(own.Labels)
		assert.Error(t, theirs.Update(t.Context(), o, client.DryRunAll), "take over %T", o)
	}
	var all corev1.ConfigMapList
	assert.True(t, apierrors.IsForbidden(theirs.List(t.Context(), &all)), "what is not the controller's it does not list")
}
