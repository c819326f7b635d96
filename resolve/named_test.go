package resolve_test

import "testing"

func TestRuleNamed(t *testing.T) {
	t.Parallel()
	const twins = "redis/cache@one: small large@big; redis/cache@two: small"
	testPlan(t, map[string]planCase{
		"ByExternalName": {
			reason:  "The everyday case.",
			catalog: "redis/cache: small* large",
			request: "dev: class=cache plan=large",
			want:    "named cache-large",
		},
		"ByExternalID": {
			reason:  "Old manifests name by ID.",
			catalog: "redis/cache: small large",
			request: "dev: class.id=id-cache plan.id=id-large",
			want:    "named cache-large",
		},
		"ByKubernetesName": {
			reason:  "Unique where external names are not.",
			catalog: twins,
			request: "dev: class.name=two plan.name=two-small",
			want:    "named two-small",
		},
		"KindsMixed": {
			reason:  "On UPDATE a plan alone is looked up in the decided class, which is known by Kubernetes name.",
			catalog: twins,
			request: "dev: class.name=one plan=large",
			want:    "named big",
		},
		"Namespaced": {
			reason:  "The namespace's own class of that name.",
			catalog: "redis/cache: small; dev|redis/cache: small",
			request: "dev: class=cache plan=small namespaced",
			want:    "named dev|cache-small",
		},
		"ClusterBesideNamespaced": {
			reason:  "The same names in the cluster's fields mean the cluster's.",
			catalog: "redis/cache: small; dev|redis/cache: small",
			request: "dev: class=cache plan=small",
			want:    "named cache-small",
		},
		"OtherNamespace": {
			reason:  "Another namespace's class is as good as absent.",
			catalog: "qa|redis/cache: small",
			request: "dev: class=cache plan=small namespaced",
			want:    "ClassNotFound spec.serviceClassExternalName",
		},
		"ClassAbsent": {
			reason:  "The webhook admits it undecided, as it always was.",
			catalog: "redis/cache: small",
			request: "dev: class=cash plan=small",
			want:    "ClassNotFound spec.clusterServiceClassExternalName",
		},
		"PlanAbsent": {
			reason:  "The class's plans help to see the typing error.",
			catalog: "redis/cache: small large",
			request: "dev: class=cache plan=smal",
			want:    "PlanNotFound spec.clusterServicePlanExternalName: cache/large (cluster), cache/small (cluster)",
		},
		"PlanOfAnotherClassByExternalName": {
			reason:  "Many classes have a plan called small: the one meant may still come.",
			catalog: "redis/cache: large; mysql/db: small@small",
			request: "dev: class=cache plan=small",
			want:    "PlanNotFound spec.clusterServicePlanExternalName: cache/large (cluster)",
		},
		"PlanOfAnotherClassByKubernetesName": {
			reason:  "A Kubernetes name is unique, so this can never come right.",
			catalog: "redis/cache: large; mysql/db: small",
			request: "dev: class=cache plan.name=db-small",
			want:    "ClassMismatch spec.clusterServicePlanName: db/small (cluster)",
		},
		"PlanAbsentByKubernetesName": {
			reason:  "A Kubernetes name that nothing has may still come.",
			catalog: "redis/cache: large",
			request: "dev: class=cache plan.name=db-small",
			want:    "PlanNotFound spec.clusterServicePlanName: cache/large (cluster)",
		},
		"ClassGone": {
			reason:  "A class being deleted is found, and cannot be used.",
			catalog: "redis/cache!: small",
			request: "dev: class=cache plan=small",
			want:    "Unusable spec.clusterServiceClassExternalName: cache (cluster)",
		},
		"PlanGone": {
			reason:  "So is a plan.",
			catalog: "redis/cache: small! large",
			request: "dev: class=cache plan=small",
			want:    "Unusable spec.clusterServicePlanExternalName: cache/small (cluster)",
		},
		"LiveBeforeGone": {
			reason:  "A name that fits a live entry does not mean the gone ones.",
			catalog: "redis/cache@old!: small; redis/cache: small small@older!",
			request: "dev: class=cache plan=small",
			want:    "named cache-small",
		},
		"SeveralClassesGone": {
			reason:  "All gone: both are listed, told apart by Kubernetes name.",
			catalog: "redis/cache@old!: small; redis/cache@older!: small",
			request: "dev: class=cache plan=small",
			want:    "Unusable spec.clusterServiceClassExternalName: cache (cluster, name old), cache (cluster, name older)",
		},
		"ClassNameFitsSeveral": {
			reason:  "Two brokers may call their classes alike.",
			catalog: twins + "; redis/cache@three!: small",
			request: "dev: class=cache plan=large",
			want:    "Ambiguous spec.clusterServiceClassExternalName: cache (cluster, name one), cache (cluster, name two)",
		},
		"CopiesShareTheirID": {
			reason:  "A copied class has its original's external ID.",
			catalog: twins,
			request: "dev: class.id=id-cache plan.id=id-small",
			want:    "Ambiguous spec.clusterServiceClassExternalID: cache (cluster, name one), cache (cluster, name two)",
		},
		"PlanNameFitsSeveral": {
			reason:  "So has a copied plan.",
			catalog: "redis/cache: small small@copy small@older!",
			request: "dev: class=cache plan.id=id-small",
			want:    "Ambiguous spec.clusterServicePlanExternalID: cache/small (cluster, name cache-small), cache/small (cluster, name copy)",
		},
		"TypeAgrees": {
			reason:  "A type beside names describes.",
			catalog: "redis/cache: small",
			request: "dev: class=cache plan=small type=redis",
			want:    "named cache-small",
		},
		"PlanWithoutTypeAgreesWithAny": {
			reason:  "A chart says which type it needs of an old catalog that knows no types.",
			catalog: "cache: small",
			request: "dev: class=cache plan=small type=redis",
			want:    "named cache-small",
		},
		"OwnTypeBeforeTheClass": {
			reason:  "A plan's own type is the one that counts.",
			catalog: "redis/many: small<mysql>",
			request: "dev: class=many plan=small type=mysql",
			want:    "named many-small",
		},
		"TypeContradictsPlan": {
			reason:  "And so contradicts.",
			catalog: "redis/many: small<mysql>",
			request: "dev: class=many plan=small type=redis",
			want:    "TypeMismatch spec.serviceType: many/small (cluster)",
		},
		"TypeContradictsClass": {
			reason:  "As does the class's.",
			catalog: "redis/cache: small",
			request: "dev: class=cache plan=small type=mysql",
			want:    "TypeMismatch spec.serviceType: cache/small (cluster)",
		},
		"DeniedIsChosen": {
			reason:  "The refusal names the policy; resolve does not hide the plan.",
			catalog: "redis/cache: small~budget large",
			request: "dev: class=cache plan=small",
			want:    "named cache-small",
		},
	})
}
