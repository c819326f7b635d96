package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestInstanceTitle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		ref    *v1beta1.InstanceReference
		made   *v1beta1.LocalObjectReference
		want   string
	}{
		"Named":     {reason: "in its namespace", ref: &v1beta1.InstanceReference{Name: "db"}, want: "db"},
		"Repeated":  {reason: "its own namespace, named", ref: &v1beta1.InstanceReference{Namespace: "dev", Name: "db"}, want: "db"},
		"Elsewhere": {reason: "with its namespace", ref: &v1beta1.InstanceReference{Namespace: "shared", Name: "db"}, want: "shared/db"},
		"Own":       {reason: "once it was made", made: &v1beta1.LocalObjectReference{Name: "creds-0a1b2c3d"}, want: "creds-0a1b2c3d"},
		"NotYet":    {reason: "before there is one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "creds"}}
			binding.Spec.InstanceRef, binding.Status.InstanceRef = tc.ref, tc.made
			assert.Equal(t, tc.want, InstanceTitle(binding), tc.reason)
		})
	}
}
