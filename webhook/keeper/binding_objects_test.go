package keeper_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
