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

func TestANewTermWakesBindings(t *testing.T) {
	t.Parallel()
	inHouse(t, waitingToBind(), func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		assert.ElementsMatch(t, everybody, h.touched())
	})
}

// The binding comes first, then its instance, then what the instance waits for.
func TestABindingBecomesWholeWithNoSecondWriteByItsUser(t *testing.T) {
	t.Parallel()
	inHouse(t, nil, func(ctx context.Context, h *house) {
		h.answer(func(i *v1beta1.ServiceInstance) error {
			err := h.Get(ctx, client.ObjectKey{Name: "p1"}, &v1beta1.ClusterServicePlan{})
			if err == nil {
				return becomesWhole(i)
			}
			return client.IgnoreNotFound(err)
		})
		h.answerBindings(func(b *v1beta1.ServiceBinding) error {
			mydb := &v1beta1.ServiceInstance{}
			err := h.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.InstanceRef.Name}, mydb)
			if err == nil {
				b.Spec.DecidedReference = mydb.Spec.DecidedReference
			}
			return client.IgnoreNotFound(err)
		})
		h.settled(ctx)
		creds := binding("a", "creds", "mydb")
		for _, object := range []client.Object{creds, ofMySQL("mydb"), clusterClass("mysql"), clusterPlan("")} {
			require.NoError(t, h.Create(ctx, object))
			h.pass(time.Minute)
		}
		require.NoError(t, h.Get(ctx, client.ObjectKeyFromObject(creds), creds))
		assert.True(t, creds.Spec.Decided())

		h.forget()
		require.NoError(t, updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Labels = map[string]string{"tier": "gold"} })(ctx, h))
		h.pass(time.Minute)
		assert.Empty(t, h.touched(), "a decided binding is never touched again")
	})
}

func TestWhatUsersOfBindingsAreTold(t *testing.T) {
	t.Parallel()
	const command = "to see why: svcat explain binding/creds -n a, or with kubectl: kubectl patch servicebindings.servicecatalog.k8s.io creds -n a --type=merge -p '{}'"
	for name, tc := range map[string]struct {
		reason   string
		instance *v1beta1.ServiceInstance
		answer   error
		want     string
	}{
		"Absent":        {"it may come", ofMySQL("other"), nil, `waits for instance "mydb": it is decided on as soon as there is one`},
		"BeingDeleted":  {"another may come", deleting(whole("mydb")), nil, `waits for instance "mydb": it is decided on as soon as there is one`},
		"Undecided":     {"what helps is that the instance be decided", ofMySQL("mydb"), nil, `waits for instance "mydb", which waits for a default plan of type "mysql": it is decided on as soon as there is one`},
		"Whole":         {"only admission knows why not", whole("mydb"), nil, `admission cannot bind to instance "mydb" yet (` + command + `)`},
		"Denied":        {"the refusal may quote the binding", whole("mydb"), status(422, metav1.StatusReasonInvalid), `admission refused the last try (` + command + `); it waits for instance "mydb"`},
		"DeniedAtFirst": {"as with instances", nil, status(403, metav1.StatusReasonForbidden), `admission refused the last try (` + command + `); it waits for instance "mydb"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{binding("a", "creds", "mydb")}
			if tc.instance != nil {
				objects = append(objects, tc.instance)
			}
			inHouse(t, objects, func(ctx context.Context, h *house) {
				h.answerBindings(func(*v1beta1.ServiceBinding) error { return tc.answer })
				h.keep(ctx, h.options())
				h.pass(time.Minute)
				assert.Contains(t, h.told(), "a/creds Warning Undecided "+tc.want, tc.reason)
			})
		})
	}
}

// What it waits for changes while the binding stays as it is.
func TestUsersOfBindingsAreToldWhenTheyWaitForSomethingElse(t *testing.T) {
	t.Parallel()
	inHouse(t, []client.Object{binding("a", "creds", "mydb")}, func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		h.pass(time.Minute)
		require.Len(t, h.told(), 1)
		require.NoError(t, h.Create(ctx, denyBinding()))
		h.pass(time.Minute)
		require.Len(t, h.told(), 1, "the same again")
		require.NoError(t, h.Create(ctx, whole("mydb")))
		h.pass(time.Minute)
		assert.Len(t, h.told(), 2, "the instance has come, and that is not it")
	})
}
