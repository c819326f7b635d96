package keeper_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// binding is one to an instance of its namespace.
func binding(namespace, name, instance string) *v1beta1.ServiceBinding {
	return &v1beta1.ServiceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("binding/" + namespace + "/" + name), Generation: 1},
		Spec:       v1beta1.ServiceBindingSpec{InstanceRef: &v1beta1.InstanceReference{Name: instance}},
	}
}

func with[T any](object *T, change func(*T)) *T {
	change(object)
	return object
}

// whole is an instance that was decided on plan p1 of the cluster, localWhole on
// that of its namespace.
func whole(name string) *v1beta1.ServiceInstance {
	return instance("a", name, func(s *v1beta1.ServiceInstanceSpec) {
		s.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "p1"}
	})
}

func localWhole() *v1beta1.ServiceInstance {
	return instance("b", "whole", func(s *v1beta1.ServiceInstanceSpec) { s.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "p1"} })
}

// waitingToBind is a binding of every kind that can wait, and of every kind that
// cannot, with their instances.
func waitingToBind() []client.Object {
	return []client.Object{
		ofMySQL("undecided"), whole("whole"), localWhole(),
		binding("a", "of-none", "none"), binding("a", "of-undecided", "undecided"), binding("a", "of-whole", "whole"), binding("b", "of-whole", "whole"),
		with(binding("a", "named", "whole"), func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef.Namespace = "a" }),
		with(binding("a", "untouched", "none"), func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindNotRequired }),

		with(binding("a", "never-of-its-own", ""), func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = nil }),
		with(binding("a", "never-elsewhere", "whole"), func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef.Namespace = "b" }),
		with(binding("a", "never-decided", "whole"), func(b *v1beta1.ServiceBinding) {
			b.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "p1"}
		}),
		with(binding("a", "never-deleting", "whole"), func(b *v1beta1.ServiceBinding) {
			now := metav1.Now()
			b.DeletionTimestamp, b.Finalizers = &now, []string{v1beta1.FinalizerServiceCatalog}
		}),
		with(binding("a", "never-bound", "whole"), func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindRequired }),
		with(binding("a", "never-binding", "whole"), func(b *v1beta1.ServiceBinding) { b.Status.CurrentOperation = v1beta1.BindingBind }),
		with(binding("a", "never-sent", "whole"), func(b *v1beta1.ServiceBinding) {
			b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{}
		}),
	}
}

var (
	toWhole       = []string{"binding a/named", "binding a/of-whole"}
	everyBindingA = []string{"binding a/named", "binding a/of-none", "binding a/of-undecided", "binding a/of-whole", "binding a/untouched"}
	everyoneInA   = join(everyBindingA, []string{"a/undecided"})
	everyBindings = join(everyBindingA, []string{"binding b/of-whole"})
	everybody     = join(everyoneInA, []string{"binding b/of-whole"})
)

func denyMySQL() *v1beta1.ProvisioningPolicy {
	return &v1beta1.ProvisioningPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-mysql"},
		Spec: v1beta1.ProvisioningPolicySpec{
			PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny},
			Subjects:   []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql"}}},
		},
	}
}

