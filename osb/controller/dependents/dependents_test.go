package dependents

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// bindingTo is a binding to instance i of its namespace that is at the broker.
func bindingTo(name string, edits ...func(*v1beta1.ServiceBinding)) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Finalizers: []string{v1beta1.FinalizerServiceCatalog}}}
	b.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "i"}
	b.Status.UnbindStatus = v1beta1.UnbindRequired
	for _, edit := range edits {
		edit(b)
	}
	return b
}

func TestHolds(t *testing.T) {
	t.Parallel()
	adopted := func(b *v1beta1.ServiceBinding) {
		b.Status.UnbindStatus, b.Status.ExternalProperties = v1beta1.UnbindNotRequired, &v1beta1.ServiceBindingPropertiesState{}
	}
	leaving := func(b *v1beta1.ServiceBinding) {
		adopted(b)
		b.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	for name, test := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceBinding)
		want   bool
	}{
		"Bound":      {reason: "it is at the broker", edit: func(*v1beta1.ServiceBinding) {}, want: true},
		"Failed":     {reason: "the retired catalog gave up; it is there still", edit: func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindFailed }, want: true},
		"Mitigating": {reason: "it may be there", edit: func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus, b.Status.OrphanMitigationInProgress = "", true }, want: true},
		"Unbound":    {reason: "it is not there any more", edit: func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindSucceeded }},
		"NotYet":     {reason: "it was never there", edit: func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindNotRequired }},
		"Adopted":    {reason: "it is there", edit: adopted, want: true},
		"Leaving":    {reason: "it stays at the broker: nothing is waited for", edit: leaving},
		"Removed": {reason: "it is unbound first, as its user says", want: true, edit: func(b *v1beta1.ServiceBinding) {
			leaving(b)
			b.Annotations = map[string]string{v1beta1.AnnotationDeprovisionAdopted: "true"}
		}},
		"Here":  {reason: "its namespace may be named", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef.Namespace = "n" }, want: true},
		"LetGo": {reason: "without the finalizer it is gone for us", edit: func(b *v1beta1.ServiceBinding) { b.Finalizers = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, Keeps(bindingTo("b", test.edit)), test.reason)
		})
	}
}

func TestHoldersOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason    string
		annotated string
		going     bool
		deleted   bool
	}{
		"LeftAlone":      {reason: "their deletion was not requested"},
		"Cascade":        {reason: "the user asked for it", annotated: "true", deleted: true},
		"CascadeNot":     {reason: "only the value true counts", annotated: "yes"},
		"NamespaceGoing": {reason: "they go anyway, and in whatever order", going: true, deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := namespaceOf("n", nil)
			if test.going {
				namespace.DeletionTimestamp, namespace.Finalizers = &metav1.Time{Time: noon}, []string{"kubernetes"}
			}
			unbound := bindingTo("unbound", func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindNotRequired })
			other := bindingTo("other", func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef.Name = "another" })
			c := stored(t, namespace, bindingTo("z"), bindingTo("a"), unbound, other)
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", Annotations: map[string]string{v1beta1.AnnotationCascade: test.annotated}}}
			names, err := Reader{Client: c, Live: c}.Of(t.Context(), instance)
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "z"}, names, "sorted; those that are not at the broker prevent nothing")
			for binding, want := range map[string]bool{"a": test.deleted, "z": test.deleted, "unbound": false, "other": false} {
				var b v1beta1.ServiceBinding
				err := c.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: binding}, &b)
				require.NoError(t, client.IgnoreNotFound(err))
				assert.Equal(t, want, apierrors.IsNotFound(err) || b.DeletionTimestamp != nil, "%s: %s", binding, test.reason)
			}
		})
	}
}

func TestHoldersOfANamespaceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := stored(t)
	_, err := Reader{Client: c, Live: c}.Of(t.Context(), &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}})
	assert.ErrorContains(t, err, `cannot read namespace "n"`)
}

// The own instance of a binding waits for it as for any other, as long as it is bound.
func TestOwnInstanceWaitsForItsBinding(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceBinding)
		want   []string
	}{
		"Bound":   {"its unbind is not done", func(*v1beta1.ServiceBinding) {}, []string{"b"}},
		"Unbound": {"it is there, and waits for the instance", func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindSucceeded }, nil},
		"Another": {"one of the same name that was made later", func(b *v1beta1.ServiceBinding) { b.UID = "later" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := bindingTo("b", func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef, b.UID = nil, "uid" })
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
				Namespace: "n", Name: v1beta1.DedicatedInstanceName(owner),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1beta1.GroupVersion.WithKind("ServiceBinding"))},
			}}
			test.edit(owner)
			c := stored(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, owner)
			names, err := Reader{Client: c, Live: c}.Of(t.Context(), instance)
			require.NoError(t, err)
			assert.Equal(t, test.want, names, test.reason)
		})
	}
}
