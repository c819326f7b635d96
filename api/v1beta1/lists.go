package v1beta1

// Objects is of ListOf.
func (l *ClusterServiceClassList) Objects() []ClassObject {
	return pointersTo(l.Items, func(c *ClusterServiceClass) ClassObject { return c })
}

// Objects is of ListOf.
func (l *ServiceClassList) Objects() []ClassObject {
	return pointersTo(l.Items, func(c *ServiceClass) ClassObject { return c })
}

// Objects is of ListOf.
func (l *ClusterServicePlanList) Objects() []PlanObject {
	return pointersTo(l.Items, func(p *ClusterServicePlan) PlanObject { return p })
}

// Objects is of ListOf.
func (l *ServicePlanList) Objects() []PlanObject {
	return pointersTo(l.Items, func(p *ServicePlan) PlanObject { return p })
}

// Objects is of ListOf.
func (l *ClusterServiceTypeList) Objects() []TypeObject {
	return pointersTo(l.Items, func(t *ClusterServiceType) TypeObject { return t })
}

// Objects is of ListOf.
func (l *ServiceTypeList) Objects() []TypeObject {
	return pointersTo(l.Items, func(t *ServiceType) TypeObject { return t })
}
