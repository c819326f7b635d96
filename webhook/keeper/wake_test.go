package keeper_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// waiting is one instance of every kind that can wait, and of every kind that
// cannot.
func waiting() []client.Object {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	return []client.Object{
		instance("a", "type", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "mysql" }),
		instance("b", "type", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "mysql" }),
		instance("a", "redis", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "redis" }),
		instance("a", "type-selector", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType, s.PlanSelector = "mysql", selector }),
		instance("a", "selector", func(s *v1beta1.ServiceInstanceSpec) { s.PlanSelector = selector }),
		instance("b", "selector", func(s *v1beta1.ServiceInstanceSpec) { s.PlanSelector = selector }),
		instance("a", "c-name", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServiceClassName = "c1" }),
		instance("a", "c-external", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServiceClassExternalName = "azure" }),
		instance("b", "c-id", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServiceClassExternalID = "c1-id" }),
		instance("a", "c-plan", func(s *v1beta1.ServiceInstanceSpec) {
			s.ClusterServiceClassExternalName, s.ClusterServicePlanExternalName = "azure", "basic"
		}),
		instance("a", "c-type", func(s *v1beta1.ServiceInstanceSpec) {
			s.ClusterServiceClassName, s.ServiceType, s.PlanSelector = "c1", "mysql", selector
		}),
		instance("a", "n-name", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceClassName = "c1" }),
		instance("b", "n-external", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceClassExternalName = "azure" }),
		instance("a", "n-id", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceClassExternalID = "c1-id" }),
		instance("a", "other-class", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServiceClassName = "c9" }),

		instance("a", "never-nothing", func(*v1beta1.ServiceInstanceSpec) {}),
		instance("a", "never-plan-only", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServicePlanName, s.ServiceType = "p1", "mysql" }),
		instance("a", "never-decided", func(s *v1beta1.ServiceInstanceSpec) {
			s.ServiceType, s.ClusterServicePlanRef = "mysql", &v1beta1.ClusterObjectReference{Name: "p1"}
		}),
		deleting(instance("a", "never-deleting", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "mysql" })),
	}
}

// Those who wait for the cluster's class c1 by any of its names, for its type,
// and by selectors over everything.
var (
	ofClass    = []string{"a/c-external", "a/c-name", "a/c-plan", "a/c-type", "b/c-id"}
	ofType     = []string{"a/type", "a/type-selector", "b/type"}
	bySelector = []string{"a/selector", "b/selector"}
	ofCatalog  = []string{"a/c-external", "a/c-name", "a/c-plan", "a/c-type", "a/selector", "a/type", "a/type-selector", "b/c-id", "b/selector", "b/type"}
)