func denyBinding() *v1beta1.BindingPolicy {
	return &v1beta1.BindingPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-binding"},
		Spec: v1beta1.BindingPolicySpec{
			PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny},
			Subjects:   []v1beta1.BindingPolicySubject{{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql"}}},
		},
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestChangesWakeBindingsToo(t *testing.T) {
	t.Parallel()
	json := func(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
	no := false
	for name, tc := range map[string]struct {
		reason string
		before []client.Object
		change func(context.Context, *house) error
		want   []string
	}{
		"InstanceArrivesWhole": {
			reason: "it is there to bind to",
			change: create(whole("none")),
			want:   []string{"binding a/of-none", "binding a/untouched"},
		},
		"InstanceArrivesUndecided": {
			reason: "it is woken itself; there is nothing to bind to yet",
			change: create(ofMySQL("none")),
			want:   []string{"a/none"},
		},
		"InstanceIsDecided": {
			reason: "what it was decided on is known now",
			change: update(ofMySQL("undecided"), func(i *v1beta1.ServiceInstance) {
				i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "p1"}
			}),
			want: []string{"binding a/of-undecided"},
		},
		"InstanceChangesPlan": {
			reason: "the other plan may be bindable",
			change: update(whole("whole"), func(i *v1beta1.ServiceInstance) { i.Spec.ClusterServicePlanRef.Name = "p2" }),
			want:   toWhole,
		},
		"InstanceIsLabelled": {
			reason: "policies select instances by label",
			change: update(whole("whole"), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"tier": "gold"} }),
			want:   toWhole,
		},
		"InstanceChangesOtherwise": {
			reason: "its parameters are nobody's to bind by",
			change: update(whole("whole"), func(i *v1beta1.ServiceInstance) { i.Generation, i.Spec.Parameters = 2, json(`{}`) }),
		},
		"UndecidedInstanceIsLabelled": {
			reason: "there is still nothing to bind to",
			change: update(ofMySQL("undecided"), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"tier": "gold"} }),
		},
		"InstanceIsOnItsWayOut": {
			reason: "there is nothing to bind to any more",
			before: []client.Object{with(whole("ending"), func(i *v1beta1.ServiceInstance) { i.Finalizers = []string{"x/y"} }), binding("a", "of-ending", "ending")},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, whole("ending")) },
		},
		"InstanceGoes": {
			reason: "there is nothing to bind to any more",
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, whole("whole")) },
		},
		"PlanBecomesBindable": {
			reason: "admission may have refused to bind to it",
			before: []client.Object{with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Spec.Bindable = &no })},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.Bindable = nil }),
			want:   toWhole,
		},
		"BindDefaultsAreMended": {
			reason: "admission may have refused what the old ones made",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.DefaultBindParameters = json(`{"a":1}`) }),
			want:   toWhole,
		},
		"TransformsAreMended": {
			reason: "admission may have refused what the old ones made",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Spec.DefaultSecretTransforms = []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "x"}}}
			}),
			want: toWhole,
		},
		"BindSchemaIsMended": {
			reason: "admission may have refused by the old one",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Spec.ServiceBindingCreateParameterSchema = json(`{"type":"object"}`)
			}),
			want: toWhole,
		},
		"UpdateSchemaIsMended": {
			reason: "nothing that waits is judged by it",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.InstanceUpdateParameterSchema = json(`{"type":"object"}`) }),
		},
		"PlanArrives": {
			reason: "without it nothing was known of the instance",
			change: create(clusterPlan("")),
			want:   toWhole,
		},
		"AnotherPlanArrives": {
			reason: "no instance has it",
			change: create(with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Name = "p2" })),
		},
		"NamespacedPlanArrives": {
			reason: "it is another than the cluster's of that name",
			change: create(plan("b", "")),
			want:   []string{"binding b/of-whole"},
		},
		"NamespacedPlanArrivesElsewhere": {
			reason: "it is not that of the instance",
			change: create(plan("a", "")),
		},
		"ClassBecomesBindable": {
			reason: "its plans are as it says",
			before: []client.Object{clusterClass(""), clusterPlan("")},
			change: update(clusterClass(""), func(c *v1beta1.ClusterServiceClass) { c.Spec.Bindable = true }),
			want:   toWhole,
		},
		"NamespacedClassBecomesBindable": {
			reason: "its plans are as it says",
			before: []client.Object{class("b", ""), plan("b", "")},
			change: update(class("b", ""), func(c *v1beta1.ServiceClass) { c.Spec.Bindable = true }),
			want:   []string{"binding b/of-whole"},
		},
		"ProvisioningPolicyArrives": {
			reason: "it may be the allowance that was missing; it holds for bindings too",
			change: create(denyMySQL()),
			want:   everybody,
		},
		"ProvisioningPolicyChanges": {
			reason: "it may deny less",
			before: []client.Object{denyMySQL()},
			change: update(denyMySQL(), func(p *v1beta1.ProvisioningPolicy) { p.Spec.Action = v1beta1.PolicyAllow }),
			want:   everybody,
		},
		"ProvisioningPolicyIsLabelled": {
			reason: "it says the same",
			before: []client.Object{denyMySQL()},
			change: update(denyMySQL(), func(p *v1beta1.ProvisioningPolicy) { p.Labels = map[string]string{"owner": "ops"} }),
		},
		"ProvisioningPolicyGoes": {
			reason: "it denies nothing any more",
			before: []client.Object{denyMySQL()},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, denyMySQL()) },
			want:   everybody,
		},
		"BindingPolicyGoes": {
			reason: "it was about bindings only",
			before: []client.Object{denyBinding()},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, denyBinding()) },
			want:   everyBindings,
		},
		"NamespaceIsLabelled": {
			reason: "policies select namespaces by label",
			before: []client.Object{namespace("a")},
			change: update(namespace("a"), func(n *corev1.Namespace) { n.Labels = map[string]string{"stage": "prod"} }),
			want:   everyoneInA,
		},
		"NamespaceIsAnnotated": {
			reason: "nothing selects by annotation",
			before: []client.Object{namespace("a")},
			change: update(namespace("a"), func(n *corev1.Namespace) { n.Annotations = map[string]string{"owner": "ops"} }),
		},
		"BindingArrives": {
			reason: "the hooks may have answered just before its instance was stored",
			change: create(binding("b", "new", "none")),
			want:   []string{"binding b/new"},
		},
		"BindingAsksForSomethingElse": {
			reason: "what it asks for now may be taken",
			change: update(binding("a", "of-none", ""), func(b *v1beta1.ServiceBinding) { b.Generation, b.Spec.Parameters = 2, json(`{}`) }),
			want:   []string{"binding a/of-none"},
		},
		"BindingIsLabelled": {
			reason: "it asks for the same",
			change: update(binding("a", "of-none", ""), func(b *v1beta1.ServiceBinding) { b.Labels = map[string]string{"x": "y"} }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(waitingToBind(), tc.before...), func(ctx context.Context, h *house) {
				h.settled(ctx)
				require.NoError(t, tc.change(ctx, h))
				h.pass(time.Second)
				assert.ElementsMatch(t, tc.want, h.touched(), tc.reason)
			})
		})
	}
}

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
	const command = "to see why: kubectl patch servicebindings.servicecatalog.k8s.io creds -n a --type=merge -p '{}'"
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
