package keeper_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// claim is a binding that asks for an instance of its own.
func claim(name string, ask func(*v1beta1.ServiceBindingSpec)) *v1beta1.ServiceBinding {
	return with(binding("a", name, ""), func(b *v1beta1.ServiceBinding) {
		b.Spec.InstanceRef = nil
		ask(&b.Spec)
	})
}

// claiming is a claim of every kind that can wait, and of those that cannot.
func claiming() []client.Object {
	mysql := func(s *v1beta1.ServiceBindingSpec) { s.ServiceType = "mysql" }
	return []client.Object{
		claim("by-type", mysql),
		claim("by-class", func(s *v1beta1.ServiceBindingSpec) { s.ClusterServiceClassName = clusterClass("").Name }),
		claim("by-selector", func(s *v1beta1.ServiceBindingSpec) { s.PlanSelector = &metav1.LabelSelector{} }),
		claim("by-other-type", func(s *v1beta1.ServiceBindingSpec) { s.ServiceType = "redis" }),

		claim("never-asking", func(*v1beta1.ServiceBindingSpec) {}),
		claim("never-by-plan-alone", func(s *v1beta1.ServiceBindingSpec) { s.ClusterServicePlanName = "p1" }),
		with(claim("never-bound", mysql), func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindRequired }),
		claim("never-decided", func(s *v1beta1.ServiceBindingSpec) {
			s.ServiceType, s.ClusterServicePlanRef = "mysql", &v1beta1.ClusterObjectReference{Name: "p1"}
		}),
	}
}

// A claim waits for what an instance waits for that asks alike, and for policies of both kinds; never for an instance.
func TestChangesWakeClaims(t *testing.T) {
	t.Parallel()
	every := []string{"binding a/by-class", "binding a/by-other-type", "binding a/by-selector", "binding a/by-type"}
	for name, tc := range map[string]struct {
		reason string
		change func(context.Context, *house) error
		want   []string
	}{
		"PlanComes":         {"its class is of the type", create(clusterPlan("")), []string{"binding a/by-class", "binding a/by-selector", "binding a/by-type"}},
		"ProvisioningRule":  {"it may be about their instances", create(denyMySQL()), every},
		"BindingRule":       {"or about them", create(denyBinding()), every},
		"InstanceIsDecided": {"it is not dedicated", create(whole("none")), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(claiming(), clusterClass("mysql")), func(ctx context.Context, h *house) {
				h.settled(ctx)
				require.NoError(t, tc.change(ctx, h))
				h.pass(time.Second)
				assert.ElementsMatch(t, tc.want, h.touched(), tc.reason)
			})
		})
	}
}

// The claim comes first, then what it waits for.
func TestAClaimBecomesWholeWithNoSecondWriteByItsUser(t *testing.T) {
	t.Parallel()
	inHouse(t, nil, func(ctx context.Context, h *house) {
		h.answerBindings(func(b *v1beta1.ServiceBinding) error {
			err := h.Get(ctx, client.ObjectKey{Name: "p1"}, &v1beta1.ClusterServicePlan{})
			if err == nil {
				b.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "p1"}
			}
			return client.IgnoreNotFound(err)
		})
		h.settled(ctx)
		creds := claim("creds", func(s *v1beta1.ServiceBindingSpec) { s.ServiceType = "mysql" })
		for _, object := range []client.Object{creds, clusterClass("mysql"), clusterPlan("")} {
			require.NoError(t, h.Create(ctx, object))
			h.pass(time.Minute)
		}
		require.NoError(t, h.Get(ctx, client.ObjectKeyFromObject(creds), creds))
		assert.True(t, creds.Spec.Decided())
	})
}
