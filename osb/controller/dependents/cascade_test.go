package dependents

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/events"
)

// An instance waits for the bindings of other namespaces too, and names them. They are deleted with it only where its
// namespace goes, or where its sharing says so beside the cascade.
func TestHoldersElsewhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason          string
		cascade, unbind bool
		going           bool
		here, elsewhere bool
	}{
		"LeftAlone":      {reason: "it was not requested"},
		"Cascade":        {reason: "the owner's word is for the owner's namespace", cascade: true, here: true},
		"CascadeUnbind":  {reason: "and the sharing's for the others", cascade: true, unbind: true, here: true, elsewhere: true},
		"UnbindAlone":    {reason: "it says what becomes of those that are withdrawn, and none is", unbind: true},
		"NamespaceGoing": {reason: "it must not wait for others for ever", going: true, here: true, elsewhere: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := namespaceOf("n", nil)
			if test.going {
				namespace.DeletionTimestamp, namespace.Finalizers = &metav1.Time{Time: noon}, []string{"kubernetes"}
			}
			away := bindingTo("b", func(b *v1beta1.ServiceBinding) { b.Namespace, b.Spec.InstanceRef.Namespace = "other", "n" })
			own := bindingTo("own", func(b *v1beta1.ServiceBinding) { b.Namespace = "other" })
			c := stored(t, namespace, bindingTo("z"), away, own)
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", Annotations: map[string]string{}}}
			if test.cascade {
				instance.Annotations[v1beta1.AnnotationCascade] = "true"
			}
			instance.Spec.Sharing = &v1beta1.Sharing{Namespaces: []string{"other"}}
			if test.unbind {
				instance.Spec.Sharing.WhenWithdrawn = v1beta1.WithdrawnUnbind
			}
			recorder := clientevents.NewFakeRecorder(10)
			names, err := Reader{Client: c, Live: c, Events: &events.Events{Recorder: recorder}}.Of(t.Context(), instance)
			require.NoError(t, err)
			assert.Equal(t, []string{"other/b", "z"}, names)
			assert.Equal(t, test.elsewhere, len(recorder.Events) == 1, "who asked for nothing is told")
			for at, want := range map[client.ObjectKey]bool{{Namespace: "n", Name: "z"}: test.here, {Namespace: "other", Name: "b"}: test.elsewhere, {Namespace: "other", Name: "own"}: false} {
				var b v1beta1.ServiceBinding
				err := c.Get(t.Context(), at, &b)
				require.NoError(t, client.IgnoreNotFound(err))
				assert.Equal(t, want, apierrors.IsNotFound(err) || b.DeletionTimestamp != nil, "%s: %s", at, test.reason)
			}
		})
	}
}
