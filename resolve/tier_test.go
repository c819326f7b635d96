package resolve_test

import "testing"

func TestRuleType(t *testing.T) {
	t.Parallel()
	testPlan(t, map[string]planCase{
		"NamespaceDefault": {
			reason:  "First tier: the namespace's default.",
			catalog: "redis/cache: a* b?; dev|redis/own: c* d?",
			request: "dev: type=redis",
			want:    "namespace-default dev|own-c",
		},
		"ClusterDefault": {
			reason:  "Second tier: the cluster's default, before a suggestion in the namespace.",
			catalog: "redis/cache: a* b?; dev|redis/own: c d?",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"NamespaceSuggested": {
			reason:  "Third tier: the namespace's suggested.",
			catalog: "redis/cache: a b?; dev|redis/own: c d?",
			request: "dev: type=redis",
			want:    "namespace-suggested dev|own-d",
		},
		"ClusterSuggested": {
			reason:  "Fourth tier: the cluster's suggested.",
			catalog: "redis/cache: a b?; dev|redis/own: c d",
			request: "dev: type=redis",
			want:    "cluster-suggested cache-b",
		},
		"None": {
			reason:  "Refused with all the type's plans, in both scopes, and no other's.",
			catalog: "redis/cache: a b!; dev|redis/own: c; qa|redis/theirs: d*; mysql/db: e*",
			request: "dev: type=redis",
			want:    "NoDefault spec.serviceType: cache/a (cluster), cache/b (cluster), own/c (ns (dev))",
		},
		"OnlyPlanOfTheTypeIsNoDefault": {
			reason:  "A single plan is enough within a named class only: the next broker's would take its place unseen.",
			catalog: "redis/cache: a",
			request: "dev: type=redis",
			want:    "NoDefault spec.serviceType: cache/a (cluster)",
		},
		"UnknownType": {
			reason:  "A typing error finds nothing at all.",
			catalog: "redis/cache: a*",
			request: "dev: type=reddis",
			want:    "NoDefault spec.serviceType",
		},
		"OtherNamespaceNeverCounts": {
			reason:  "Another namespace's default is neither chosen nor in the way.",
			catalog: "qa|redis/theirs: d*; redis/cache: a?",
			request: "dev: type=redis",
			want:    "cluster-suggested cache-a",
		},
		"ClusterRequest": {
			reason:  "Without a namespace only the cluster's are asked for.",
			catalog: "dev|redis/own: c*; redis/cache: a?",
			request: ": type=redis",
			want:    "cluster-suggested cache-a",
		},
		"TypeOfTheClass": {
			reason:  "A plan without a type has its class's.",
			catalog: "redis/cache: a*; many: b<redis>?",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"OwnTypeBeforeTheClass": {
			reason:  "One with a type of its own has not.",
			catalog: "redis/cache: a<mysql>*; many: b<redis>?",
			request: "dev: type=redis",
			want:    "cluster-suggested many-b",
		},
		"DefaultWithoutTypeCountsInItsClassOnly": {
			reason:  "It is no type's default.",
			catalog: "cache: a*; many: b<redis>?",
			request: "dev: type=redis",
			want:    "cluster-suggested many-b",
		},
		"TwoClusterDefaults": {
			reason:  "Two in the tier: refused, both named, and not the suggested one.",
			catalog: "redis/cache: a* b?; redis/other: c*",
			request: "dev: type=redis",
			want:    "Ambiguous spec.serviceType: cache/a (cluster), other/c (cluster)",
		},
		"TwoNamespaceDefaults": {
			reason:  "The cluster's own default does not settle it.",
			catalog: "redis/cache: a*; dev|redis/own: c* d*",
			request: "dev: type=redis",
			want:    "Ambiguous spec.serviceType: own/c (ns (dev)), own/d (ns (dev))",
		},
		"TwoInALowerTier": {
			reason:  "Two cluster defaults do not matter to a namespace with one of its own.",
			catalog: "redis/cache: a* b*; dev|redis/own: c*",
			request: "dev: type=redis",
			want:    "namespace-default dev|own-c",
		},
		"TwoSuggested": {
			reason:  "Two brokers suggest: the operator must choose.",
			catalog: "redis/azure: basic?; redis/gcp: basic?",
			request: "dev: type=redis",
			want:    "Ambiguous spec.serviceType: azure/basic (cluster), gcp/basic (cluster)",
		},
		"TwoNamespaceSuggested": {
			reason:  "In a namespace, too.",
			catalog: "dev|redis/azure: basic?; dev|redis/gcp: basic?; redis/other: c?",
			request: "dev: type=redis",
			want:    "Ambiguous spec.serviceType: azure/basic (ns (dev)), gcp/basic (ns (dev))",
		},
		"GoneDoNotContend": {
			reason:  "A plan being deleted, or of a class that is, is never chosen and never in the way.",
			catalog: "redis/cache: a* b*!; redis/old!: c*",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"AllGone": {
			reason:  "Nothing live is left.",
			catalog: "redis/old!: a*; redis/cache: b*!",
			request: "dev: type=redis",
			want:    "NoDefault spec.serviceType: cache/b (cluster), old/a (cluster)",
		},
		"Recorded": {
			reason:  "The record settles two annotations.",
			catalog: "redis/cache: a* b*^",
			request: "dev: type=redis",
			want:    "cluster-default cache-b recorded",
		},
		"RecordedWithoutAnnotation": {
			reason:  "A switch is done when the record is written; the annotations follow.",
			catalog: "redis/cache: a* b^",
			request: "dev: type=redis",
			want:    "cluster-default cache-b recorded",
		},
		"RecordedInNamespace": {
			reason:  "The namespace has records of its own.",
			catalog: "redis/cache: a^; dev|redis/own: c* d^",
			request: "dev: type=redis",
			want:    "namespace-default dev|own-d recorded",
		},
		"AnnotatedInNamespaceRecordedInCluster": {
			reason:  "A record says nothing about the other scope.",
			catalog: "redis/cache: a^; dev|redis/own: c*",
			request: "dev: type=redis",
			want:    "namespace-default dev|own-c",
		},
		"RecordOfAnotherNamespace": {
			reason:  "Nor about another namespace.",
			catalog: "redis/cache: a*; qa|redis/theirs: d^",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"RecordOfAGonePlan": {
			reason:  "Not believed: annotations count.",
			catalog: "redis/cache: a* b^!",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"RecordOfAGonePlanAndTwoAnnotated": {
			reason:  "Not believed: two annotations are two.",
			catalog: "redis/cache: a* c* b^!",
			request: "dev: type=redis",
			want:    "Ambiguous spec.serviceType: cache/a (cluster), cache/c (cluster)",
		},
		"RecordOfNoPlan": {
			reason:  "Its plan was deleted.",
			catalog: "redis/cache: a*; record redis lost",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"RecordOfAPlanOfAnotherType": {
			reason:  "Its plan changed its type.",
			catalog: "redis/cache: a*; mysql/db: b; record redis db-b",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
		"DeniedDefault": {
			reason:  "It is refused by the policy's name; the suggested plan does not slip in.",
			catalog: "redis/cache: a*~budget b?",
			request: "dev: type=redis",
			want:    "cluster-default cache-a",
		},
	})
}