func TestChangesWakeThoseWhoMayHaveWaitedForThem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		before []client.Object
		change func(context.Context, *house) error
		want   []string
	}{
		"PlanArrives": {
			reason: "it may be the default of its class's type, one of its class, or match a selector",
			before: []client.Object{clusterClass("mysql")},
			change: create(clusterPlan("")),
			want:   ofCatalog,
		},
		"PlanWithTypeOfItsOwn": {
			reason: "its own type counts, not its class's",
			before: []client.Object{clusterClass("mysql")},
			change: create(clusterPlan("redis")),
			want:   join(ofClass, bySelector, []string{"a/redis"}),
		},
		"PlanBeforeItsClass": {
			reason: "its type is known; who waits for the class hears of the class",
			change: create(clusterPlan("mysql")),
			want:   join(ofType, bySelector),
		},
		"ClassAfterItsPlan": {
			reason: "the plan could not be chosen before, for its own type either",
			before: []client.Object{clusterPlan("mysql")},
			change: create(clusterClass("")),
			want:   ofCatalog,
		},
		"ClassOfAType": {
			reason: "its plans have its type, wherever they are",
			change: create(clusterClass("mysql")),
			want:   ofCatalog,
		},
		"NamespacedPlan": {
			reason: "it can only be chosen in its namespace",
			before: []client.Object{class("a", "mysql")},
			change: create(plan("a", "")),
			want:   []string{"a/n-id", "a/n-name", "a/selector", "a/type", "a/type-selector"},
		},
		"NamespacedClass": {
			reason: "its plans can only be chosen in its namespace",
			before: []client.Object{plan("b", "mysql")},
			change: create(class("b", "")),
			want:   []string{"b/n-external", "b/selector", "b/type"},
		},
		"AnOriginalCostsOther": {
			reason: "policies take the costs of its copies from it: one waits by its selector, one by its class",
			before: []client.Object{
				ofBroker(clusterPlan("x"), "aws"), class("b", ""), ofBroker(plan("b", "redis"), "aws"),
				with(ofBroker(plan("a", "mysql"), "gcp"), func(p *v1beta1.ServicePlan) { p.Name = "of-another-broker" }),
			},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Status.Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: "9", Unit: "MONTHLY"}}
			}),
			want: join(bySelector, []string{"b/n-external"}),
		},
		"TypeRecordsADefault": {
			reason: "who named the type, and who named a class of it, has a default now",
			before: []client.Object{clusterClass("mysql"), clusterPlan("")},
			change: create(clusterType("p1")),
			want:   join(ofClass, ofType),
		},
		"TypeOfAPlanRecordsADefault": {
			reason: "the class has no type, but a plan of it has",
			before: []client.Object{clusterClass(""), clusterPlan("mysql")},
			change: create(clusterType("p1")),
			want:   join(ofClass, ofType),
		},
		"NamespacedTypeRecordsADefault": {
			reason: "the record is of its namespace",
			before: []client.Object{class("a", ""), plan("a", "mysql")},
			change: create(serviceType("a", "p1")),
			want:   []string{"a/n-id", "a/n-name", "a/type", "a/type-selector"},
		},
		"RecordSwitches": {
			reason: "another plan is the default",
			before: []client.Object{clusterType("p1")},
			change: update(clusterType(""), func(s *v1beta1.ClusterServiceType) { s.Spec.DefaultPlanRef = &v1beta1.PlanObjectReference{Name: "p2"} }),
			want:   ofType,
		},
		"StatusOfAType": {
			reason: "nothing is chosen by a status",
			before: []client.Object{clusterType("p1")},
			change: update(clusterType(""), func(s *v1beta1.ClusterServiceType) { s.Status.Plans = 7 }),
		},
		"PlanIsAnnotatedDefault": {
			reason: "it is chosen where it was not",
			before: []client.Object{clusterClass("mysql"), clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Annotations = map[string]string{v1beta1.AnnotationDefaultPlan: "true"}
			}),
			want: ofCatalog,
		},
		"PlanIsAnnotatedOtherwise": {
			reason: "other annotations mean nothing to a choice",
			before: []client.Object{clusterClass("mysql"), clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Annotations = map[string]string{"owner": "ops"} }),
		},
		"PlanIsDescribed": {
			reason: "a description is for people",
			before: []client.Object{clusterClass("mysql"), clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.Description = "fast" }),
		},
		"PlanIsWeighed": {
			reason: "selectors go by weight",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.Weight = 3 }),
			want:   bySelector,
		},
		"PlanIsLabelled": {
			reason: "selectors go by labels",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Labels = map[string]string{"tier": "gold"} }),
			want:   bySelector,
		},
		"PlanChangesType": {
			reason: "it is one plan less for the old type, which may end an ambiguity, and one more for the new",
			before: []client.Object{clusterPlan("redis")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.ServiceType = "mysql" }),
			want:   join(ofType, bySelector, []string{"a/redis"}),
		},
		"PlanReturnsToItsCatalog": {
			reason: "it can be chosen again",
			before: []client.Object{clusterPlan("mysql")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Status.RemovedFromBrokerCatalog = true }),
			want:   join(ofType, bySelector),
		},
		"DefaultsAreMended": {
			reason: "admission may have refused what the old ones made",
			before: []client.Object{clusterPlan("mysql")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Spec.DefaultProvisionParameters = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}
			}),
			want: join(ofType, bySelector),
		},
		"SchemaIsMended": {
			reason: "admission may have refused by the old one",
			before: []client.Object{clusterPlan("mysql")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Spec.InstanceCreateParameterSchema = &runtime.RawExtension{Raw: []byte(`{"type":"object"}`)}
			}),
			want: join(ofType, bySelector),
		},
		"PlanGoes": {
			reason: "of two defaults, one is left",
			before: []client.Object{clusterClass("mysql"), clusterPlan("")},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, clusterPlan("")) },
			want:   ofCatalog,
		},
		"ClassGoes": {
			reason: "of two defaults, the other class's is left",
			before: []client.Object{clusterClass("mysql"), clusterPlan("")},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, clusterClass("")) },
			want:   ofCatalog,
		},
		"ClassIsLabelled": {
			reason: "selectors see its labels below its plans'",
			before: []client.Object{clusterClass(""), clusterPlan("mysql")},
			change: update(clusterClass(""), func(c *v1beta1.ClusterServiceClass) { c.Labels = map[string]string{"tier": "gold"} }),
			want:   ofCatalog,
		},
		"InstanceArrives": {
			reason: "the hooks may have answered just before what it waits for was stored",
			change: create(instance("b", "new", func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "kafka" })),
			want:   []string{"b/new"},
		},
		"DecidedInstanceArrives": {
			reason: "it waits for nothing",
			change: create(instance("b", "new", func(s *v1beta1.ServiceInstanceSpec) {
				s.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "p1"}
			})),
		},
		"InstanceAsksForSomethingElse": {
			reason: "what it asks for now may be there already",
			change: update(instance("a", "redis", nil), func(i *v1beta1.ServiceInstance) { i.Generation, i.Spec.ServiceType = 2, "kafka" }),
			want:   []string{"a/redis"},
		},
		"InstanceIsLabelled": {
			reason: "it asks for the same",
			change: update(instance("a", "redis", nil), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"x": "y"} }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(waiting(), tc.before...), func(ctx context.Context, h *house) {
				h.settled(ctx)
				require.NoError(t, tc.change(ctx, h))
				h.pass(time.Second)
				assert.ElementsMatch(t, tc.want, h.touched(), tc.reason)
			})
		})
	}
}

func TestResyncsWakeNobody(t *testing.T) {
	t.Parallel()
	inHouse(t, append(waiting(), clusterClass("mysql"), clusterPlan(""), clusterType("p1")), func(ctx context.Context, h *house) {
		h.settled(ctx)
		h.pass(3 * time.Hour)
		assert.Empty(t, h.touched())
	})
}
