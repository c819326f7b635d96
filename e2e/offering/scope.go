package offering

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// Lists are empty lists of the scope's plans and types.
func (s Scope) Lists() (plans, serviceTypes client.ObjectList) {
	if s.Namespaced {
		return &api.ServicePlanList{}, &api.ServiceTypeList{}
	}
	return &api.ClusterServicePlanList{}, &api.ClusterServiceTypeList{}
}

// A Scope is one of the two catalogs, whose fields and kinds have names of their own.
type Scope struct {
	Title      string
	Namespaced bool
	// ClassPrefix and PlanPrefix begin the names of its fields.
	ClassPrefix, PlanPrefix string
	// Rule is the rule by which a type is decided on its default.
	Rule string
}

// The two scopes.
var (
	Cluster   = Scope{Title: "Cluster", ClassPrefix: "clusterServiceClass", PlanPrefix: "clusterServicePlan", Rule: "cluster-default"}
	Namespace = Scope{Title: "Namespace", Namespaced: true, ClassPrefix: "serviceClass", PlanPrefix: "servicePlan", Rule: "namespace-default"}
)

// Names names a class and a plan of the scope by external name.
func (s Scope) Names(class, plan string) env.InstanceEdit {
	if s.Namespaced {
		return env.OfLocalPlan(class, plan)
	}
	return env.OfPlan(class, plan)
}

// Fields writes the scope's field names for CLASS and PLAN.
func (s Scope) Fields(text string) string {
	return strings.NewReplacer("CLASS", s.ClassPrefix, "PLAN", s.PlanPrefix).Replace(text)
}
