package resolve_test

import "testing"

func TestRuleClass(t *testing.T) {
	t.Parallel()
	testPlan(t, map[string]planCase{
		"OnlyPlan": {
			reason:  "A single plan needs no mark.",
			catalog: "redis/cache: small; mysql/db: large*",
			request: "dev: class=cache",
			want:    "only-plan cache-small",
		},
		"OnlyLivePlan": {
			reason:  "What is gone does not stand in the way.",
			catalog: "redis/cache: small large! huge*!",
			request: "dev: class=cache",
			want:    "only-plan cache-small",
		},
		"Default": {
			reason:  "Its default, before the suggested one.",
			catalog: "redis/cache: small* large? huge",
			request: "dev: class=cache",
			want:    "class-default cache-small",
		},
		"Suggested": {
			reason:  "Its suggested, with no default.",
			catalog: "redis/cache: small large? huge",
			request: "dev: class=cache",
			want:    "class-suggested cache-large",
		},
		"RecordedDefault": {
			reason:  "The record decides, annotation or not.",
			catalog: "redis/cache: small* large^",
			request: "dev: class=cache",
			want:    "class-default cache-large recorded",
		},
		"RecordedElsewhere": {
			reason:  "With the type's default in another class, this class has none, whatever is annotated.",
			catalog: "redis/cache: small* large; redis/other: tiny^",
			request: "dev: class=cache",
			want:    "NoDefault spec.clusterServiceClassExternalName: cache/large (cluster), cache/small (cluster)",
		},
		"RecordedElsewhereButSuggested": {
			reason:  "It may still have a suggested one.",
			catalog: "redis/cache: small* large?; redis/other: tiny^",
			request: "dev: class=cache",
			want:    "class-suggested cache-large",
		},
		"RecordOfTheOtherScope": {
			reason:  "A record in the cluster says nothing about the namespace's class.",
			catalog: "dev|redis/cache: small* large; redis/other: tiny^",
			request: "dev: class=cache namespaced",
			want:    "class-default dev|cache-small",
		},
		"RecordOfADeadPlan": {
			reason:  "It is not believed, and annotations count.",
			catalog: "redis/cache: small* large huge^!",
			request: "dev: class=cache",
			want:    "class-default cache-small",
		},
		"DefaultWithoutType": {
			reason:  "An annotation on a plan without a type counts within its class.",
			catalog: "cache: small* large",
			request: "dev: class=cache",
			want:    "class-default cache-small",
		},
		"NothingRecordsTheEmptyType": {
			reason:  "A record without a type is none.",
			catalog: "cache: small* large; record | cache-large",
			request: "dev: class=cache",
			want:    "class-default cache-small",
		},
		"TwoDefaults": {
			reason:  "Refused with both, and no others.",
			catalog: "redis/cache: small* large* huge?",
			request: "dev: class=cache",
			want:    "Ambiguous spec.clusterServiceClassExternalName: cache/large (cluster), cache/small (cluster)",
		},
		"TwoSuggested": {
			reason:  "So are two suggested ones.",
			catalog: "redis/cache: small? large? huge",
			request: "dev: class=cache",
			want:    "Ambiguous spec.clusterServiceClassExternalName: cache/large (cluster), cache/small (cluster)",
		},
		"NoDefault": {
			reason:  "Refused with the list.",
			catalog: "redis/cache: small large huge!",
			request: "dev: class=cache",
			want:    "NoDefault spec.clusterServiceClassExternalName: cache/huge (cluster), cache/large (cluster), cache/small (cluster)",
		},
		"NoPlans": {
			reason:  "A class without plans yet.",
			catalog: "redis/cache:; mysql/db: small",
			request: "dev: class=cache",
			want:    "NoMatch spec.clusterServiceClassExternalName",
		},
		"AllGone": {
			reason:  "And one whose plans are all gone, with why.",
			catalog: "redis/cache: small!",
			request: "dev: class=cache type=redis",
			want:    "NoMatch spec.clusterServiceClassExternalName: cache/small (cluster)",
		},
		"ClassAbsent": {
			reason:  "With no plan named the webhook refuses it.",
			catalog: "redis/cache: small",
			request: "dev: class.name=cash",
			want:    "ClassNotFound spec.clusterServiceClassName",
		},
		"ClassGone": {
			reason:  "No plan is chosen from a class that is being deleted.",
			catalog: "redis/cache!: small",
			request: "dev: class=cache",
			want:    "Unusable spec.clusterServiceClassExternalName: cache (cluster)",
		},
		"TypeNarrows": {
			reason:  "Of a class that offers several types, the plan of this one.",
			catalog: "many: a<redis> b<mysql>* c<mysql>",
			request: "dev: class=many type=redis",
			want:    "only-plan many-a",
		},
		"TypeNarrowsToItsDefault": {
			reason:  "Two defaults of two types are no contradiction once the type is given.",
			catalog: "many: a<redis>* b<redis> c<mysql>* d<mysql>",
			request: "dev: class=many type=mysql",
			want:    "class-default many-c",
		},
		"TypesNotNarrowed": {
			reason:  "Without it they are.",
			catalog: "many: a<redis>* b<redis> c<mysql>* d<mysql>",
			request: "dev: class=many",
			want:    "Ambiguous spec.clusterServiceClassExternalName: many/a (cluster), many/c (cluster)",
		},
		"TypeNarrowsContenders": {
			reason:  "Those of another type do not contend.",
			catalog: "many: a<redis>? b<redis>? c<mysql>? d",
			request: "dev: class=many type=redis",
			want:    "Ambiguous spec.clusterServiceClassExternalName: many/a (cluster), many/b (cluster)",
		},
		"TypeOfNone": {
			reason:  "A class of another type is refused, naming both.",
			catalog: "redis/cache: small large*",
			request: "dev: class=cache type=mysql",
			want:    "TypeMismatch spec.serviceType: cache/large (cluster), cache/small (cluster)",
		},
		"TypeBesideUntypedClass": {
			reason:  "A class without a type agrees with any.",
			catalog: "cache: small* large",
			request: "dev: class=cache type=redis",
			want:    "class-default cache-small",
		},
		"NamespacedClass": {
			reason:  "The same rule in the other scope.",
			catalog: "redis/cache: small large*; dev|redis/cache: small* large",
			request: "dev: class=cache namespaced",
			want:    "class-default dev|cache-small",
		},
		"DeniedIsChosen": {
			reason:  "The refusal names the policy; no other plan is slipped in.",
			catalog: "redis/cache: small*~budget large",
			request: "dev: class=cache",
			want:    "class-default cache-small",
		},
	})
}
